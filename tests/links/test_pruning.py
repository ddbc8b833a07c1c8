from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_links import links

HUB = """---
best: "[[Low]]"
---
# Hub

- [[High]]
- [[Mid]] — worth a look
- [[Low]]
- [[Gone]]
  - child
- [[High|again]]

Read [[Mid]] first, then [[Gone|the lost one]].

[[High]], [[Low]], [[Gone]]
"""


@pytest.fixture
def web(vault: VaultFolder) -> VaultFolder:
    vault["Hub.md"] = HUB
    vault["High.md"] = "---\nscore: 9\n---\n"
    vault["Mid.md"] = "---\nScore: 5.5\n---\n[[High]]"
    vault["Low.md"] = "---\nscore: 1\n---\n[[High]] [[Mid]]"
    return vault


def prune(call: Calls, kind: str, more: dict[str, Any] | None = None, **policy: Any) -> Any:
    return call(links, "prune_hub_links", path="Hub.md", policy={"kind": kind, **policy}, **(more or {}))


def pruned(call: Calls, vault: VaultFolder, kind: str, **policy: Any) -> str:
    """The hub after a real run, which must do what the dry run said."""
    before = vault["Hub.md"]
    planned = prune(call, kind, **policy)
    assert vault["Hub.md"] == before
    arguments = {"path": "Hub.md", "policy": {"kind": kind, **policy}, "dry_run": False}
    done = call.confirmed(links, "prune_hub_links", **arguments)
    assert done.pop("content_hash") == sha256(vault.bytes("Hub.md")).hexdigest()
    assert done.pop("updated_at").endswith("Z")
    assert done == planned | {"dry_run": False}
    return vault["Hub.md"]


def removed(answer: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(one["target"], one["line"], one["reason"]) for one in answer["removed"]]


def failure(call: Calls, kind: str, more: dict[str, Any] | None = None, **policy: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        prune(call, kind, more, **policy)
    return error.value


def test_links_that_lead_nowhere_go(call: Calls, web: VaultFolder) -> None:
    assert prune(call, "drop_unresolved") == {
        "path": "Hub.md",
        "policy_used": "drop_unresolved",
        "links_before": 10,
        "links_after": 7,
        "removed": [
            {"target": "Gone", "reason": "it leads to no file", "line": 9},
            {"target": "Gone", "reason": "it leads to no file", "line": 13},
            {"target": "Gone", "reason": "it leads to no file", "line": 15},
        ],
        "dry_run": True,
    }
    expected = HUB.replace("- [[Gone]]\n", "- Gone\n").replace("[[Gone|the lost one]]", "the lost one")
    assert pruned(call, web, "drop_unresolved") == expected.replace(", [[Gone]]\n", "\n")


def test_links_met_before_go(call: Calls, web: VaultFolder) -> None:
    assert removed(prune(call, "drop_duplicates")) == [
        ("High", 11, "it is already on line 6"),
        ("Mid", 13, "it is already on line 7"),
        ("Gone", 13, "it is already on line 9"),
        ("High", 15, "it is already on line 6"),
        ("Low", 15, "it is already on line 8"),
        ("Gone", 15, "it is already on line 9"),
    ]
    expected = HUB.replace("- [[High|again]]\n", "").replace("Read [[Mid]]", "Read Mid")
    expected = expected.replace("[[Gone|the lost one]]", "the lost one")
    assert pruned(call, web, "drop_duplicates") == expected.replace("[[High]], [[Low]], [[Gone]]\n", "")


def test_other_parts_and_embeds_of_a_note_are_no_duplicates(call: Calls, web: VaultFolder) -> None:
    web["Hub.md"] = "[[High]] [[High#a]] [[high#A]] ![[High]] [m](High.md)"
    assert removed(prune(call, "drop_duplicates")) == [
        ("high#A", 1, "it is already on line 1"),
        ("High.md", 1, "it is already on line 1"),
    ]


def test_links_below_a_score_go_and_those_without_one_stay(call: Calls, web: VaultFolder) -> None:
    policy: dict[str, Any] = {"score_field": "score", "threshold": 6}
    assert removed(prune(call, "drop_below_score", **policy)) == [
        ("Mid", 7, "its score 5.5 is below 6"),
        ("Low", 8, "its score 1 is below 6"),
        ("Mid", 13, "its score 5.5 is below 6"),
        ("Low", 15, "its score 1 is below 6"),
    ]
    expected = (
        HUB.replace("- [[Mid]] —", "- Mid —").replace("- [[Low]]\n", "").replace("Read [[Mid]]", "Read Mid")
    )
    assert pruned(call, web, "drop_below_score", **policy) == expected.replace("[[Low]], ", "")


def test_without_a_field_the_score_is_how_many_notes_link_to_the_target(
    call: Calls, web: VaultFolder
) -> None:
    assert {target for target, _, _ in removed(prune(call, "drop_below_score", threshold=2))} == {
        "Low",
        "Gone",
    }


def test_the_best_links_are_kept(call: Calls, web: VaultFolder) -> None:
    answer = prune(call, "keep_top_n", n=4, score_field="score")
    assert answer["links_after"] == 4
    assert removed(answer) == [
        ("Low", 8, "it ranks 6 of 10, 4 are kept"),
        ("Gone", 9, "it ranks 8 of 10, 4 are kept"),
        ("Mid", 13, "it ranks 5 of 10, 4 are kept"),
        ("Gone", 13, "it ranks 9 of 10, 4 are kept"),
        ("Low", 15, "it ranks 7 of 10, 4 are kept"),
        ("Gone", 15, "it ranks 10 of 10, 4 are kept"),
    ]
    text = pruned(call, web, "keep_top_n", n=4, score_field="score")
    assert [text.count(f"[[{name}") for name in ("High", "Mid", "Low", "Gone")] == [3, 1, 1, 0]
    assert 'best: "[[Low]]"' in text


def test_list_items_that_say_nothing_go(call: Calls, web: VaultFolder) -> None:
    answer = prune(call, "drop_unannotated_list_items")
    assert [(target, line) for target, line, _ in removed(answer)] == [
        ("High", 6),
        ("Low", 8),
        ("Gone", 9),
        ("High", 11),
    ]
    assert answer["removed"][0]["reason"] == "it has 0 characters of annotation beside it, 1 are wanted"
    expected = HUB.replace("- [[High]]\n", "").replace("- [[Low]]\n", "").replace("- [[High|again]]\n", "")
    assert pruned(call, web, "drop_unannotated_list_items") == expected.replace("- [[Gone]]", "- Gone")


def test_list_items_that_say_too_little_go_with_what_they_say(call: Calls, web: VaultFolder) -> None:
    web["Hub.md"] = "- [[High]] — hm\n- [ ] [[Mid]]: a real remark\n1. [[Low]]\n\n[[High]]\n"
    assert (
        pruned(call, web, "drop_unannotated_list_items", min_annotation_chars=5)
        == "- [ ] [[Mid]]: a real remark\n\n[[High]]\n"
    )


def test_links_without_prose_around_them_go(call: Calls, web: VaultFolder) -> None:
    expected = HUB.replace("- [[High]]\n", "").replace("- [[Low]]\n", "").replace("- [[High|again]]\n", "")
    expected = expected.replace("- [[Gone]]", "- Gone").replace("[[High]], [[Low]], [[Gone]]\n", "")
    assert pruned(call, web, "drop_no_prose_context") == expected
    answer = prune(call, "drop_no_prose_context", min_prose_chars=17)
    assert removed(answer) == [
        ("Mid", 6, "it has 12 characters of prose beside it, 17 are wanted"),
        ("Mid", 10, "it has 16 characters of prose beside it, 17 are wanted"),
        ("Gone", 10, "it has 16 characters of prose beside it, 17 are wanted"),
    ]


@pytest.mark.parametrize(
    ("logic", "lines"),
    [
        ({"==": [{"var": "target"}, "Low"]}, [8, 15]),
        ({"and": [{"var": "in_list_item"}, {"!": {"var": "prose_context"}}]}, [6, 8, 9, 11]),
        ({"in": ["worth", {"var": "list_item_text"}]}, [7]),
        ({"in": ["first", {"var": "prose_context"}]}, [13, 13]),
        ({"==": [{"var": "target_path"}, "Mid.md"]}, [7, 13]),
        ({"==": [{"var": "target_path"}, None]}, [9, 13, 15]),
        ({">=": [{"var": "target_backlink_count"}, 3]}, [6, 11, 15]),
        ({"==": [{"var": "target_outgoing_count"}, 2]}, [8, 15]),
        ({"and": [{">": [{"var": "line"}, 14]}, {">": [{"var": "col"}, 1]}]}, [15, 15]),
    ],
)
def test_links_for_which_a_rule_holds_go(
    call: Calls, web: VaultFolder, logic: dict[str, Any], lines: list[int]
) -> None:
    answer = prune(call, "jsonlogic", logic=logic)
    assert [line for _, line, _ in removed(answer)] == lines
    assert {reason for _, _, reason in removed(answer)} == {"the rule holds for it"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[Gone]]", ""),
        ("a\n[[Gone]]\nb\n", "a\nb\n"),
        ("[[Gone]] [[High]]\n", "[[High]]\n"),
        ("[[High]] · [[Gone]] · [[Mid]]\n", "[[High]] · [[Mid]]\n"),
        ("[[High]], [[Gone]], [[Gone]]\n", "[[High]]\n"),
        ("- [[Gone]], [[High]]\r\n- [[Gone]]\r\n", "- [[High]]\r\n"),
        ("## About [[Gone]]\n", "## About Gone\n"),
        ("## [[Gone]]\n", "## Gone\n"),
        ("see ![[Gone]] here", "see  here"),
        ("| [[Gone\\|x]] | y |\n|---|---|\n", "| x | y |\n|---|---|\n"),
        ("> [!note]\n> - [[Gone]]\n> - [[High]]\n", "> [!note]\n> - [[High]]\n"),
        ("> [[Gone]]\n", "> Gone\n"),
        ("- [[Gone]] ^keep\n", "- Gone ^keep\n"),
        ("- [[Gone]] [[#Own]]\n", "- [[#Own]]\n"),
        ("[text](Gone.md) and\n", "text and\n"),
        ("\ufeffa [[Gone]]", "\ufeffa Gone"),
    ],
)
def test_what_people_wrote_stays(call: Calls, web: VaultFolder, before: str, after: str) -> None:
    web["Hub.md"] = before
    pruned(call, web, "drop_unresolved")
    assert web.bytes("Hub.md") == after.encode()


def test_a_removal_that_would_change_more_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["Hub.md"] = "[# x](Gone.md) would be a heading\n"
    error = failure(call, "drop_unresolved")
    assert error.code == "invalid_input"
    assert error.message == "these links cannot be taken out without changing more"


def test_at_most_so_many_links_go_the_worst_first(call: Calls, web: VaultFolder) -> None:
    answer = prune(call, "keep_top_n", {"max_removals": 2}, n=4, score_field="score")
    assert [(target, line) for target, line, _ in removed(answer)] == [("Gone", 13), ("Gone", 15)]
    assert (answer["links_after"], answer["left_over"]) == (8, 4)


def test_a_real_run_asks_a_person(call: Calls, web: VaultFolder) -> None:
    error = failure(call, "drop_unresolved", {"dry_run": False})
    assert error.code == "elicit_required"
    assert error.details["change"] == {"path": "Hub.md", "policy": "drop_unresolved", "links_removed": 3}
    assert web["Hub.md"] == HUB


@pytest.mark.parametrize(
    ("kind", "policy", "code", "message"),
    [
        ("drop_below_score", {}, "invalid_input", "the policy drop_below_score needs threshold"),
        ("keep_top_n", {"threshold": 1}, "invalid_input", "the policy keep_top_n needs n"),
        ("jsonlogic", {}, "invalid_input", "the policy jsonlogic needs logic"),
        ("jsonlogic", {"logic": {"shell": 1}}, "jsonlogic_error", "there is no operator 'shell'"),
    ],
)
def test_a_policy_needs_its_parameters(
    call: Calls, web: VaultFolder, kind: str, policy: dict[str, Any], code: str, message: str
) -> None:
    error = failure(call, kind, **policy)
    assert (error.code, error.message) == (code, message)


def test_an_unknown_policy_or_note_is_refused(call: Calls, web: VaultFolder) -> None:
    assert failure(call, "drop_all").code == "validation_error"
    assert failure(call, "keep_top_n", n=-1).code == "validation_error"
    with pytest.raises(ToolError) as error:
        call(links, "prune_hub_links", path="Hob.md", policy={"kind": "drop_unresolved"})
    assert (error.value.code, error.value.details["suggestions"]) == ("note_not_found", ["Hub.md"])


def test_links_to_hidden_notes_are_neither_called_unresolved_nor_described(
    call: Calls, web: VaultFolder
) -> None:
    call.settings = {"acl": {"read_paths": ["Hub.md", "Low.md"]}}
    assert {target for target, _, _ in removed(prune(call, "drop_unresolved"))} == {"Gone"}
    shown = prune(call, "jsonlogic", logic={"var": "target_path"})
    assert {target for target, _, _ in removed(shown)} == {"Low"}
    scored = prune(call, "drop_below_score", score_field="score", threshold=100)
    assert {target for target, _, _ in removed(scored)} == {"Low"}


def test_the_same_key_prunes_once(call: Calls, web: VaultFolder) -> None:
    arguments = {
        "path": "Hub.md",
        "policy": {"kind": "drop_unresolved"},
        "dry_run": False,
        "idempotency_key": "k",
    }
    first = call.confirmed(links, "prune_hub_links", **arguments)
    web["Hub.md"] = HUB
    assert call(links, "prune_hub_links", **arguments) == first
    assert web["Hub.md"] == HUB
