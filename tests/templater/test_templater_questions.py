"""Questions that a template asks, answered from the arguments of the call."""

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_templater import templater

PROMPT = '<% await tp.system.prompt("Name?") %> <% tp.system.prompt("Age?", "7") %>'
SUGGESTER = '<% await tp.system.suggester(["One", "Two"], ["1", "2"], false, "Which?") %>'


def run(call: Calls, vault: VaultFolder, template: str, **args: Any) -> str:
    vault["T.md"] = template
    call.confirmed(templater, "execute_template", template="T.md", target="N.md", args=args)
    return vault["N.md"]


@pytest.mark.parametrize(
    ("template", "args", "text"),
    [
        (PROMPT, {"Name?": "Ada", "Age?": 36}, "Ada 36"),
        (PROMPT, {"answers": ["Ada", "36"]}, "Ada 36"),
        (PROMPT, {"answers": ["36"], "Name?": "Ada"}, "Ada 36"),
        (PROMPT, {"Name?": None, "Age?": ""}, "null "),
        (SUGGESTER, {"Which?": "Two"}, "2"),
        (SUGGESTER, {"Which?": "1"}, "1"),
        (SUGGESTER, {"answers": ["One"]}, "1"),
        (SUGGESTER, {"Which?": None}, "null"),
        ('<% tp.system.suggester((item) => "no. " + item, [1, 2]) %>', {"answers": ["no. 2"]}, "2"),
        (
            '<% tp.system.multi_suggester(["a", "b", "c"], [1, 2, 3]).join("+") %>',
            {"answers": [["a", "c"]]},
            "1+3",
        ),
        ("<% tp.system.clipboard() %>", {"clipboard": "kept"}, "kept"),
        (
            '<%* const kind = await tp.system.prompt("Kind")\nif (kind === "x") { %>X<%* } else { %>other<%* } %>',
            {"Kind": "x"},
            "X",
        ),
        ('<% tp.system.prompt("a") %>', {"a": "<% 1 + 1 %>"}, "<% 1 + 1 %>"),
    ],
)
def test_answers_come_by_name_and_in_order(
    call: Calls, vault: VaultFolder, template: str, args: dict[str, Any], text: str
) -> None:
    assert run(call, vault, template, **args) == text


def test_every_question_without_an_answer_is_listed_before_anybody_is_asked(
    call: Calls, vault: VaultFolder
) -> None:
    vault["T.md"] = PROMPT + SUGGESTER + "<% tp.system.clipboard() %>"
    with pytest.raises(ToolError) as asked:
        call(templater, "execute_template", template="T.md", target="N.md", args={"Name?": "Ada"})
    assert asked.value.code == "invalid_input"
    assert asked.value.details["required"] == [
        {"type": "prompt", "prompt": "Age?", "default": "7"},
        {"type": "suggester", "prompt": "Which?", "options": ["One", "Two"]},
        {"type": "clipboard", "prompt": "clipboard"},
    ]
    assert "N.md" not in vault


def test_a_failure_for_want_of_an_answer_is_a_question(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"] = '<%* const part = await tp.system.prompt("Part") %><% tp.file.include(`[[${part}]]`) %>'
    with pytest.raises(ToolError, match="asks for 'Part'"):
        call(templater, "execute_template", template="T.md", target="N.md")


def test_an_answer_that_is_no_option_names_the_options(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError, match="'Three' is not one of the options") as wrong:
        run(call, vault, SUGGESTER, **{"Which?": "Three"})
    assert wrong.value.details["options"] == ["One", "Two"]


def test_a_cancelled_question_stops_a_template_that_says_so(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError, match=r"line 1 of the template 'T\.md': Cancelled prompt"):
        run(call, vault, '<% tp.system.prompt("a", null, true) %>', a=None)


def test_answers_in_order_are_a_list(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError, match=r"args\.answers is a list"):
        run(call, vault, "x", answers="y")
