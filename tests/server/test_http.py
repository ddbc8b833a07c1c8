"""The HTTP edge as a stranger meets it: guards, sessions, streams, limits, and its end."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper.server.http.events import MOST
from tests.server.conftest import Place, Web, data_of, envelope

Start = Callable[..., Web]
KEY = "k" * 40
WITH_KEY = {"KNAPPER_API_KEY": KEY, "KNAPPER_PLUGINS__ONLY": '["fixtures", "verifier-apikey"]'}


def posted(web: Web, method: str, id: int = 1, _session: str = "", **params: Any) -> tuple[int, Any]:
    """A request in a session of the older era, and the last message of its answer."""
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    status, _, content = web.request(body=body, Mcp_Session_Id=_session, MCP_Protocol_Version="2025-11-25")
    return status, data_of(content)


def greeted(web: Web) -> tuple[int, str]:
    """The first half of a handshake: its status, and the id of the session that it opened."""
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}
    status, headers, _ = web.request(body=body)
    return status, headers.get("mcp-session-id", "")


def test_the_ready_line_names_the_port_that_was_taken(web: Start) -> None:
    one = web()
    assert one.errors[-1].strip().endswith(f"listening on http://127.0.0.1:{one.port}/mcp")
    assert one.request("GET", "/healthz")[0] == 200


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"Host": "evil.example"}, "host not allowed"),
        ({"Host": "evil.example:8765"}, "host not allowed"),
        ({"Host": "127.0.0.1.evil.example"}, "host not allowed"),
        ({"Host": "0.0.0.0"}, "host not allowed"),
        ({"Host": "[::1].evil.example"}, "host not allowed"),
        ({"Host": "[::1"}, "host not allowed"),
        ({"Origin": "http://evil.example"}, "origin not allowed"),
        ({"Origin": "null"}, "origin not allowed"),
        ({"Host": "localhost", "Origin": "http://127.0.0.1"}, "origin not allowed"),
    ],
)
def test_requests_from_elsewhere_are_refused_before_anything_else(
    web: Start, headers: dict[str, str], says: str
) -> None:
    one = web("--set", "auth.mode=apikey", **WITH_KEY)
    for path in ("/mcp", "/healthz", "/anything"):
        status, _, content = one.request(path=path, body={}, **headers)
        assert (status, json.loads(content)["error"]) == (403, {"code": -32000, "message": says})


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost:1"},
        {"Host": "[::1]:8765"},
        {"Host": "127.3.2.1"},
        {"Host": "Friend.Example:99"},
        {"Host": "localhost", "Origin": "http://localhost:3000"},
        {"Host": "localhost", "Origin": "https://app.example"},
    ],
)
def test_this_machine_and_what_is_allowed_may_ask(web: Start, headers: dict[str, str]) -> None:
    allowed = ["--set", 'transports.http.allowed_hosts=["friend.example"]']
    allowed += ["--set", 'transports.http.allowed_origins=["https://app.example"]']
    status, answer = web(*allowed).modern("tools/list", headers)
    assert (status, "result" in answer) == (200, True)


def test_a_browser_page_that_is_allowed_can_read_the_answer(web: Start) -> None:
    one = web("--set", 'transports.http.allowed_origins=["https://app.example"]')
    asked = {"Origin": "https://app.example", "Access_Control_Request_Headers": "mcp-session-id"}
    status, headers, _ = one.request("OPTIONS", **asked)
    assert status == 204
    assert headers["access-control-allow-origin"] == "https://app.example"
    assert headers["access-control-allow-headers"] == "mcp-session-id"


def test_a_bearer_is_needed_where_one_is_configured_and_every_failure_reads_the_same(web: Start) -> None:
    one = web(
        "--set",
        "auth.mode=apikey",
        **WITH_KEY,
    )
    status, headers, content = one.request(body={})
    assert (status, json.loads(content)["error"]) == (
        401,
        {"code": -32001, "message": "missing bearer token"},
    )
    assert headers["www-authenticate"] == 'Bearer realm="knapper"'
    for wrong in ("Bearer nope", "Bearer ", "Basic abc", f"Bearer {KEY[:-1]}"):
        status, _, content = one.request(body={}, Authorization=wrong)
        assert status == 401
        assert json.loads(content)["error"]["message"] in ("invalid or expired token", "missing bearer token")
    status, answer = one.modern(
        "tools/call", {"Authorization": f"Bearer {KEY}"}, name="add_numbers", arguments={"a": 1, "b": 2}
    )
    assert (status, answer["result"]["structuredContent"]) == (200, {"result": 3})
    one.stop()
    assert any("bearer refused: bad_signature" in line for line in one.errors)
    assert KEY not in "".join(one.errors)


def test_where_no_key_was_configured_one_is_made_and_nobody_comes_in_without_it(
    web: Start, place: Place
) -> None:
    one = web("--set", "auth.mode=apikey", KNAPPER_PLUGINS__ONLY='["fixtures", "verifier-apikey"]')
    assert one.modern("tools/list")[0] == 401
    key = Path(place.env["KNAPPER_CACHE_DIR"], "api-key").read_text()
    status, answer = one.modern("tools/list", {"Authorization": f"Bearer {key}"})
    assert (status, "result" in answer) == (200, True)


def test_clients_learn_where_tokens_come_from(web: Start) -> None:
    one = web(
        *("--set", "auth.mode=apikey", "--set", "auth.resource=https://vault.example/mcp"),
        *(
            "--set",
            'auth.authorization_servers=["https://id.example"]',
            "--set",
            'auth.scopes_supported=["read:notes"]',
        ),
        **WITH_KEY,
    )
    found = {
        "resource": "https://vault.example/mcp",
        "authorization_servers": ["https://id.example"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read:notes"],
    }
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        status, _, content = one.request("GET", path)
        assert (status, json.loads(content)) == (200, found)
    assert one.request(body={})[1]["www-authenticate"] == (
        'Bearer realm="knapper", '
        'resource_metadata="https://vault.example/.well-known/oauth-protected-resource", scope="read:notes"'
    )


def test_without_authorisation_servers_there_is_no_metadata(web: Start) -> None:
    assert web().request("GET", "/.well-known/oauth-protected-resource")[0] == 404


def test_an_unknown_verifier_stops_the_start(place: Place) -> None:
    ended = subprocess.run(
        [*place.command, "--port", "0", "--set", "auth.mode=magic"],
        env=place.env,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 2
    assert b"no installed plugin provides the verifier 'magic'" in ended.stderr


def test_a_port_that_is_taken_is_a_failure_that_says_what_to_do(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*place.command, "--port", port], env=place.env, capture_output=True, text=True, check=False
        )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"knapper: port {port} of 127.0.0.1 is taken by another program, maybe another knapper; "
        "stop that one, or choose a port: --port or transports.http.port\n"
    )


def test_an_address_of_another_machine_is_a_failure_that_says_what_to_do(place: Place) -> None:
    words = [*place.command, "--host", "192.0.2.1", "--port", "0", "--set", "auth.mode=apikey"]
    ended = subprocess.run(words, env=place.env | WITH_KEY, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    problem = "'192.0.2.1' is not an address of this machine"
    assert ended.stderr == f"knapper: {problem}; choose one that is: --host or transports.http.host\n"


def test_a_session_is_opened_used_and_deleted(web: Start) -> None:
    one = web()
    session = one.opened()
    assert posted(one, "ping", _session=session)[1]["result"] == {}
    status, answer = posted(
        one, "tools/call", _session=session, name="add_numbers", arguments={"a": 1, "b": 1}
    )
    assert (status, answer["result"]["structuredContent"]) == (200, {"result": 2})
    assert one.request("DELETE", Mcp_Session_Id=session)[0] == 204
    assert posted(one, "ping", _session=session)[0] == 404


def test_what_belongs_to_no_session_is_refused(web: Start) -> None:
    one = web()
    assert posted(one, "ping", _session="0123")[0] == 404
    assert one.request(body={"jsonrpc": "2.0", "id": 1, "method": "ping"})[0] == 400


def test_a_session_that_nobody_uses_grows_old_and_is_forgotten(web: Start) -> None:
    one = web("--set", "transports.http.session_idle_seconds=1", "--set", "transports.http.max_sessions=1")
    _, session = greeted(one)
    while (status := greeted(one)[0]) == 503:  # there is room for another as soon as it is gone
        pass
    assert status == 200
    assert posted(one, "ping", _session=session)[0] == 404


def test_malformed_json_is_400_and_the_session_goes_on(web: Start) -> None:
    one = web()
    session = one.opened()
    status, _, content = one.request(body=b"{", Mcp_Session_Id=session)
    assert (status, json.loads(content)["error"]["code"]) == (400, -32700)
    assert posted(one, "ping", _session=session)[1]["result"] == {}
    status, _, content = one.request(body=b"{", MCP_Protocol_Version="2026-07-28", Mcp_Method="ping")
    assert (status, json.loads(content)["error"]["code"]) == (400, -32700)


def test_a_batch_is_refused_over_http_in_every_era(web: Start) -> None:
    one = web()
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    for headers in (
        {"Mcp_Session_Id": one.opened("2025-03-26")},
        {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "ping"},
    ):
        status, _, content = one.request(body=batch, **headers)
        assert (status, json.loads(content)["error"]["code"]) == (400, -32600)


def test_an_unexpected_failure_is_told_without_its_details_here_too(web: Start, place: Place) -> None:
    one = web()
    (Path(place.env["KNAPPER_CACHE_DIR"]) / "request-state.key").mkdir()
    _, told = one.modern("tools/call", name="shout", arguments={"text": "x"}, requestState="A" * 64)
    assert told["error"] == {"code": -32603, "message": "Internal error"}


def test_a_strict_server_refuses_older_revisions_here_too(web: Start) -> None:
    one = web("--set", "mcp.min_protocol_version=2025-06-18", "--set", "transports.http.max_sessions=1")
    old = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    for params in (old, {}):
        body = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}
        status, headers, content = one.request(body=body)
        assert (status, "mcp-session-id" in headers) == (400, False)
        assert (json.loads(content)["id"], json.loads(content)["error"]["code"]) == ("i", -32600)
    add: dict[str, Any] = {"name": "add_numbers", "arguments": {"a": 1, "b": 1}}
    assert one.modern("tools/call", **add)[1]["result"]["structuredContent"] == {"result": 2}
    assert one.request(body={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": add})[0] == 400
    assert one.opened("2025-06-18")  # the only session there may be was not spent on them


def test_a_body_over_the_limit_is_413_in_both_eras(web: Start) -> None:
    one = web("--set", "transports.http.max_body_bytes=2000")
    large = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * 3000}}
    assert one.request(body=large)[0] == 413
    assert one.request(body=large, MCP_Protocol_Version="2026-07-28", Mcp_Method="ping")[0] == 413


def test_sessions_over_the_limit_are_refused_until_one_ends(web: Start) -> None:
    one = web("--set", "transports.http.max_sessions=1")
    session = one.opened()
    assert greeted(one)[0] == 503
    one.request("DELETE", Mcp_Session_Id=session)
    assert one.opened()


def test_a_session_of_one_caller_is_nothing_to_another(web: Start, place: Place) -> None:
    (place.site / "two_keys.py").write_text(
        "from knapper import Caller, Rejected, Verifier, hookimpl\n"
        "def build(settings):\n"
        "    def verify(bearer):\n"
        "        if bearer not in ('ann', 'bob'):\n            raise Rejected('malformed')\n"
        "        return Caller(bearer, frozenset({'*'}), authenticated=True)\n"
        "    return verify\n"
        "@hookimpl\ndef knapper_verifiers():\n    return Verifier('two', build)\n"
    )
    info = place.site / "two_keys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two-keys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[knapper]\ntwo = two_keys\n")
    one = web("--set", "auth.mode=two", KNAPPER_PLUGINS__ONLY='["fixtures","two"]')
    session = one.opened(Authorization="Bearer ann")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert one.request(body=ping, Mcp_Session_Id=session, Authorization="Bearer ann")[0] == 200
    assert one.request(body=ping, Mcp_Session_Id=session, Authorization="Bearer bob")[0] == 404
    assert one.request("DELETE", Mcp_Session_Id=session, Authorization="Bearer bob")[0] == 404


class Stream:
    """A GET stream, read in the background."""

    def __init__(self, web: Web, session: str, **headers: str) -> None:
        self.connection = http.client.HTTPConnection(web.host, web.port, timeout=30)
        given = {
            "Accept": "text/event-stream",
            "Mcp-Session-Id": session,
            "MCP-Protocol-Version": "2025-11-25",
        }
        self.connection.request("GET", web.path, headers=given | headers)
        self.answer = self.connection.getresponse()

    def event(self) -> tuple[str, Any]:
        """The next event that carries a message: its id, and the message."""
        id = ""
        while line := self.answer.readline().decode():
            if line.startswith("id: "):
                id = line[4:].strip()
            if line.startswith("data: {"):
                return id, json.loads(line[6:])
        return "", None


def test_a_get_stream_tells_of_a_watched_note_and_can_be_resumed(web: Start, place: Place) -> None:
    one = web()
    session = one.opened()
    uri = "knapper://main/a.md"
    first = Stream(one, session)
    assert first.answer.status == 200
    assert posted(one, "resources/subscribe", _session=session, uri=uri)[1]["result"] == {}
    (place.vault / "a.md").write_text("Once.\n")
    seen, message = first.event()
    assert message == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    first.connection.sock.close()
    first.answer.close()
    (place.vault / "a.md").write_text("Twice, while nobody listened.\n")
    while (again := Stream(one, session, **{"Last-Event-ID": seen})).answer.status == 409:
        pass  # the broken stream has not been noticed yet
    assert again.event()[1]["params"] == {"uri": uri}


def test_a_stream_that_resumes_after_a_forgotten_event_hears_what_comes(web: Start, place: Place) -> None:
    one = web()
    session = one.opened()
    uri = "knapper://main/a.md"
    assert posted(one, "resources/subscribe", _session=session, uri=uri)[1]["result"] == {}
    for _ in range(MOST // 2 + 1):  # the answer of each is an event, and its stream begins with another
        posted(one, "ping", _session=session)
    again = Stream(one, session, **{"Last-Event-ID": "1"})
    (place.vault / "a.md").write_text("Later.\n")
    assert again.event()[1]["params"] == {"uri": uri}


def test_an_answer_whose_stream_broke_is_had_by_resuming(web: Start) -> None:
    one = web()
    session = one.opened()
    connection = http.client.HTTPConnection(one.host, one.port, timeout=30)
    params = {"name": "take_time", "arguments": {"seconds": 1}, "_meta": {"progressToken": "t"}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Mcp-Session-Id": session,
        "MCP-Protocol-Version": "2025-11-25",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": params})
    connection.request("POST", one.path, body, headers)
    answer = connection.getresponse()
    while not (line := answer.readline().decode()).startswith("id: "):
        assert line
    connection.sock.close()
    answer.close()
    again = Stream(one, session, **{"Last-Event-ID": line[4:].strip()})
    while (message := again.event()[1]).get("id") != "slow":
        assert message["method"] == "notifications/progress"
    assert message["result"]["structuredContent"] == {"result": "done"}


def test_what_one_session_cancels_and_watches_is_nothing_to_another(web: Start, place: Place) -> None:
    one = web()
    ann, bob = one.opened(), one.opened()
    answers: list[Any] = []
    call = {"name": "take_time", "arguments": {"seconds": 2}}
    waiting = threading.Thread(target=lambda: answers.append(posted(one, "tools/call", 7, ann, **call)))
    waiting.start()
    while "take_time" not in str(posted(one, "tools/call", 8, bob, name="running_now", arguments={})):
        pass
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert one.request(body=note, Mcp_Session_Id=bob)[0] == 202
    uri = "knapper://main/a.md"
    streams = Stream(one, ann), Stream(one, bob)
    posted(one, "resources/subscribe", 9, ann, uri=uri)
    (place.vault / "a.md").write_text("Changed.\n")
    while streams[0].event()[1]["method"] != "notifications/resources/updated":
        pass
    posted(one, "tools/call", 10, bob, name="reload_now", arguments={})
    while (told := streams[1].event()[1]["method"]) != "notifications/tools/list_changed":
        assert told == "notifications/resources/list_changed"
    waiting.join(30)
    assert answers[0][1]["result"]["structuredContent"] == {"result": "done"}


def test_sessions_are_told_when_a_new_configuration_may_show_other_tools(web: Start, place: Place) -> None:
    config = place.vault.parent / "config.toml"
    text = f'[[vaults]]\nid = "main"\npath = "{place.vault.as_posix()}"\n'
    config.write_text(text)
    place.command_path = str(config)
    one = web()
    first, second = one.opened(), one.opened("2025-03-26")
    streams = [Stream(one, first), Stream(one, second)]
    assert "shout" in str(posted(one, "tools/list", _session=first)[1])
    assert "shout" in str(posted(one, "tools/list", _session=second)[1])
    config.write_text(text + '[tool_visibility]\nhidden = ["shout"]\n')
    assert posted(one, "tools/call", _session=first, name="reload_now", arguments={})[0] == 200
    for stream in streams:
        while (message := stream.event()[1])["method"] != "notifications/tools/list_changed":
            assert message["method"] == "notifications/resources/list_changed"
    assert "shout" not in str(posted(one, "tools/list", _session=second)[1])


def test_cancelling_reaches_the_tool_in_the_older_era(web: Start) -> None:
    one = web()
    session = one.opened()
    answers: list[Any] = []

    def call() -> None:
        arguments = {"name": "take_time", "arguments": {"seconds": 60}}
        answers.append(posted(one, "tools/call", 7, session, **arguments))

    waiting = threading.Thread(target=call)
    waiting.start()
    while "take_time" not in str(posted(one, "tools/call", 8, session, name="running_now", arguments={})):
        pass
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    assert one.request(body=note, Mcp_Session_Id=session)[0] == 202
    waiting.join(30)
    assert answers[0][1]["error"]["code"] == -32800
    while "take_time" in str(posted(one, "tools/call", 9, session, name="running_now", arguments={})):
        pass


def test_a_modern_client_that_goes_away_stops_its_tool(web: Start) -> None:
    one = web()
    connection = http.client.HTTPConnection(one.host, one.port, timeout=30)
    params = {"name": "take_time", "arguments": {"seconds": 60}, "_meta": envelope()}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "take_time",
    }
    connection.request("POST", one.path, body, headers)

    def running() -> str:
        return str(one.modern("tools/call", name="running_now", arguments={}))

    while "take_time" not in running():
        pass
    connection.close()
    while "take_time" in running():
        pass


def test_a_modern_subscription_streams_changes(web: Start, place: Place) -> None:
    one = web()
    connection = http.client.HTTPConnection(one.host, one.port, timeout=30)
    uri = "knapper://main/a.md"
    params = {"_meta": envelope(), "notifications": {"resourceSubscriptions": [uri]}}
    body = json.dumps({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params})
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
    }
    connection.request("POST", one.path, body, headers)
    answer = connection.getresponse()

    def message() -> Any:
        while not (line := answer.readline().decode()).startswith("data: {"):
            assert line
        return json.loads(line[6:])

    assert message()["method"] == "notifications/subscriptions/acknowledged"
    (place.vault / "a.md").write_text("Changed.\n")
    told = message()
    assert (told["method"], told["params"]["uri"]) == ("notifications/resources/updated", uri)
    one.process.send_signal(signal.SIGTERM)
    last = message()
    assert (last["id"], last["result"]["resultType"]) == ("s", "complete")
    assert one.process.wait(30) == 0


def test_stopping_lets_a_running_call_finish_and_ends_open_streams(web: Start) -> None:
    one = web()
    session = one.opened()
    stream = Stream(one, session)
    assert stream.answer.status == 200
    answers: list[Any] = []
    arguments = {"seconds": 1}
    waiting = threading.Thread(
        target=lambda: answers.append(one.modern("tools/call", name="take_time", arguments=arguments))
    )
    waiting.start()
    while "take_time" not in str(one.modern("tools/call", name="running_now", arguments={})):
        pass
    one.process.send_signal(signal.SIGTERM)
    waiting.join(30)
    assert answers[0][1]["result"]["structuredContent"] == {"result": "done"}
    assert one.process.wait(30) == 0
    one._thread.join(30)
    assert [line for line in one.errors if "ERROR" in line] == []


class Posted:
    """A call in a session of the older era whose answer comes as a stream, read as it comes."""

    def __init__(
        self, web: Web, session: str, id: int | str, name: str, _meta: Any = None, **arguments: Any
    ) -> None:
        params = {"name": name, "arguments": arguments, "_meta": _meta or {}}
        body = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Mcp-Session-Id": session,
            "MCP-Protocol-Version": "2025-11-25",
        }
        self.connection = http.client.HTTPConnection(web.host, web.port, timeout=30)
        self.connection.request("POST", web.path, json.dumps(body), headers)
        self.answer = self.connection.getresponse()

    def message(self) -> Any:
        while not (line := self.answer.readline().decode()).startswith("data: {"):
            assert line
        return json.loads(line[6:])


def test_stopping_lets_a_call_of_a_session_be_answered_on_its_stream(web: Start) -> None:
    one = web()
    call = Posted(one, one.opened(), "slow", "take_time", {"progressToken": "t"}, seconds=2)
    assert call.message()["method"] == "notifications/progress"
    one.process.send_signal(signal.SIGTERM)
    while (message := call.message()).get("id") != "slow":
        assert message["method"] == "notifications/progress"
    assert message["result"]["structuredContent"] == {"result": "done"}
    assert one.process.wait(30) == 0


def test_a_stream_whose_answer_never_comes_does_not_keep_the_server(web: Start) -> None:
    one = web()
    session = one.opened()
    twice = [Posted(one, session, "same", "take_time", {"progressToken": "t"}, seconds=1) for _ in range(2)]
    assert "result" in str(data_of(twice[1].answer.read()))
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(20) == 0  # uvicorn by itself waits for 30 seconds


def test_a_question_is_not_waited_for_once_the_server_stops(web: Start, place: Place) -> None:
    one = web()
    call = Posted(one, one.opened(elicitation={}), 1, "destroy_text", path="a.md")
    assert call.message()["method"] == "elicitation/create"
    one.process.send_signal(signal.SIGTERM)
    while "result" not in (message := call.message()):
        pass
    assert message["result"]["structuredContent"]["code"] == "elicit_required"
    assert one.process.wait(30) == 0
    assert (place.vault / "a.md").read_text() == "Alpha *text*.\n"


def test_open_questions_of_one_client_keep_no_other_waiting(web: Start) -> None:
    one = web()
    session = one.opened(elicitation={})
    asked = [Posted(one, session, n + 1, "destroy_text", path="a.md") for n in range(40)]
    assert all(call.message()["method"] == "elicitation/create" for call in asked)
    add: dict[str, Any] = {"name": "add_numbers", "arguments": {"a": 1, "b": 2}}
    assert one.modern("tools/call", **add)[1]["result"]["structuredContent"] == {"result": 3}


def test_health_needs_no_bearer_and_names_no_vault_where_one_is_configured(web: Start) -> None:
    status, _, content = web().request("GET", "/healthz")
    found = json.loads(content)
    assert (status, found["status"], list(found["vaults"])) == (200, "ok", ["main"])
    status, _, content = web("--set", "auth.mode=apikey", **WITH_KEY).request("GET", "/healthz")
    assert (status, set(json.loads(content))) == (200, {"status", "version"})


def test_routes_of_plugins_stand_behind_the_same_guards(web: Start) -> None:
    one = web(
        "--set",
        "auth.mode=apikey",
        **WITH_KEY,
    )
    assert one.request("GET", "/fixtures/open/x")[2] == b"open to None: x"
    assert one.request("GET", "/fixtures/closed")[0] == 401
    assert one.request("GET", "/fixtures/closed", Authorization=f"Bearer {KEY}")[2] == b"closed to apikey"
    assert one.request("GET", "/fixtures/closed", Host="evil.example")[0] == 403
    assert one.request("PUT", "/fixtures/open/x")[0] == 405
    status, _, answer = one.request("GET", "/nowhere")
    assert (status, json.loads(answer)["error"]["message"]) == (404, "there is nothing here; MCP is at /mcp")


def test_both_transports_in_one_process_end_when_the_stdio_client_leaves(pipe: Any, place: Place) -> None:
    one = pipe(
        *("--set", "transports.http.enabled=true", "--set", "transports.stdio=true"),
        *("--set", "transports.http.port=0"),
    )
    one.initialize()
    while not any(b"listening on http://127.0.0.1:" in line for line in one.errors):
        one.ask(1, "ping")
    assert one.call(2, "add_numbers", a=1, b=1)["result"]["structuredContent"] == {"result": 2}
    assert one.leave() == 0


def test_where_the_port_is_taken_stdio_is_served_all_the_same(pipe: Any, place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        one = pipe(
            *("--set", "transports.http.enabled=true", "--set", "transports.stdio=true"),
            *("--set", f"transports.http.port={port}"),
        )
        one.initialize()
        told = f"HTTP could not be served: port {port} of 127.0.0.1 is taken by another program".encode()
        while not any(told in line for line in one.errors):
            one.ask(1, "ping")
    assert one.call(2, "add_numbers", a=1, b=1)["result"]["structuredContent"] == {"result": 2}
    assert one.leave() == 0
