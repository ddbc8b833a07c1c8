"""The contract on the wire: a real server process, spoken to line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper.testing import VaultFolder
from tests.obsidian.conftest import SERVE, Start
from tests.server.conftest import Pipe

SECONDS = 60.0
WAIT = "import sys; open(sys.argv[1], 'w').write('here'); open(sys.argv[2]).read()"
posix = pytest.mark.skipif(os.name != "posix", reason="named pipes and signals are POSIX's")


def data(answer: Any) -> Any:
    """The data of a success, from the text that the contract puts it in."""
    (item,) = answer["result"]["content"]
    assert item["type"] == "text"
    content = json.loads(item["text"])
    assert content["success"] is True
    return content["data"]


def test_initialize_is_answered_in_the_revision_of_the_contract(serve: Start) -> None:
    result = serve().initialize("2024-11-05")["result"]
    assert result["protocolVersion"] == "2024-11-05"
    assert "tools" in result["capabilities"]
    assert set(result["serverInfo"]) >= {"name", "version"}


def test_every_line_of_the_output_is_one_object_whatever_is_in_a_note(
    vault: VaultFolder, tmp_path: Path
) -> None:
    content = "one\ntwo\r\nthree\u2028four\x85"
    called = [
        ("obsidian_create_note", {"name": "Lines", "content": content}),
        ("obsidian_read_note", {"file": "Lines"}),
        ("obsidian_read_note", {"path": "Gone\u2028.md"}),
    ]
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}}},
        {"method": "notifications/initialized"},
        *(
            {"id": n, "method": "tools/call", "params": {"name": t, "arguments": a}}
            for n, (t, a) in enumerate(called, 1)
        ),
    ]
    env = {
        **os.environ,
        "KNAPPER_CACHE_DIR": str(tmp_path / "cache"),
        "KNAPPER_PLUGINS__ONLY": '["obsidian"]',
    }
    with subprocess.Popen(
        [*SERVE, str(vault.path)],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines: list[bytes] = []
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            while "id" in message and not (lines and json.loads(lines[-1]).get("id") == message["id"]):
                lines.append(process.stdout.readline())
        process.stdin.close()
        lines += process.stdout.readlines()
    assert all(line.endswith(b"}\n") and line.count(b"\n") == 1 for line in lines)
    answers = {one["id"]: one for line in lines if "id" in (one := json.loads(line))}
    assert data(answers[2]) == {"path": "Lines.md", "content": content}
    assert answers[3]["error"]["data"]["errorCode"] == "FILE_NOT_FOUND"


def test_a_reply_can_be_read_before_the_next_request_is_sent(serve: Start, vault: VaultFolder) -> None:
    one = serve()
    one.initialize("2024-11-05")
    for n in range(1, 6):
        assert data(one.call(n, "obsidian_create_note", name=f"Note {n}"))["path"] == f"Note {n}.md"
        assert data(one.call(f"r{n}", "obsidian_read_note", file=f"Note {n}"))["content"] == ""


def test_a_call_before_the_handshake_is_an_error_and_the_server_goes_on(
    serve: Start, vault: VaultFolder
) -> None:
    one = serve()
    assert one.call(1, "obsidian_create_note", name="Early")["error"]["code"] == -32600
    assert list(vault) == []
    assert one.initialize("2024-11-05")["result"]["protocolVersion"] == "2024-11-05"


def test_there_are_nine_tools_and_create_needs_only_a_name(serve: Start) -> None:
    one = serve()
    one.initialize("2024-11-05")
    listed = {tool["name"]: tool for tool in one.ask(1, "tools/list")["result"]["tools"]}
    assert sorted(listed) == [
        "obsidian_append_note",
        "obsidian_create_note",
        "obsidian_delete_note",
        "obsidian_file_info",
        "obsidian_move_note",
        "obsidian_open_note",
        "obsidian_prepend_note",
        "obsidian_read_note",
        "obsidian_rename_note",
    ]
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in listed.values())
    assert listed["obsidian_create_note"]["inputSchema"]["required"] == ["name"]


def test_an_answer_is_one_text_with_success_and_data(serve: Start, vault: VaultFolder) -> None:
    one = serve()
    one.initialize("2024-11-05")
    result = one.call(1, "obsidian_create_note", name="Cook/Soup", content="s")["result"]
    assert [json.loads(item["text"]) for item in result["content"]] == [
        {"success": True, "data": {"path": "Cook/Soup.md", "created": True}}
    ]
    assert not result.get("isError")
    assert vault["Cook/Soup.md"] == "s"


def test_a_failure_is_an_error_of_the_protocol_with_its_name(serve: Start) -> None:
    one = serve()
    one.initialize("2024-11-05")
    error = one.call(1, "obsidian_read_note", path="Gone.md")["error"]
    assert (error["code"], error["message"]) == (-32003, "there is no file at 'Gone.md'")
    assert error["data"]["errorCode"] == "FILE_NOT_FOUND"


def test_each_mistake_of_a_client_has_its_number(serve: Start) -> None:
    one = serve()
    one.initialize("2024-11-05")
    one.raw(b'{"jsonrpc": "2.0", "id": 1,')
    answer = one.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    one.send({"jsonrpc": "2.0", "id": 2})
    assert one.read()["error"]["code"] == -32600
    assert one.ask(3, "obsidian/nothing")["error"]["code"] == -32601
    error = one.call(4, "obsidian_create_note", name=5)["error"]
    assert (error["code"], error["data"]["issues"][0]["field"]) == (-32602, "name")
    assert data(one.call(5, "obsidian_create_note", name="Still"))["created"] is True


def test_a_folder_that_the_system_protects_is_a_denial(
    serve: Start, vault: VaultFolder, powerless: list[str]
) -> None:
    vault["Closed/a.md"] = "a"
    (vault.path / "Closed").chmod(0o555)
    try:
        one = serve(before=powerless)
        one.initialize("2024-11-05")
        errors = [
            one.call(1, "obsidian_create_note", name="Closed/b")["error"],
            one.call(2, "obsidian_append_note", path="Closed/a.md", content="x")["error"],
        ]
    finally:
        (vault.path / "Closed").chmod(0o755)
    assert [(e["code"], e["data"]["errorCode"]) for e in errors] == [(-32005, "PERMISSION_DENIED")] * 2
    assert dict(vault) == {"Closed/a.md": "a"}


class Held:
    """A server in which a call is under way until it is let go."""

    def __init__(self, serve: Start, folder: Path) -> None:
        self._here, self._go = folder / "here", folder / "go"
        os.mkfifo(self._here)
        os.mkfifo(self._go)
        opener = json.dumps([sys.executable, "-c", WAIT, str(self._here), str(self._go)])
        self.pipe: Pipe = serve(
            "--set", f"obsidian.opener={opener}", "--set", "obsidian.timeouts.obsidian_open_note=100"
        )
        self.pipe.initialize("2024-11-05")
        arguments = {"name": "obsidian_open_note", "arguments": {"path": "a.md"}}
        self.pipe.send({"jsonrpc": "2.0", "id": "held", "method": "tools/call", "params": arguments})
        assert self._here.read_text() == "here"

    def let_go(self) -> None:
        self._go.write_text("go")


ENDS: dict[str, Callable[[Pipe], Any]] = {
    "exit": lambda one: one.notify("exit"),
    "end of input": lambda one: one._in.close(),
    "SIGTERM": lambda one: one.process.send_signal(signal.SIGTERM),
    "SIGINT": lambda one: one.process.send_signal(signal.SIGINT),
}


@posix
@pytest.mark.parametrize("end", ENDS)
def test_what_runs_is_answered_before_the_server_ends(
    serve: Start, vault: VaultFolder, tmp_path: Path, end: str
) -> None:
    vault["a.md"] = "a"
    held = Held(serve, tmp_path)
    ENDS[end](held.pipe)
    held.let_go()
    (answer,) = held.pipe.rest()
    assert (answer["id"], data(answer)["opened"]) == ("held", True)
    assert held.pipe.process.wait(SECONDS) == 0


@posix
def test_no_call_starts_once_the_end_has_been_announced(
    serve: Start, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["a.md"] = "a"
    held = Held(serve, tmp_path)
    held.pipe.notify("exit")
    late = held.pipe.call("late", "obsidian_create_note", name="Late")
    assert (late["id"], "error" in late) == ("late", True)
    held.let_go()
    assert [answer["id"] for answer in held.pipe.rest()] == ["held"]
    assert held.pipe.process.wait(SECONDS) == 0
    assert dict(vault) == {"a.md": "a"}


def test_what_was_sent_before_the_input_ended_is_answered(serve: Start, vault: VaultFolder) -> None:
    one = serve()
    one.initialize("2024-11-05")
    for n in range(10):
        arguments = {"name": "obsidian_create_note", "arguments": {"name": f"Note {n}"}}
        one.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": arguments})
    assert one.leave() == 0
    assert {answer["id"]: data(answer)["path"] for answer in one.rest()} == {
        n: f"Note {n}.md" for n in range(10)
    }
    assert len(vault) == 10


def test_the_log_never_holds_the_text_of_a_note(serve: Start, vault: VaultFolder) -> None:
    secret = "XSECRETX"
    vault["a.md"] = f"{secret} one"
    one = serve("--set", "observability.log_level=info")
    one.initialize("2024-11-05")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"name": "b", "content": f"{secret} two"}),
        ("create_note", {"name": "b", "content": f"{secret} three"}),
        ("create_note", {"name": "b", "content": f"{secret} three", "overwrite": True}),
        ("append_note", {"file": "a", "content": f"{secret} four"}),
        ("append_note", {"file": "none", "content": f"{secret} five"}),
        ("append_note", {"file": "a", "content": {"text": secret}}),
        ("read_note", {"file": "a"}),
        ("rename_note", {"file": "a", "name": "c"}),
    ]
    for n, (tool, arguments) in enumerate(calls, 1):
        assert one.call(n, f"obsidian_{tool}", **arguments)["id"] == n
    assert one.leave() == 0
    assert secret not in one.stderr()
