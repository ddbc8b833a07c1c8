import time

import pytest

from knapper import Caller, ToolError, traces
from knapper.caller import LOCAL
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_sessions import sessions


def traced(call: Calls, tool: str, place: str = "test", ts: float | None = None) -> None:
    """A line as the trace of a call has it."""
    folder, now = traces.folder(call.runtime(sessions).settings), ts or time.time()
    line = {"ts": now, "type": "tool_invocation", "tool": tool, "vault": "main", "caller": "test"}
    traces.append(
        folder / traces.file_name(place, now),
        {**line, "duration_ms": 1.5, "args_hash": "a" * 32, "result_size": 9, "status": "ok"},
    )


def test_a_session_has_the_calls_between_its_start_and_its_end(call: Calls, vault: VaultFolder) -> None:
    call.runtime(sessions)
    started = call(sessions, "start_session", caller="me", session_metadata={"goal": "x"})
    traced(call, "read_note")
    traced(call, "search_text")
    ended = call(sessions, "end_session", session_id=started["session_id"])
    traced(call, "later")
    assert ended["event_count"] == 2
    lines = call(sessions, "get_session_traces", session_id=started["session_id"])
    assert [line["tool"] for line in lines["items"]] == ["read_note", "search_text"]
    assert lines["total_count"] == 2
    only = call(sessions, "get_session_traces", session_id=started["session_id"], tool_filter=["search_text"])
    assert only["total_count"] == 1


def test_pages_of_a_trace_join_without_gaps(call: Calls, vault: VaultFolder) -> None:
    number = call(sessions, "start_session", caller="me")["session_id"]
    for place in range(5):
        traced(call, f"tool_{place}")
    first = call(sessions, "get_session_traces", session_id=number, limit=3)
    second = call(sessions, "get_session_traces", session_id=number, limit=3, cursor=first["cursor"])
    assert [line["tool"] for line in first["items"] + second["items"]] == [
        f"tool_{place}" for place in range(5)
    ]


def test_a_call_belongs_to_the_session_begun_last_that_was_still_open(
    call: Calls, vault: VaultFolder
) -> None:
    outer = call(sessions, "start_session", caller="me")["session_id"]
    traced(call, "before")
    inner = call(sessions, "start_session", caller="me")["session_id"]
    traced(call, "inside")
    call(sessions, "end_session", session_id=inner)
    traced(call, "after")
    lines = call(sessions, "get_session_traces")["items"]
    expected = [(outer, "before"), (inner, "inside"), (outer, "after")]
    assert [(line["session_id"], line["tool"]) for line in lines] == expected
    alone = call(sessions, "get_session_traces", session_id=outer)["items"]
    assert [line["tool"] for line in alone] == ["before", "after"]


def test_who_calls_without_a_session_has_their_calls_in_the_one_they_began_for_days(
    call: Calls, vault: VaultFolder
) -> None:
    call.caller = Caller("ann", LOCAL, authenticated=True)
    runtime, place = call.runtime(sessions), traces.place(None, call.caller.hash)
    runtime.clock = lambda: 1_800_000_000.0
    started = call(sessions, "start_session", caller="me")
    assert started["trace_path"] == f"traces/caller-{call.caller.hash}.2027-01-15.jsonl"
    traced(call, "read_note", place, 1_800_000_001.0)
    traced(call, "search_text", place, 1_800_100_000.0)
    traced(call, "read_note", traces.place(None, Caller("bob").hash), 1_800_000_002.0)
    runtime.clock = lambda: 1_800_200_000.0
    ended = call(sessions, "end_session", session_id=started["session_id"])
    assert (ended["event_count"], ended["trace_path"][-16:]) == (2, "2027-01-17.jsonl")
    lines = call(sessions, "get_session_traces", session_id=started["session_id"])["items"]
    assert [line["tool"] for line in lines] == ["read_note", "search_text"]


def test_a_line_that_a_kill_cut_off_costs_only_itself(call: Calls, vault: VaultFolder) -> None:
    number = call(sessions, "start_session", caller="me")["session_id"]
    traced(call, "before")
    folder = traces.folder(call.runtime(sessions).settings)
    with (folder / "test.jsonl").open("ab") as file:
        file.write(b'{"ts": 1, "ty\n')
    traced(call, "after")
    lines = call(sessions, "get_session_traces", session_id=number)
    assert [line["tool"] for line in lines["items"]] == ["before", "after"]


def test_a_session_ends_once_and_only_by_who_began_it(call: Calls, vault: VaultFolder) -> None:
    number = call(sessions, "start_session", caller="me")["session_id"]
    call.caller = Caller("eve", frozenset({"write:*", "read:*"}), authenticated=True, session="eve")
    for tool in ("end_session", "get_session_traces"):
        with pytest.raises(ToolError) as refused:
            call(sessions, tool, session_id=number)
        assert refused.value.code == "forbidden"
    assert call(sessions, "get_session_traces")["total_count"] == 0
    call.caller = Caller("test", LOCAL, authenticated=True, session="test")
    call(sessions, "end_session", session_id=number)
    with pytest.raises(ToolError) as refused:
        call(sessions, "end_session", session_id=number)
    assert refused.value.code == "invalid_input"


def test_the_trace_tells_who_began_and_who_ended_as_the_server_saw_them(
    call: Calls, vault: VaultFolder
) -> None:
    started = call(sessions, "start_session", caller="somebody important", session_metadata={"goal": "x"})
    call(sessions, "end_session", session_id=started["session_id"])
    runtime = call.runtime(sessions)
    lines = list(traces.read(runtime.folder / started["trace_path"]))
    assert [(line["type"], line["session_id"], line["caller"]) for line in lines] == [
        ("session_start", started["session_id"], "test"),
        ("session_end", started["session_id"], "test"),
    ]
    assert "important" not in (runtime.folder / started["trace_path"]).read_text()


def test_sessions_survive_the_loss_of_the_index(call: Calls, vault: VaultFolder) -> None:
    number = call(sessions, "start_session", caller="me")["session_id"]
    traced(call, "read_note")
    for one in call.runtime(sessions).vaults:
        one.index.clear()
    assert call(sessions, "get_session_traces", session_id=number)["total_count"] == 1


def test_a_trace_that_retention_removed_leaves_the_session(call: Calls, vault: VaultFolder) -> None:
    started = call(sessions, "start_session", caller="me")
    (call.runtime(sessions).folder / started["trace_path"]).unlink()
    assert call(sessions, "get_session_traces", session_id=started["session_id"])["items"] == []
    assert call(sessions, "end_session", session_id=started["session_id"])["event_count"] == 0


def test_times_bound_what_is_read(call: Calls, vault: VaultFolder) -> None:
    number = call(sessions, "start_session", caller="me")["session_id"]
    traced(call, "read_note")
    for bounds, count in (
        ({"from_": "2020-01-01"}, 1),
        ({"to": "2020-01-01T00:00:00Z"}, 0),
        ({"from_": "2999-01-01T00:00:00+02:00"}, 0),
    ):
        assert call(sessions, "get_session_traces", session_id=number, **bounds)["total_count"] == count
    with pytest.raises(ToolError) as refused:
        call(sessions, "get_session_traces", from_="yesterday")
    assert refused.value.code == "invalid_input"


def test_the_principal_is_who_the_server_observed(call: Calls, vault: VaultFolder) -> None:
    call.caller = Caller(None, LOCAL, authenticated=True)
    with pytest.raises(ToolError) as refused:
        call(sessions, "start_session", caller="somebody important")
    assert refused.value.code == "forbidden"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(sessions)
