from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_notes import notes
from tests.known_vaults import notes_of

LINKS = """---
up: "[[Old Name]]"  # a comment
related:
  - '[[Work/Old Name#Part|shown]]'
text: Old Name
---
[[Old Name]] [[old name|alias]] [[Old Name#Part]] [[Old Name#^id|x]] ![[Old Name]]
[[Work/Old Name]] [[Work/Old Name.md]] [md](Work/Old%20Name.md#Part) ![e](<Work/Old Name.md>)
[rel](./Work/Old%20Name.md "title") [other](Other.md) [web](https://x.org/Old%20Name.md)
`[[Old Name]]` and

```
[[Old Name]]
```
| a |
|---|
| [[Old Name\\|cell]] |
"""
MOVED = """---
up: "[[New Name]]"  # a comment
related:
  - '[[New Name#Part|shown]]'
text: Old Name
---
[[New Name]] [[New Name|alias]] [[New Name#Part]] [[New Name#^id|x]] ![[New Name]]
[[New Name]] [[New Name.md]] [md](New%20Name.md#Part) ![e](<New Name.md>)
[rel](./Done/New%20Name.md "title") [other](Other.md) [web](https://x.org/Old%20Name.md)
`[[Old Name]]` and

```
[[Old Name]]
```
| a |
|---|
| [[New Name\\|cell]] |
"""
CANVAS = """{
\t"nodes":[
\t\t{"id":"1","type":"file","file":"Work/Old Name.md","subpath":"#Part","x":0.50},
\t\t{"id":"2","type":"text","text":"see [[Old Name]]\\nand \\u00e9","x":1},
\t\t{"id":"3","type":"text","text":"Work/Old Name.md"}
\t],
\t"edges":[]
}"""


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(notes, tool, **arguments)
    return error.value


def test_every_kind_of_link_follows_and_no_other_byte_changes(call: Calls, vault: VaultFolder) -> None:
    vault["Work/Old Name.md"] = "# Part\n\nText ^id\n[o](../Other.md) [[Old Name]]\n"
    vault["Links.md"] = LINKS
    vault["Crlf.md"] = "\ufeff" + LINKS.replace("\n", "\r\n").removesuffix("\r\n")
    vault["Other.md"] = "nothing here"
    vault["Plan.canvas"] = CANVAS
    got = call.confirmed(notes, "move_note", from_="Work/Old Name.md", to="Done/New Name.md")
    assert vault.bytes("Links.md").decode() == MOVED
    assert vault.bytes("Crlf.md").decode() == "\ufeff" + MOVED.replace("\n", "\r\n").removesuffix("\r\n")
    assert vault["Plan.canvas"] == CANVAS.replace('"file":"Work/Old', '"file":"Done/New').replace(
        "[[Old Name]]", "[[New Name]]"
    )
    assert vault["Done/New Name.md"] == "# Part\n\nText ^id\n[o](../Other.md) [[New Name]]\n"
    assert "Work/Old Name.md" not in vault
    assert got.pop("moved_at").endswith("Z")
    assert got == {
        "from": "Work/Old Name.md",
        "to": "Done/New Name.md",
        "backlinks_updated": 13 + 13 + 2 + 1,
        "files_touched": ["Crlf.md", "Done/New Name.md", "Links.md", "Plan.canvas"],
        "new_hash": sha256(vault.bytes("Done/New Name.md")).hexdigest(),
    }


def test_links_stay_short_only_where_that_is_unambiguous(call: Calls, vault: VaultFolder) -> None:
    vault["a/Note.md"] = ""
    vault["Twin.md"] = ""
    vault["Links.md"] = "[[Note]]"
    call.confirmed(notes, "move_note", from_="a/Note.md", to="b/Twin.md")
    assert vault["Links.md"] == "[[b/Twin]]"


@pytest.mark.parametrize(("format", "link"), [("relative", "../b/N"), ("absolute", "b/N")])
def test_links_take_the_form_that_obsidian_is_set_to(
    call: Calls, vault: VaultFolder, format: str, link: str
) -> None:
    vault[".obsidian/app.json"] = f'{{"newLinkFormat": "{format}"}}'
    vault["a/M.md"] = ""
    vault["c/Links.md"] = "[[M]]"
    call.confirmed(notes, "move_note", from_="a/M.md", to="b/N.md")
    assert vault["c/Links.md"] == f"[[{link}]]"


def test_the_links_of_the_moved_note_lead_where_they_led(call: Calls, vault: VaultFolder) -> None:
    vault["a/Near.md"] = ""
    vault["b/Near.md"] = ""
    vault["a/Note.md"] = "[[Near]] [n](Near.md) [m](./Near.md) [[Gone]]"
    got = call.confirmed(notes, "move_note", from_="a/Note.md", to="b/Note.md")
    assert vault["b/Note.md"] == "[[a/Near]] [n](a/Near.md) [m](../a/Near.md) [[Gone]]"
    assert got["files_touched"] == ["b/Note.md"]


def card(text: str) -> str:
    return json.dumps({"nodes": [{"id": "1", "type": "text", "text": text}], "edges": []}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("source", "before", "after"),
    [
        ("My Note.md", "[x](My%20Note.md)", "[x](Other.md)"),
        ("My Note.md", "[[my note#H|t]]", "[[Other#H|t]]"),
        ('a"b.md', '[[a"b]]', "[[Other]]"),
        ("Caf\u00e9.md", "[[Cafe\u0301]]", "[[Other]]"),
    ],
)
def test_a_link_in_a_card_follows_however_it_is_spelled(
    call: Calls, vault: VaultFolder, source: str, before: str, after: str
) -> None:
    vault[source], vault["c.canvas"] = "x", card(before)
    call(notes, "move_note", from_=source, to="Other.md")
    assert vault["c.canvas"] == card(after)


def test_a_link_in_a_card_that_the_moved_note_would_take_over_is_spelled_out(
    call: Calls, vault: VaultFolder
) -> None:
    vault["z/N.md"], vault["Q.md"], vault["c.canvas"] = "n", "q", card("[[N]]")
    call(notes, "move_note", from_="Q.md", to="N.md")
    assert vault["c.canvas"] == card("[[z/N]]")


def test_a_canvas_that_may_not_be_read_stops_a_move_only_where_it_names_the_note(
    call: Calls, vault: VaultFolder
) -> None:
    vault["open/a.md"], vault["open/b.md"], vault["open/k.md"] = "a", "[[a]] [[k]]", "k"
    vault["closed/c.canvas"], vault["closed/bytes.canvas"] = card("[[k]]"), b"\xff"
    call.settings["acl"] = {"read_paths": ["open/**"]}
    call(notes, "move_note", from_="open/a.md", to="open/q.md")
    assert vault["open/b.md"] == "[[q]] [[k]]"
    with pytest.raises(ToolError) as refused:
        call(notes, "move_note", from_="open/k.md", to="open/l.md")
    assert refused.value.code == "acl_denied"
    assert "closed" not in f"{refused.value.message} {refused.value.details}"
    assert vault["open/b.md"] == "[[q]] [[k]]"


def test_without_backlinks_only_the_file_moves(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "x"
    vault["Links.md"] = "[[a]]"
    got = call(notes, "move_note", from_="a.md", to="b.md", update_backlinks=False)
    assert dict(vault) == {"b.md": "x", "Links.md": "[[a]]"}
    assert (got["backlinks_updated"], got["files_touched"]) == (0, [])


def test_three_moves_swap_two_notes_with_their_links(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "A [[b]]"
    vault["b.md"] = "B [[a]]"
    vault["Links.md"] = "[[a]] [[b|b]]"
    for source, target in (("a.md", "c.md"), ("b.md", "a.md"), ("c.md", "b.md")):
        call(notes, "move_note", from_=source, to=target)
    assert dict(vault) == {"a.md": "B [[b]]", "b.md": "A [[a]]", "Links.md": "[[b]] [[a|b]]"}


@pytest.mark.parametrize(
    ("source", "target", "asks"),
    [
        ("a.md", "b.md", False),
        ("x/a.md", "x/deep/b.md", False),
        ("a.md", "x/a.md", True),
        ("x/a.md", "y/a.md", True),
        ("x/a.md", "a.md", True),
    ],
)
def test_crossing_a_top_level_folder_asks_a_person(
    call: Calls, vault: VaultFolder, source: str, target: str, asks: bool
) -> None:
    vault[source] = "text"
    if asks:
        error = failure(call, "move_note", from_=source, to=target)
        assert error.code == "elicit_required"
        assert error.details["change"] == {"from": source, "to": target, "overwrites": False}
        assert source in vault
    call.confirmed(notes, "move_note", from_=source, to=target)
    assert dict(vault) == {target: "text"}


def test_a_taken_target_is_overwritten_only_on_request_and_with_a_person_s_consent(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "a"
    vault["b.md"] = "b"
    assert failure(call, "move_note", from_="a.md", to="b.md").code == "note_exists"
    error = failure(call, "move_note", from_="a.md", to="b.md", overwrite_target=True)
    assert error.code == "elicit_required"
    assert error.details["change"]["overwrites"] is True
    assert dict(vault) == {"a.md": "a", "b.md": "b"}
    call.confirmed(notes, "move_note", from_="a.md", to="b.md", overwrite_target=True)
    assert dict(vault) == {"b.md": "a"}


def test_what_cannot_be_moved_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["alpha.md"] = ""
    vault["folder/x.md"] = ""
    error = failure(call, "move_note", from_="alpa.md", to="b.md")
    assert (error.code, error.details["suggestions"]) == ("note_not_found", ["alpha.md"])
    assert failure(call, "move_note", from_="alpha.md", to="alpha.md").code == "invalid_input"
    assert failure(call, "move_note", from_="alpha.md", to="../b.md").code == "path_invalid"
    assert failure(call, "move_note", from_="alpha.md", to="folder").code == "invalid_input"


def test_a_link_in_a_note_that_may_not_be_written_stops_the_move(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"write_paths": ["Open/**"]}}
    vault["Open/a.md"] = "x"
    vault["Shut/Links.md"] = "[[a]]"
    error = failure(call, "move_note", from_="Open/a.md", to="Open/b.md")
    assert (error.code, error.details["path"]) == ("acl_denied", "Shut/Links.md")
    assert dict(vault) == {"Open/a.md": "x", "Shut/Links.md": "[[a]]"}


def test_a_link_in_a_note_that_may_not_be_read_stops_the_move_unnamed(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"acl": {"read_paths": ["Open/**"]}}
    vault["Open/a.md"] = "x"
    vault["Secret/Links.md"] = "[[a]]"
    error = failure(call, "move_note", from_="Open/a.md", to="Open/b.md")
    assert error.code == "acl_denied"
    assert "Secret" not in error.message
    assert "path" not in error.details
    assert dict(vault) == {"Open/a.md": "x", "Secret/Links.md": "[[a]]"}


def test_links_in_a_note_too_large_for_the_index_are_rewritten_too(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"index": {"max_note_bytes": 40}}
    vault["Near.md"] = "x"
    vault["Large.md"] = "[[Near]] and words enough to be over the limit\r\n"
    assert call(notes, "move_note", from_="Near.md", to="Far.md")["files_touched"] == ["Large.md"]
    assert vault["Large.md"] == "[[Far]] and words enough to be over the limit\r\n"


def test_moving_any_note_of_a_real_vault_there_and_back_restores_every_byte(
    call: Calls, real_vault: VaultFolder
) -> None:
    before = {path: real_vault.bytes(path) for path in real_vault}
    for path in notes_of(real_vault.path)[::25]:
        target = f"{path.removesuffix('.md')} moved away.md"
        there = call(notes, "move_note", from_=path, to=target)
        changed = {p for p in before if p != path and real_vault.bytes(p) != before[p]}
        assert changed == set(there["files_touched"]) - {target}
        call(notes, "move_note", from_=target, to=path)
        after = {p: real_vault.bytes(p) for p in real_vault}
        assert after == before


def test_a_copy_s_links_lead_where_the_original_s_lead(call: Calls, vault: VaultFolder) -> None:
    vault["a/Near.md"] = ""
    vault["b/Near.md"] = ""
    vault["a/Note.md"] = "\ufeff[[Near]]\r\n[n](Near.md)\r\n"
    vault["Links.md"] = "[[Note]]"
    assert failure(call, "copy_note", from_="a/Note.md", to="b/Copy.md").code == "elicit_required"
    got = call.confirmed(notes, "copy_note", from_="a/Note.md", to="b/Copy.md")
    assert vault.bytes("b/Copy.md") == "\ufeff[[a/Near]]\r\n[n](a/Near.md)\r\n".encode()
    assert vault["a/Note.md"] == "\ufeff[[Near]]\r\n[n](Near.md)\r\n"
    assert vault["Links.md"] == "[[Note]]"
    assert got.pop("created_at").endswith("Z")
    assert got == {
        "from": "a/Note.md",
        "to": "b/Copy.md",
        "content_hash": sha256(vault.bytes("b/Copy.md")).hexdigest(),
        "links_rewritten": 2,
    }


def test_a_copy_in_the_same_folder_asks_nobody_and_can_keep_every_byte(
    call: Calls, vault: VaultFolder
) -> None:
    data = b"\xef\xbb\xbf[[a]] \r\nmixed\n"
    vault["x/a.md"] = data.decode()
    got = call(notes, "copy_note", from_="x/a.md", to="x/b.md", rewrite_internal_links=False)
    assert vault.bytes("x/b.md") == data
    assert got["links_rewritten"] == 0


def test_a_copy_never_overwrites(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a"
    vault["b.md"] = "b"
    assert failure(call, "copy_note", from_="a.md", to="b.md").code == "note_exists"
    assert failure(call, "copy_note", from_="nil.md", to="c.md").code == "note_not_found"
    first = call(notes, "copy_note", from_="a.md", to="c.md", idempotency_key="k")
    assert call(notes, "copy_note", from_="a.md", to="c.md", idempotency_key="k") == first
