"""Any text is a template: what holds no command stays as it is, and what is broken is a script's error."""

from hypothesis import given
from hypothesis import strategies as st

from knapper.script.errors import ScriptError
from knapper_templater.scan import questions, uses
from knapper_templater.syntax import pieces, program_tokens


@given(st.text())
def test_a_text_without_commands_is_one_piece_of_text(text: str) -> None:
    plain = text.replace("<%", "")
    assert "".join(piece.source for piece in pieces(plain)) == plain


@given(st.text(), st.text())
def test_a_command_without_markers_takes_nothing_from_the_text_around_it(before: str, after: str) -> None:
    left, right = before.replace("<", ""), after.replace("<", "")
    found = pieces(f"{left}<% 1 %>{right}")
    assert "".join(piece.source for piece in found if piece.kind == "text") == left + right


@given(st.text(alphabet="<%-_*+> \ntpx.'\"(){}", max_size=60))
def test_any_template_is_read_or_refused_with_a_line(text: str) -> None:
    number: int | None = 1
    try:
        program_tokens(pieces(text))
    except ScriptError as error:
        number = error.number
    assert number is not None
    assert 1 <= number <= text.count("\n") + 1


@given(st.text(alphabet="<%-_*+> \ntp.systemprompt('a\"", max_size=80))
def test_what_a_template_uses_can_always_be_told(text: str) -> None:
    assert all(use.name.startswith("tp.") for use in uses(text))
    assert all(isinstance(question, str) for question in questions(text))
