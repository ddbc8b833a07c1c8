"""Our stdio edge, line by line: what it answers, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Pipe, Place, envelope

Start = Callable[..., Pipe]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_older_revision_is_agreed_on(pipe: Start, version: str) -> None:
    result = pipe().initialize(version)["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "knapper"
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
    }


def test_an_unknown_revision_is_answered_with_our_latest_of_that_era(pipe: Start) -> None:
    assert pipe().initialize("1999-01-01")["result"]["protocolVersion"] == "2025-11-25"


def test_a_strict_server_refuses_older_and_missing_revisions(pipe: Start) -> None:
    one = pipe("--set", "mcp.min_protocol_version=2025-03-26")
    old = one.initialize("2024-11-05")
    assert old["error"]["code"] == -32600
    assert old["error"]["data"]["supported"] == ["2025-03-26", "2025-06-18", "2025-11-25"]
    assert one.ask(1, "initialize", capabilities={}, clientInfo={})["error"]["code"] == -32600
    assert one.initialize("2025-03-26")["result"]["protocolVersion"] == "2025-03-26"


@pytest.mark.parametrize("asked", ["2026-07-28", "2027-01-01", "later"])
def test_a_strict_server_does_not_agree_on_an_older_revision_than_was_asked_for(
    pipe: Start, asked: str
) -> None:
    one = pipe("--set", "mcp.min_protocol_version=2026-07-28")
    assert one.initialize(asked)["error"]["code"] == -32600


def test_a_revision_that_there_is_not_cannot_be_the_lowest(pipe: Start) -> None:
    one = pipe("--set", "mcp.min_protocol_version=latest")
    assert "mcp.min_protocol_version" in one.initialize()["error"]["message"]
    assert one.process.wait(30) == 2


def test_modern_requests_are_served_where_only_they_are(pipe: Start) -> None:
    strict = ("--set", "mcp.min_protocol_version=2026-07-28")
    assert pipe(*strict).initialize("2025-11-25")["error"]["code"] == -32600
    assert pipe(*strict).call(1, "add_numbers", _meta=envelope(), a=1, b=1)["result"]["isError"] is False


def test_malformed_json_is_answered_and_the_session_goes_on(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    for line in (b"{", b"\xff\xfe", b"[" * 100_000):
        one.raw(line)
        answer = one.read()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert one.ask(1, "ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ([], -32600),
        (1, -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "nonsense"}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x"}}, -32602),
    ],
)
def test_what_is_not_a_request_is_refused_by_its_code(pipe: Start, message: Any, code: int) -> None:
    one = pipe()
    one.initialize()
    one.send(message)
    assert one.read()["error"]["code"] == code


def test_odd_ids_of_what_needs_no_answer_do_not_end_the_session(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    running = one.call(1, "take_time", _meta={"progressToken": 1}, seconds=60)
    assert running["method"] == "notifications/progress"
    for odd in ([1], {"a": 1}, 1.0, True, None):
        one.notify("notifications/cancelled", requestId=odd)
        one.send({"jsonrpc": "2.0", "id": odd, "result": {}})
    one.notify("notifications/cancelled")
    one.send({"jsonrpc": "2.0", "id": 2**70, "method": "ping"})
    while (answer := one.read()).get("method"):
        assert answer["method"] == "notifications/progress"
    assert answer == {"jsonrpc": "2.0", "id": 2**70, "result": {}}
    one.send({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "running_now"}})
    while (answer := one.read()).get("method"):
        pass
    assert answer["result"]["structuredContent"] == {"result": ["take_time"]}
    one.notify("notifications/cancelled", requestId=1)
    assert one.leave() == 0


def test_what_a_tool_says_on_the_way_is_told_from_the_level_that_was_asked_for(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    assert (
        one.call(1, "murmur", level="debug")["id"] == 1
    )  # where nothing was asked for, information and worse
    assert one.call(2, "murmur", level="info") == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "logger": "murmur", "data": "a info on the way"},
    }
    assert one.read()["id"] == 2
    assert one.ask(3, "logging/setLevel", level="error")["result"] == {}
    assert one.call(4, "murmur", level="warning")["id"] == 4
    assert one.call(5, "murmur", level="critical")["params"]["level"] == "critical"
    assert one.read()["id"] == 5
    assert one.ask(6, "logging/setLevel", level="loud")["error"]["code"] == -32602


def test_a_modern_client_asks_for_a_level_with_each_call(pipe: Start) -> None:
    one = pipe()
    level = {"io.modelcontextprotocol/logLevel": "info"}
    assert one.call(1, "murmur", _meta=envelope(), level="error")["id"] == 1
    assert one.call(2, "murmur", _meta=envelope(**level), level="error")["params"]["level"] == "error"
    assert one.read()["id"] == 2


def test_nothing_but_ping_is_answered_before_the_handshake(pipe: Start) -> None:
    one = pipe()
    assert one.ask(1, "ping")["result"] == {}
    assert one.ask(2, "tools/list")["error"]["code"] == -32600


def test_a_batch_is_answered_in_order_and_a_bad_item_sinks_nothing(pipe: Start) -> None:
    one = pipe()
    one.initialize("2025-03-26")
    one.send(
        [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "1.0", "id": "b", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}},
            {
                "jsonrpc": "2.0",
                "id": "c",
                "method": "tools/call",
                "params": {"name": "add_numbers", "arguments": {"a": 2, "b": 3}},
            },
            {"jsonrpc": "2.0", "id": "d", "method": "initialize", "params": {}},
        ]
    )
    answers = one.read()
    assert [(a["id"], "result" in a) for a in answers] == [
        ("a", True),
        ("b", False),
        ("c", True),
        ("d", False),
    ]
    assert answers[2]["result"]["structuredContent"] == {"result": 5}


def test_revisions_without_batches_refuse_them(pipe: Start) -> None:
    one = pipe()
    one.initialize("2025-06-18")
    one.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}])
    assert one.read()["error"]["code"] == -32600


def test_a_modern_request_needs_its_envelope(pipe: Start) -> None:
    one = pipe()
    found = one.ask(1, "server/discover", _meta=envelope())["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert (found["resultType"], found["ttlMs"], found["cacheScope"]) == ("complete", 0, "private")
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "knapper"
    assert one.ask(2, "tools/list")["error"]["code"] == -32602
    other = one.ask(
        3, "tools/list", _meta=envelope(**{"io.modelcontextprotocol/protocolVersion": "2030-01-01"})
    )
    assert other["error"]["code"] == -32022
    assert other["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}
    assert one.initialize()["error"]["code"] == -32601
    assert one.ask(4, "ping", _meta=envelope())["error"]["code"] == -32601


def test_a_handshake_connection_refuses_modern_requests(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    assert one.ask(1, "tools/list", _meta=envelope())["error"]["code"] == -32600


def test_standard_output_carries_messages_only_whatever_a_plugin_prints(pipe: Start) -> None:
    one = pipe("--log-level", "debug")
    one.initialize()
    assert one.call(1, "shout", text="not a message")["result"]["structuredContent"] == {"result": "printed"}
    assert one.leave() == 0
    assert one.rest() == []
    assert one.stderr().count("not a message") == 2


def test_an_unexpected_failure_is_told_without_its_details(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    result = one.call(1, "fail_inside")["result"]
    assert result["isError"] is True
    text = "Error [internal]: internal error (retryable)\nTry again; then tell the operator."
    assert result["content"] == [{"type": "text", "text": text}]
    one.leave()
    told = one.stderr()
    assert "fail_inside failed inside (ZeroDivisionError at " in told
    assert "a secret detail" not in told


def test_an_error_names_its_code_and_every_issue_in_words(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    result = one.call(1, "add_numbers", a="x", c=1)["result"]
    assert result["isError"] is True
    said, recovery = result["content"][0]["text"].splitlines()
    for issue in ("c: is not a parameter", "a: Expected 'int', got 'str'", "b: is required"):
        assert said.count(issue) == 1
    assert recovery == "Correct the fields named in details.issues."
    assert result["structuredContent"]["code"] == "validation_error"
    assert result["structuredContent"]["recovery"] == "Correct the fields named in details.issues."


def test_a_slow_tool_does_not_stall_another(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    one.send(
        {
            "jsonrpc": "2.0",
            "id": "slow",
            "method": "tools/call",
            "params": {"name": "take_time", "arguments": {"seconds": 30}},
        }
    )
    assert one.call("fast", "add_numbers", a=1, b=1)["id"] == "fast"
    one.notify("notifications/cancelled", requestId="slow")
    assert one.leave() == 0


def test_a_cancelled_call_stops_and_is_not_answered(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    token = {"progressToken": "t"}
    started = one.call("slow", "take_time", _meta=token, seconds=60)
    assert started["method"] == "notifications/progress"
    one.notify("notifications/cancelled", requestId="slow", reason="enough")
    assert one.leave() == 0  # at once: the minute that the tool would take is not waited for
    assert [m for m in one.rest() if "id" in m] == []


def test_progress_is_told_where_it_was_asked_for_and_only_grows(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    seen = [one.call(1, "take_time", _meta={"progressToken": 7}, seconds=0.2)]
    while "id" not in seen[-1]:
        seen.append(one.read())
    steps = [m["params"]["progress"] for m in seen[:-1]]
    assert {m["params"]["progressToken"] for m in seen[:-1]} == {7}
    assert len(steps) >= 2
    assert steps == sorted(set(steps))


def test_a_reused_id_is_refused_while_its_request_runs(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    started = one.call("x", "take_time", _meta={"progressToken": 1}, seconds=30)
    assert started["method"] == "notifications/progress"
    one.send({"jsonrpc": "2.0", "id": "x", "method": "ping"})
    while (answer := one.read()).get("method"):
        pass
    assert answer["error"]["code"] == -32600
    one.notify("notifications/cancelled", requestId="x")
    one.leave()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("end", ["eof", "SIGTERM", "SIGINT", "exit"])
def test_what_runs_is_finished_and_what_is_new_is_refused(pipe: Start, end: str) -> None:
    one = pipe()
    one.initialize()
    started = one.call("slow", "take_time", _meta={"progressToken": 1}, seconds=1)
    assert started["method"] == "notifications/progress"
    if end == "eof":
        code = one.leave()
    else:
        if end == "exit":
            one.notify("exit")
        else:
            one.process.send_signal(getattr(signal, end))
            while one.ask("probe", "ping").get("error", {}).get("code") != -32000:
                pass
        code = one.process.wait(30)
    answers = {m["id"]: m for m in one.rest() if "id" in m}
    assert code == 0
    assert answers["slow"]["result"]["structuredContent"] == {"result": "done"}


def test_a_second_signal_does_not_wait_for_what_runs(pipe: Start) -> None:
    one = pipe()
    one.initialize()
    assert one.call("slow", "take_time", _meta={"progressToken": 1}, seconds=60)["method"]
    one.process.send_signal(signal.SIGTERM)
    while one.ask("probe", "ping").get("error", {}).get("code") != -32000:
        pass
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(30) == 0


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs to wait for a process that is not its child")
def test_the_server_ends_when_its_parent_dies_and_leaves_the_pipe_open(place: Place) -> None:
    """The parent is killed; a sibling still holds the pipe, so no end of input ever comes. What runs is finished."""
    first = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "take_time", "arguments": {"seconds": 2}, "_meta": {"progressToken": 1}}
    messages = "".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\n"
        for n, (method, params) in enumerate({"initialize": first, "tools/call": call}.items())
    )
    script = (
        "import os, subprocess, sys, time\n"
        "r, w = os.pipe()\n"
        "os.set_inheritable(w, True)\n"
        "holder = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], close_fds=False)\n"
        f"server = subprocess.Popen({place.command!r}, stdin=r, stdout=subprocess.PIPE)\n"
        f"os.write(w, {messages.encode()!r})\n"
        "while b'notifications/progress' not in server.stdout.readline():\n    pass\n"
        "print(server.pid, holder.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], env=place.env, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    server, holder = map(int, parent.stdout.readline().split())
    try:
        ended = os.pidfd_open(server)
        parent.kill()
        assert select.select([ended], [], [], 30)[0], "the server outlived its parent"
    finally:
        parent.kill()
        parent.wait()
        os.kill(holder, signal.SIGKILL)
    (state,) = Path(place.env["KNAPPER_CACHE_DIR"]).rglob("state.db")
    with closing(sqlite3.connect(state)) as db:
        done = db.execute("SELECT tool, status FROM event_log WHERE tool IS NOT NULL").fetchall()
    assert done == [("take_time", "ok")]


def test_a_wrong_configuration_is_told_and_exits_2(pipe: Start) -> None:
    one = pipe("--set", "tool_facade.mode=pyramid")
    answer = one.initialize()
    assert answer["error"]["code"] == -32603
    assert "tool_facade.mode" in answer["error"]["message"]
    assert one.process.wait(30) == 2
    assert "knapper: tool_facade.mode" in one.stderr()


def test_a_wrong_option_prints_the_usage_and_exits_2(pipe: Start) -> None:
    one = pipe("--wrong")
    assert one.process.wait(30) == 2
    assert one.stderr().startswith("knapper: what is '--wrong'?\nusage: knapper serve")


@pytest.mark.parametrize(("given", "expected"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_a_question_is_computed_by_one_thread_unless_the_starter_says_otherwise(
    place: Place, given: dict[str, str], expected: str
) -> None:
    program = (
        "import os, sys; from knapper.cli.serve import serve; code = serve(sys.argv[1:]); "
        "sys.stderr.write(os.environ['OPENBLAS_NUM_THREADS']); sys.exit(code)"
    )
    options = [str(place.vault), "--set", "transports.stdio=false"]
    env = {k: v for k, v in place.env.items() if k != "OPENBLAS_NUM_THREADS"} | given
    done = subprocess.run(
        [sys.executable, "-c", program, *options], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr[-1]) == (1, expected)
