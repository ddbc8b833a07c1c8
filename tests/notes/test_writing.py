from __future__ import annotations

import threading
from hashlib import sha256
from typing import Any

import pytest

from knapper import Caller, ToolError
from knapper.caller import LOCAL
from knapper.testing import Calls, VaultFolder
from knapper_notes import notes


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(notes, tool, **arguments)
    return error.value


def hash_of(text: str | bytes) -> str:
    return sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def test_a_note_is_created_with_its_folders(call: Calls, vault: VaultFolder) -> None:
    got = call(notes, "write_note", path="new/deep/a.md", content="hello\n")
    assert vault["new/deep/a.md"] == "hello\n"
    stamp = got.pop("created_at")
    assert stamp.endswith("Z")
    assert got == {
        "path": "new/deep/a.md",
        "mode_used": "create",
        "was_created": True,
        "content_hash": hash_of("hello\n"),
    }


def test_without_create_dirs_the_folder_must_be_there(call: Calls, vault: VaultFolder) -> None:
    error = failure(call, "write_note", path="new/a.md", content="x", create_dirs=False)
    assert error.code == "path_invalid"
    assert list(vault) == []


def test_properties_are_set_in_the_content(call: Calls, vault: VaultFolder) -> None:
    content = "---\n# mine\nstatus: 'old'\nkept: 007\n---\nbody\n"
    call(notes, "write_note", path="a.md", content=content, frontmatter={"status": "new", "n": 1})
    assert vault["a.md"] == "---\n# mine\nstatus: 'new'\nkept: 007\nn: 1\n---\nbody\n"
    call(notes, "write_note", path="b.md", content="body", frontmatter={"tags": ["x"]})
    assert vault["b.md"] == "---\ntags:\n  - x\n---\nbody"


def test_properties_that_do_not_fit_the_content_are_refused(call: Calls, vault: VaultFolder) -> None:
    error = failure(call, "write_note", path="a.md", content="---\na: [\n---\n", frontmatter={"b": 1})
    assert error.code == "invalid_input"
    assert list(vault) == []


def test_creating_over_a_note_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    assert failure(call, "write_note", path="a.md", content="x").code == "note_exists"
    assert vault["a.md"] == ""


def test_overwriting_a_note_that_is_not_there_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["archive.md"] = ""
    error = failure(call, "write_note", path="archiv.md", content="x", mode="overwrite")
    assert error.code == "note_not_found"
    assert error.details["suggestions"] == ["archive.md"]


@pytest.mark.parametrize("mode", ["overwrite", "upsert"])
def test_overwriting_unread_text_asks_a_person(call: Calls, vault: VaultFolder, mode: str) -> None:
    vault["a.md"] = "old\n"
    arguments = {"path": "a.md", "content": "new\n", "mode": mode}
    error = failure(call, "write_note", **arguments)
    assert error.code == "elicit_required"
    assert error.details["change"] == {"path": "a.md", "overwrites_bytes": 4}
    assert vault["a.md"] == "old\n"
    got = call.confirmed(notes, "write_note", **arguments)
    assert (got["mode_used"], got["was_created"]) == ("overwrite", False)
    assert got["prev_hash"] == hash_of("old\n")
    assert "updated_at" in got
    assert vault["a.md"] == "new\n"


@pytest.mark.parametrize("old", ["", " \n\t\n"])
def test_overwriting_nothing_asks_nobody(call: Calls, vault: VaultFolder, old: str) -> None:
    vault["a.md"] = old
    call(notes, "write_note", path="a.md", content="new", mode="upsert")
    assert vault["a.md"] == "new"


def test_who_has_read_the_note_may_overwrite_it(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "old"
    call(notes, "write_note", path="a.md", content="new", mode="overwrite", prev_hash=hash_of("old"))
    assert vault["a.md"] == "new"


def test_a_note_changed_since_it_was_read_is_not_overwritten(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "theirs"
    error = failure(
        call, "write_note", path="a.md", content="mine", mode="overwrite", prev_hash=hash_of("old")
    )
    assert error.code == "concurrent_modification"
    assert error.details == {"path": "a.md", "expected": hash_of("old"), "actual": hash_of("theirs")}
    assert vault["a.md"] == "theirs"


def test_upserting_creates(call: Calls, vault: VaultFolder) -> None:
    got = call(notes, "write_note", path="a.md", content="x", mode="upsert")
    assert (got["mode_used"], got["was_created"]) == ("create", True)


def test_overwriting_keeps_a_byte_order_mark(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "\ufeffold"
    prev = hash_of("\ufeffold")
    call(notes, "write_note", path="a.md", content="new", mode="overwrite", prev_hash=prev)
    assert vault.bytes("a.md") == b"\xef\xbb\xbfnew"


def test_the_same_key_writes_once(call: Calls, vault: VaultFolder) -> None:
    first = call(notes, "write_note", path="a.md", content="x", idempotency_key="k")
    del vault["a.md"]
    assert call(notes, "write_note", path="a.md", content="x", idempotency_key="k") == first
    assert "a.md" not in vault
    error = failure(call, "write_note", path="a.md", content="y", idempotency_key="k")
    assert error.code == "idempotency_key_mismatch"


def test_only_notes_are_written(call: Calls, vault: VaultFolder) -> None:
    vault["p.canvas"] = "{}"
    for tool, more in (
        ("write_note", {"content": "x"}),
        ("append_note", {"content": "x"}),
        ("patch_note", {"old_string": "{", "new_string": "x"}),
        ("delete_note", {}),
    ):
        assert failure(call, tool, path="p.canvas", **more).code == "invalid_input"
    assert failure(call, "write_note", path="no ending", content="x").code == "invalid_input"
    assert vault["p.canvas"] == "{}"


@pytest.mark.parametrize(
    ("old", "more", "new"),
    [
        ("a\n", {}, "a\nX\n"),
        ("a", {}, "a\nX"),
        ("", {}, "X\n"),
        ("a\n", {"ensure_newline": False}, "a\nX"),
        ("a", {"ensure_newline": False}, "aX"),
        ("a\n", {"position": "start"}, "X\na\n"),
        ("---\nk: 1\n---\na\n", {"position": "start"}, "---\nk: 1\n---\nX\na\n"),
        ("---\nk: 1\n---", {"position": "start"}, "---\nk: 1\n---\nX"),
        (
            "---\nk: 1\n---\na\n",
            {"position": "start", "after_frontmatter": False},
            "X\n---\nk: 1\n---\na\n",
        ),
        ("a\r\n", {}, "a\r\nX\r\n"),
        ("\ufeffa\r\nb", {}, "\ufeffa\r\nb\r\nX"),
        ("\ufeff---\nk: 1\n---\na", {"position": "start"}, "\ufeff---\nk: 1\n---\nX\na"),
        ("a\r\nb\n", {}, "a\r\nb\nX\n"),
    ],
)
def test_text_is_added_and_nothing_else_touched(
    call: Calls, vault: VaultFolder, old: str, more: dict[str, Any], new: str
) -> None:
    vault["a.md"] = old
    got = call(notes, "append_note", path="a.md", content="X", **more)
    assert vault.bytes("a.md") == new.encode()
    assert got["inserted_bytes"] == len(new.encode()) - len(old.encode())
    assert got["content_hash"] == hash_of(new)
    assert got["position_used"] == more.get("position", "end")


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\r\n", "a\r\nx\r\ny\r\n"), ("a\n", "a\nx\ny\n"), ("a", "a\nx\r\ny")],
)
def test_line_breaks_of_added_text_become_the_file_s_where_it_has_but_one_kind(
    call: Calls, vault: VaultFolder, old: str, new: str
) -> None:
    vault["a.md"] = old
    got = call(notes, "append_note", path="a.md", content="x\r\ny")
    assert vault.bytes("a.md") == new.encode()
    assert got["inserted_bytes"] == len(new) - len(old)


def test_appending_nothing_changes_nothing(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "no newline"
    assert call(notes, "append_note", path="a.md", content="")["inserted_bytes"] == 0
    assert vault["a.md"] == "no newline"


def test_a_missing_note_is_created_only_on_request(call: Calls, vault: VaultFolder) -> None:
    assert failure(call, "append_note", path="log.md", content="x").code == "note_not_found"
    got = call(notes, "append_note", path="log.md", content="ä", create_if_missing=True)
    assert got["inserted_bytes"] == 3
    call(notes, "append_note", path="log.md", content="b", create_if_missing=True)
    assert vault["log.md"] == "ä\nb\n"


def test_of_many_that_begin_a_note_at_once_each_is_in_it(call: Calls, vault: VaultFolder) -> None:
    runtime, caller = call.runtime(notes), Caller("ann", LOCAL, authenticated=True)
    ready, failed = threading.Barrier(6), list[str]()

    def append(number: int) -> None:
        for turn in range(10):
            ready.wait()
            arguments = {"path": f"{turn}.md", "content": f"line {number}", "create_if_missing": True}
            outcome = runtime.call("append_note", arguments, caller)
            failed.extend([outcome.error["code"]] if outcome.error else [])

    threads = [threading.Thread(target=append, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for turn in range(10):
        assert sorted(vault[f"{turn}.md"].splitlines()) == [f"line {number}" for number in range(6)]


def test_appending_twice_with_one_key_appends_once(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    for _ in range(2):
        call(notes, "append_note", path="a.md", content="x", idempotency_key="k")
    assert vault["a.md"] == "x\n"


def test_appending_can_be_bound_to_what_was_read(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "theirs\n"
    error = failure(call, "append_note", path="a.md", content="x", prev_hash=hash_of("mine\n"))
    assert error.code == "concurrent_modification"
    call(notes, "append_note", path="a.md", content="x", prev_hash=hash_of("theirs\n"))
    assert vault["a.md"] == "theirs\nx\n"


def test_where_it_is_required_existing_notes_change_only_with_their_hash(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"writes": {"require_cas": True}}
    vault["a.md"] = "old\n"
    error = failure(call, "write_note", path="a.md", content="x", mode="overwrite")
    assert (error.code, error.message) == ("invalid_input", "changing 'a.md' needs its prev_hash here")
    assert failure(call, "append_note", path="a.md", content="x").code == "invalid_input"
    call(notes, "append_note", path="a.md", content="x", prev_hash=hash_of("old\n"))
    call(notes, "append_note", path="new.md", content="x", create_if_missing=True)
    assert (vault["a.md"], vault["new.md"]) == ("old\nx\n", "x\n")


def test_deleting_asks_a_person_and_fills_the_trash(call: Calls, vault: VaultFolder) -> None:
    vault["b/a.md"] = "text"
    assert failure(call, "delete_note", path="b/a.md").code == "elicit_required"
    assert "b/a.md" in vault
    got = call.confirmed(notes, "delete_note", path="b/a.md")
    assert got.pop("deleted_at").endswith("Z")
    assert got == {"path": "b/a.md", "recoverable": True, "trash_path": ".trash/b/a.md"}
    assert dict(vault) == {".trash/b/a.md": "text"}


def test_two_deleted_notes_of_one_name_are_both_in_the_trash(call: Calls, vault: VaultFolder) -> None:
    for text in ("one", "two"):
        vault["a.md"] = text
        call.confirmed(notes, "delete_note", path="a.md", hard=False)
    assert dict(vault) == {".trash/a.md": "one", ".trash/a (1).md": "two"}


@pytest.mark.parametrize(("setting", "hard"), [("local", True), ("none", False)])
def test_a_note_is_gone_for_good_on_request_or_by_obsidian_s_setting(
    call: Calls, vault: VaultFolder, setting: str, hard: bool
) -> None:
    vault[".obsidian/app.json"] = f'{{"trashOption": "{setting}"}}'
    vault["a.md"] = "x"
    got = call.confirmed(notes, "delete_note", path="a.md", hard=hard)
    assert got["recoverable"] is False
    assert "trash_path" not in got
    assert list(vault) == [".obsidian/app.json"]


def test_nobody_is_asked_about_a_note_that_is_not_there(call: Calls, vault: VaultFolder) -> None:
    vault["recipe.md"] = ""
    error = failure(call, "delete_note", path="recpie.md")
    assert error.code == "note_not_found"
    assert error.details["suggestions"] == ["recipe.md"]


def test_writing_keeps_to_the_folder_rules(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"write_paths": ["In/**"], "delete_paths": []}}
    vault["Out/a.md"] = "x"
    vault["In/a.md"] = "x"
    assert failure(call, "write_note", path="Out/b.md", content="").code == "acl_denied"
    assert failure(call, "append_note", path="Out/a.md", content="y").code == "acl_denied"
    patch = {"path": "Out/a.md", "old_string": "x", "new_string": "y"}
    assert failure(call, "patch_note", **patch).code == "acl_denied"
    assert failure(call, "delete_note", path="In/a.md").code == "acl_denied"
    assert failure(call, "write_note", path=".obsidian/x.md", content="").code == "acl_denied"
    call(notes, "append_note", path="In/a.md", content="y")
    assert dict(vault) == {"In/a.md": "x\ny", "Out/a.md": "x"}


def test_a_read_only_vault_is_not_written(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_only": True}}
    vault["a.md"] = "x"
    assert failure(call, "append_note", path="a.md", content="y").code == "forbidden"
    assert call(notes, "read_note", path="a.md")["content"] == "x"


def test_a_person_sees_the_text_that_a_deletion_would_take(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one\ntwo\n"
    approval = failure(call, "delete_note", path="a.md").details["approval"]
    shown = call.runtime(notes).approvals.show(approval)
    assert (shown.change["arguments"], shown.change["deletes_bytes"]) == ({"path": "a.md"}, 8)
    assert shown.diff.splitlines()[-2:] == ["-one", "-two"]


def test_an_approved_overwrite_does_not_take_what_was_written_since(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "old"
    change = {"path": "a.md", "content": "mine", "mode": "overwrite"}
    call.runtime(notes).approvals.approve(failure(call, "write_note", **change).details["approval"])
    vault["a.md"] = "new"
    assert failure(call, "write_note", **change).code == "elicit_required"
    assert vault["a.md"] == "new"
