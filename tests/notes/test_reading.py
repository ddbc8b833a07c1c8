from __future__ import annotations

import os
from hashlib import sha256
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_notes import notes
from tests.known_vaults import Known, notes_of

NOTE = "---\ntitle: Täglich\ntags: [a, b]\n---\n# Kopf\n\nText\n"


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(notes, tool, **arguments)
    return error.value


def paths(page: dict[str, Any]) -> list[str]:
    return [item["path"] for item in page["items"]]


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(notes)


def test_a_note_is_read_with_its_properties_and_hash(call: Calls, vault: VaultFolder) -> None:
    vault["Ordner/Notiz.md"] = NOTE
    assert call(notes, "read_note", path="Ordner/Notiz.md") == {
        "path": "Ordner/Notiz.md",
        "content": NOTE,
        "frontmatter": {"title": "Täglich", "tags": ["a", "b"]},
        "content_hash": sha256(NOTE.encode()).hexdigest(),
    }


def test_parts_of_a_note_come_only_where_they_are_wanted(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    os.utime(vault.path / "a.md", (1_700_000_000, 1_700_000_000))
    got = call(
        notes,
        "read_note",
        path="a.md",
        include_content=False,
        include_frontmatter=False,
        include_stats=True,
    )
    assert set(got) == {"path", "content_hash", "stats"}
    assert got["stats"]["size"] == len(NOTE.encode())
    assert got["stats"]["mtime"] == "2023-11-14T22:13:20Z"


def test_a_note_without_properties_has_none(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "text"
    assert "frontmatter" not in call(notes, "read_note", path="a.md")


def test_broken_properties_do_not_stop_the_reading(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\ntitle: [a\n---\ntext"
    assert call(notes, "read_note", path="a.md")["content"] == "---\ntitle: [a\n---\ntext"


def test_a_byte_order_mark_is_hashed_and_not_shown(call: Calls, vault: VaultFolder) -> None:
    data = b"\xef\xbb\xbfa\r\nb"
    vault["a.md"] = data.decode()
    got = call(notes, "read_note", path="a.md")
    assert got["content"] == "a\r\nb"
    assert got["content_hash"] == sha256(data).hexdigest()


def test_a_note_is_read_by_name_or_alias(call: Calls, vault: VaultFolder) -> None:
    vault["Deep/Down/Cellar.md"] = "---\naliases:\n  - Basement\n---\n"
    for name in ("Cellar", "cellar.md", "Down/Cellar", "basement"):
        assert call(notes, "read_note", path=name)["path"] == "Deep/Down/Cellar.md"


def test_an_ambiguous_name_gets_candidates_and_a_missing_one_suggestions(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a/Same.md"] = ""
    vault["b/Same.md"] = ""
    assert failure(call, "read_note", path="Same").details["candidates"] == ["a/Same.md", "b/Same.md"]
    missing = failure(call, "read_note", path="a/Sane.md")
    assert missing.code == "note_not_found"
    assert missing.details["suggestions"] == ["a/Same.md", "b/Same.md"]


@pytest.mark.parametrize("path", ["../a.md", "/etc/passwd", "C:/a.md", "a\x00.md", "NUL.md"])
def test_a_path_out_of_the_vault_is_invalid(call: Calls, path: str) -> None:
    assert failure(call, "read_note", path=path).code == "path_invalid"
    assert failure(call, "note_exists", path=path).code == "path_invalid"


def test_only_notes_are_read(call: Calls, vault: VaultFolder) -> None:
    vault["secret.env"] = "KEY=1"
    assert failure(call, "read_note", path="secret.env").code == "invalid_input"
    assert call(notes, "read_notes", paths=["secret.env"])["results"][0]["error"]["code"] == "invalid_input"


def test_each_of_many_notes_has_its_note_or_its_error(call: Calls, vault: VaultFolder) -> None:
    vault["x/One.md"] = "1"
    vault["a/Twin.md"] = ""
    vault["b/Twin.md"] = ""
    results = call(notes, "read_notes", paths=["One", "Nil", "Twin", "../x"])["results"]
    assert [(r["path"], r["ok"]) for r in results] == [
        ("One", True),
        ("Nil", False),
        ("Twin", False),
        ("../x", False),
    ]
    assert results[0]["note"] == {
        "path": "x/One.md",
        "content": "1",
        "content_hash": sha256(b"1").hexdigest(),
    }
    assert [r["error"]["code"] for r in results[1:]] == ["note_not_found", "path_ambiguous", "path_invalid"]


def test_at_most_fifty_notes_are_read_at_once(call: Calls) -> None:
    assert failure(call, "read_notes", paths=["a"] * 51).code == "validation_error"
    assert failure(call, "read_notes", paths=[]).code == "validation_error"


def test_notes_are_listed_below_a_folder(call: Calls, vault: VaultFolder) -> None:
    for path in ("a.md", "b/c.md", "b/d/e.md", "b2.md", "b/pic.png", ".hidden/x.md"):
        vault[path] = path
    assert paths(call(notes, "list_notes")) == ["a.md", "b/c.md", "b/d/e.md", "b2.md"]
    assert paths(call(notes, "list_notes", root="b")) == ["b/c.md", "b/d/e.md"]
    assert paths(call(notes, "list_notes", root="b/", recursive=False)) == ["b/c.md"]
    assert paths(call(notes, "list_notes", root="b", extensions=[".PNG"])) == ["b/pic.png"]
    assert paths(call(notes, "list_notes", root="b", extensions=[])) == ["b/c.md", "b/d/e.md", "b/pic.png"]
    assert call(notes, "list_notes", root="b", limit=1)["items"][0]["size"] == 6


def test_folders_are_listed_among_the_notes(call: Calls, vault: VaultFolder) -> None:
    for path in ("a.md", "b/c.md", "b/d/e.md"):
        vault[path] = ""
    (vault.path / "empty").mkdir()
    got = call(notes, "list_notes", include_folders=True)
    assert [(i["path"], i["type"]) for i in got["items"]] == [
        ("a.md", "file"),
        ("b", "folder"),
        ("b/c.md", "file"),
        ("b/d", "folder"),
        ("b/d/e.md", "file"),
        ("empty", "folder"),
    ]
    got = call(notes, "list_notes", root="b", include_folders=True, recursive=False)
    assert paths(got) == ["b/c.md", "b/d"]


@pytest.mark.parametrize("folders", [False, True])
def test_notes_are_listed_by_age_and_by_size(call: Calls, vault: VaultFolder, folders: bool) -> None:
    for name, size, age in (("a", 3, 100), ("b", 9, 300), ("c", 9, 200)):
        vault[f"{name}.md"] = "x" * size
        os.utime(vault.path / f"{name}.md", (age, age))
    by_age = call(notes, "list_notes", sort="mtime", include_folders=folders)
    assert paths(by_age) == ["b.md", "c.md", "a.md"]
    assert paths(call(notes, "list_notes", sort="size", include_folders=folders)) == ["b.md", "c.md", "a.md"]
    first = call(notes, "list_notes", sort="size", include_folders=folders, limit=2)
    rest = call(notes, "list_notes", sort="size", include_folders=folders, limit=2, cursor=first["cursor"])
    assert paths(rest) == ["a.md"]


def test_a_cursor_survives_inserts_and_deletes(call: Calls, vault: VaultFolder) -> None:
    for n in range(6):
        vault[f"{n}.md"] = ""
    first = call(notes, "list_notes", limit=3)
    assert first["total_count"] == 6
    del vault["1.md"]
    vault["00.md"] = ""
    vault["25.md"] = ""
    assert paths(call(notes, "list_notes", limit=3, cursor=first["cursor"])) == ["25.md", "3.md", "4.md"]


def test_a_cursor_of_another_call_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["b/1.md"] = ""
    vault["b/2.md"] = ""
    cursor = call(notes, "list_notes", limit=1)["cursor"]
    assert failure(call, "list_notes", limit=1, root="b", cursor=cursor).code == "invalid_input"
    assert failure(call, "list_notes", limit=1, cursor="garbage").code == "invalid_input"
    assert paths(call(notes, "list_notes", limit=5, cursor=cursor, verbosity="terse")) == ["b/2.md"]


def test_a_root_that_is_no_folder_is_invalid(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    for root in ("nothing", "a.md", "../x"):
        assert failure(call, "list_notes", root=root).code == "path_invalid"


def test_a_terse_list_has_paths_alone(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    got = call(notes, "list_notes", verbosity="terse")
    assert got == {"items": [{"path": "a.md"}], "total_count": 1}


def test_a_path_is_a_file_a_folder_or_nothing(call: Calls, vault: VaultFolder) -> None:
    vault["b/pic.png"] = ""
    assert call(notes, "note_exists", path="b/pic.png") == {"exists": True, "type": "file"}
    assert call(notes, "note_exists", path="b") == {"exists": True, "type": "folder"}
    assert call(notes, "note_exists", path="c") == {"exists": False}


def test_every_page_together_is_every_note(generated: Known) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = generated.call(notes, "list_notes", limit=77, **cursor)
        assert page["total_count"] == generated.truth["notes_md"]
        seen += paths(page)
        if "cursor" not in page:
            break
        cursor = {"cursor": page["cursor"]}
    assert seen == notes_of(generated.folder.path)


def test_every_note_is_read_by_its_path(generated: Known) -> None:
    wanted = generated.truth["sample_paths"][:50]
    results = generated.call(notes, "read_notes", paths=wanted)["results"]
    assert [r["note"]["path"] for r in results] == wanted
    assert all(r["note"]["content"] == generated.folder[r["path"]] for r in results)


def test_a_restricted_caller_sees_and_counts_permitted_notes_only(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["Public/**"]}}
    for path in ("Public/a.md", "Public/sub/b.md", "Private/c.md", "d.md"):
        vault[path] = ""
    listed = call(notes, "list_notes")
    assert (paths(listed), listed["total_count"]) == (["Public/a.md", "Public/sub/b.md"], 2)
    listed = call(notes, "list_notes", include_folders=True)
    assert paths(listed) == ["Public", "Public/a.md", "Public/sub", "Public/sub/b.md"]
    assert failure(call, "read_note", path="Private/c.md").code == "acl_denied"
    assert failure(call, "list_notes", root="Private").code == "acl_denied"
    assert failure(call, "note_exists", path="Private/c.md").code == "acl_denied"
    results = call(notes, "read_notes", paths=["a", "c", "Private/c.md", "Private/x.md"])["results"]
    assert [r["ok"] or r["error"]["code"] for r in results] == [
        True,
        "note_not_found",
        "acl_denied",
        "acl_denied",
    ]
