import pytest

from knapper import Context, DeletePath, Domain, ToolError, WritePath
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_history import history

writer = Domain("writer", summary="Writes for the tests of history.")


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
    from knapper.caller import LOCAL, Caller

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


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(history)
