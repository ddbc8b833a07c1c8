import json
from functools import partial
from pathlib import Path

import pytest

import knapper_sink_jsonl
from knapper import Caller, Context, Domain
from knapper.caller import LOCAL
from knapper.testing import Calls, VaultFolder
from knapper.traces import file_name

probe = Domain("probe", summary="A tool to watch.")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


@probe.tool("read:notes")
def look(ctx: Context, word: str) -> str:
    """Give a word back."""
    return word


def traces(call: Calls) -> Path:
    return call.runtime(probe).folder / "traces"


def test_each_session_has_a_file_of_its_own_without_arguments_or_answers(
    call: Calls, vault: VaultFolder
) -> None:
    call.plugins.append(knapper_sink_jsonl)
    runtime = call.runtime(probe)
    for session, word in (("one", "secretword"), ("two", "other"), ("one", "third")):
        runtime.call("look", {"word": word}, Caller("ann", LOCAL, authenticated=True, session=session))
    runtime.call("look", {}, Caller("ann", LOCAL, authenticated=True, session="one"))
    runtime.hub.close()
    lines = [json.loads(line) for line in (traces(call) / "one.jsonl").read_text().splitlines()]
    assert [(line["tool"], line["status"], line.get("error_code")) for line in lines] == [
        ("look", "ok", None),
        ("look", "ok", None),
        ("look", "error", "validation_error"),
    ]
    assert lines[0]["caller"] == "ann"
    assert "secretword" not in (traces(call) / "one.jsonl").read_text()
    assert len((traces(call) / "two.jsonl").read_text().splitlines()) == 1


def test_who_calls_without_a_session_has_a_file_for_each_day(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_jsonl)
    runtime = call.runtime(probe)
    ann, bob = (Caller(name, LOCAL, authenticated=True) for name in ("ann", "bob"))
    for day, caller in ((1, ann), (1, bob), (2, ann)):
        runtime.clock = partial(float, 86_400 * day)
        runtime.call("look", {"word": "x"}, caller)
    runtime.hub.close()
    assert {file.name for file in traces(call).iterdir() if file.name.startswith("caller-")} == {
        f"caller-{ann.hash}.1970-01-02.jsonl",
        f"caller-{bob.hash}.1970-01-02.jsonl",
        f"caller-{ann.hash}.1970-01-03.jsonl",
    }


def test_a_session_name_cannot_leave_the_folder() -> None:
    assert file_name("../../etc/passwd", 0) == "_.._etc_passwd.jsonl"
    assert file_name("...", 0) == "_.jsonl"
    assert file_name("server", 0) == "server.1970-01-01.jsonl"


@needs_full
def test_a_full_disk_costs_lines_and_no_call(call: Calls, vault: VaultFolder) -> None:
    """/dev/full takes nothing: every write to it says that the disk is full."""
    call.plugins.append(knapper_sink_jsonl)
    runtime = call.runtime(probe)
    (traces(call) / "full.jsonl").symlink_to("/dev/full")
    caller = Caller("ann", LOCAL, authenticated=True, session="full")
    answers = [runtime.call("look", {"word": "x"}, caller).payload for _ in range(20)]
    (lane,) = runtime.hub.lanes
    assert lane.drain(10)
    assert (answers, lane.failed, lane.dropped) == ([b'{"result":"x"}'] * 20, 20, 0)
    runtime.call("look", {"word": "x"}, Caller("ann", LOCAL, authenticated=True, session="other"))
    assert lane.drain(10)
    assert len((traces(call) / "other.jsonl").read_text().splitlines()) == 1


def test_more_sessions_than_files_may_be_open_have_a_file_each(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_jsonl)
    runtime = call.runtime(probe)
    names = [f"s{number % 40}" for number in range(120)]
    for name in names:
        runtime.call("look", {"word": "x"}, Caller("ann", LOCAL, authenticated=True, session=name))
    (lane,) = runtime.hub.lanes
    assert lane.drain(10)
    assert (lane.failed, lane.dropped) == (0, 0)
    assert {len((traces(call) / f"{name}.jsonl").read_text().splitlines()) for name in names} == {3}


def test_a_trace_that_is_removed_between_calls_begins_anew(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_jsonl)
    runtime = call.runtime(probe)
    (lane,) = runtime.hub.lanes
    for _ in range(2):
        runtime.call("look", {"word": "x"}, Caller("ann", LOCAL, authenticated=True, session="one"))
        assert lane.drain(10)
        assert len((traces(call) / "one.jsonl").read_text().splitlines()) == 1
        (traces(call) / "one.jsonl").unlink()


def test_it_can_be_switched_off(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_jsonl)
    call.settings["observability"] = {"jsonl": False}
    assert call.runtime(probe).hub.lanes == []
