import pytest

from knapper import Context, DeletePath, Domain, ToolError, WritePath
from knapper.caller import LOCAL, Caller
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_history import history

PINS = ".obsidian/bookmarks.json"
writer = Domain("writer", summary="Writes for the tests of history.", exempt=[PINS])


@writer.tool("write:notes")
def put(ctx: Context, path: WritePath, text: str) -> str:
    """Write a note."""
    return ctx.vault.write(path, text).hash


@writer.tool("write:notes")
def shift(ctx: Context, source: DeletePath, target: WritePath) -> str:
    """Move a note."""
    return ctx.vault.move(source, target).hash


@writer.tool("write:notes")
def drop(ctx: Context, path: DeletePath) -> str:
    """Delete a note."""
    return ctx.vault.delete(path, hard=True).path


@writer.tool("write:notes", reach="the bookmarks")
def pin(ctx: Context, text: str) -> str:
    """Write the bookmarks."""
    return ctx.vault.write(PINS, text).hash


@pytest.fixture
def both(call: Calls) -> Calls:
    call.plugins.append(_Writer())
    return call


class _Writer:
    from knapper import hookimpl

    @hookimpl
    def knapper_domains(self) -> Domain:
        return writer


def write(call: Calls, tool: str, **arguments: str) -> None:
    caller = call.caller or Caller("test", LOCAL, authenticated=True, session="test")
    outcome = call.runtime(history).call(tool, arguments, caller)
    assert outcome.error is None


def test_a_version_is_kept_before_every_change_and_can_be_read(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one"
    write(both, "put", path="a.md", text="two")
    versions = both(history, "list_snapshots", path="a.md")
    assert [(v["op"], v["tool"], v["size"]) for v in versions["items"]] == [("write", "put", 3)]
    assert versions["total_count"] == 1
    text = both(history, "read_snapshot", snapshot_id=versions["items"][0]["snapshot_id"])
    assert (text["existed"], text["content"]) == (True, "one")


def test_a_restore_brings_the_bytes_back_and_keeps_what_it_replaced(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "\ufeffone\r\n"
    write(both, "put", path="a.md", text="two")
    first = both(history, "list_snapshots")["items"][0]["snapshot_id"]
    both.confirmed(history, "restore_note", snapshot_id=first)
    assert vault.bytes("a.md") == b"\xef\xbb\xbfone\r\n"
    assert both(history, "read_snapshot", snapshot_id=first + 1)["existed"]


def test_a_restore_needs_a_person(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one"
    write(both, "put", path="a.md", text="two")
    with pytest.raises(ToolError) as refused:
        both(history, "restore_note", snapshot_id=1)
    assert refused.value.code == "elicit_required"
    assert vault["a.md"] == "two"


def test_a_snapshot_on_request_is_listed(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one"
    taken = call(history, "snapshot_note", path="a.md")
    assert call(history, "read_snapshot", snapshot_id=taken["snapshot_id"])["content"] == "one"


def test_undo_takes_back_writes_moves_and_deletions_of_the_session(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a"
    vault["b.md"] = "b"
    vault["c.md"] = "c"
    write(both, "put", path="a.md", text="a2")
    write(both, "put", path="a.md", text="a3")
    write(both, "shift", source="b.md", target="f/b2.md")
    write(both, "put", path="f/b2.md", text="b changed")
    write(both, "drop", path="c.md")
    write(both, "put", path="new.md", text="new")
    planned = both(history, "undo_session")
    assert planned["dry_run"] is True
    both.confirmed(history, "undo_session", dry_run=False)
    assert dict(vault) == {"a.md": "a", "b.md": "b", "c.md": "c"}


def test_undo_refuses_whole_where_a_file_has_moved_on(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a"
    vault["b.md"] = "b"
    write(both, "put", path="a.md", text="a2")
    write(both, "put", path="b.md", text="b2")
    vault["b.md"] = "by hand"
    with pytest.raises(ToolError) as refused:
        both(history, "undo_session", dry_run=False)
    assert (refused.value.code, refused.value.details["paths"]) == ("concurrent_modification", ["b.md"])
    assert vault["a.md"] == "a2"


def test_versions_of_unreadable_notes_are_not_counted(both: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "a"
    vault["closed/b.md"] = "b"
    write(both, "put", path="open/a.md", text="a2")
    write(both, "put", path="closed/b.md", text="b2")
    runtime = both.runtime(history)
    main = runtime.vaults.get("main")
    main.apply(
        main.settings.model_copy(
            update={"acl": runtime.settings.acl.model_copy(update={"read_paths": ["open/**"]})}
        )
    )
    listed = both(history, "list_snapshots")
    assert ([v["path"] for v in listed["items"]], listed["total_count"]) == (["open/a.md"], 1)
    with pytest.raises(ToolError) as refused:
        both(history, "read_snapshot", snapshot_id=2)
    assert refused.value.code == "invalid_input"


def test_undo_takes_back_bookmarks_too_though_nobody_reads_them_here(both: Calls, vault: VaultFolder) -> None:
    vault[PINS] = "{}"
    write(both, "pin", text='{"items":[]}')
    assert both(history, "list_snapshots")["items"] == []
    with pytest.raises(ToolError, match="there is no snapshot 1"):
        both(history, "read_snapshot", snapshot_id=1)
    both.confirmed(history, "undo_session", dry_run=False)
    assert vault[PINS] == "{}"


def test_a_change_that_a_kill_cut_short_is_left_out_where_it_did_not_happen(
    both: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "a"
    write(both, "put", path="a.md", text="a2")
    both.runtime(history).snapshots.take("main", "a.md", b"a2", "write", "test", "put")
    both.confirmed(history, "undo_session", dry_run=False)
    assert vault["a.md"] == "a"


def test_a_change_that_a_kill_cut_short_is_named_where_it_may_have_happened(
    both: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "a"
    both.runtime(history).snapshots.take("main", "a.md", b"a", "write", "test", "put")
    vault["a.md"] = "a2"  # the file changed, and the process died before it could say so
    with pytest.raises(ToolError) as refused:
        both(history, "undo_session", dry_run=False)
    assert (refused.value.code, refused.value.details["paths"]) == ("concurrent_modification", ["a.md"])


def test_undo_looks_again_after_a_person_took_their_time(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a"
    write(both, "put", path="a.md", text="a2")

    def ask(question: object) -> bool:
        vault["a.md"] = "by hand, while somebody was thinking"
        return True

    outcome = both.outcome(history, "undo_session", dry_run=False, how={"ask": ask})
    assert outcome.error is not None
    assert outcome.error["code"] == "concurrent_modification"
    assert vault["a.md"] == "by hand, while somebody was thinking"


def test_versions_of_files_that_are_no_notes_need_the_scope_for_attachments(
    both: Calls, vault: VaultFolder
) -> None:
    vault["plan.canvas"] = "{}"
    write(both, "put", path="plan.canvas", text='{"nodes":[]}')
    both.caller = Caller("reader", frozenset({"read:notes"}), authenticated=True)
    with pytest.raises(ToolError) as refused:
        both(history, "read_snapshot", snapshot_id=1)
    assert (refused.value.code, refused.value.details) == ("forbidden", {"required": ["read:attachments"]})
    both.caller = Caller("reader", frozenset({"read:*"}), authenticated=True)
    assert both(history, "read_snapshot", snapshot_id=1)["content"] == "{}"


def test_a_restore_of_what_may_not_be_written_bothers_nobody(both: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a"
    write(both, "put", path="a.md", text="a2")
    runtime = both.runtime(history)
    main = runtime.vaults.get("main")
    rules = runtime.settings.acl.model_copy(update={"write_paths": ["else/**"]})
    main.apply(main.settings.model_copy(update={"acl": rules}))
    with pytest.raises(ToolError) as refused:
        both(history, "restore_note", snapshot_id=1)
    assert refused.value.code == "acl_denied"
    assert runtime.approvals.list() == []


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(history)


def test_a_restore_shows_the_path_and_the_diff_and_is_for_that_content_alone(
    both: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "one\n"
    write(both, "put", path="a.md", text="two\n")
    with pytest.raises(ToolError) as refused:
        both(history, "restore_note", snapshot_id=1)
    approvals = both.runtime(history).approvals
    shown = approvals.approve(refused.value.details["approval"])
    assert shown.change["path"] == "a.md"
    assert shown.diff.splitlines()[-2:] == ["-two", "+one"]
    vault["a.md"] = "by hand\n"
    with pytest.raises(ToolError) as refused:
        both(history, "restore_note", snapshot_id=1)
    assert refused.value.code == "elicit_required"
    assert vault["a.md"] == "by hand\n"
