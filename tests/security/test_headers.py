"""Requests that lie about where they come from, whose they are, or which session they belong to."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest

from tests.security.wire import Site, called, end, in_session
from tests.server.conftest import Web, envelope

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
KEY = "k" * 40


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A server as it is by default: loopback, no bearer."""
    one = Site(tmp_path_factory.mktemp("open")).web()
    yield one
    end(one)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    one = Site(tmp_path_factory.mktemp("guarded"), auth={"mode": "apikey", "api_key": KEY}).web()
    yield one
    end(one)


def raw(web: Web, head: str, body: bytes = b"") -> bytes:
    """Bytes as no client library would send them, and all that comes back."""
    with socket.create_connection((web.host, web.port), timeout=30) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while data := connection.recv(65536):
            answer += data
    return answer


def post(*headers: str) -> tuple[str, bytes]:
    body = json.dumps(PING).encode()
    lines = ["POST /mcp HTTP/1.1", *headers, "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\n".join([*lines, "Accept: application/json, text/event-stream", "Connection: close"]), body


REBOUND = [
    "evil.example",
    "evil.example:8765",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example#127.0.0.1",
    "127.0.0.1@evil.example",
    "0.0.0.0",
    "[::]",
    "169.254.169.254",
    "192.168.0.1",
    "2130706433",
    "0x7f000001",
    "127.1",
    "127.0.0.1.",
    "localhost\x00.evil.example",
    "",
    "xn--localhost",
    "ｌｏｃａｌｈｏｓｔ".encode().decode("latin-1"),
]


@pytest.mark.parametrize("host", REBOUND)
def test_a_name_that_was_made_to_lead_here_is_refused(web: Web, host: str) -> None:
    answer = raw(web, *post(f"Host: {host}"))
    assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))


def test_a_request_without_a_host_is_refused(web: Web) -> None:
    assert raw(web, *post()).startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[::1]:99", "127.8.9.10"])
def test_this_machine_by_any_of_its_names_is_let_in(web: Web, host: str) -> None:
    assert not raw(web, *post(f"Host: {host}")).startswith((b"HTTP/1.1 403",))


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
        "http://",
        "garbage",
        "http://[",
        "*",
    ],
)
def test_a_page_from_elsewhere_is_refused(web: Web, origin: str) -> None:
    status, headers, _ = web.request(body=PING, Origin=origin)
    assert status == 403
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "headers",
    [
        ("Host: localhost", "Host: evil.example"),
        ("Host: evil.example", "Host: localhost"),
        ("Host: localhost", "Origin: http://localhost", "Origin: https://evil.example"),
        ("Host: localhost", "Authorization: Bearer a", "Authorization: Bearer b"),
    ],
)
def test_a_header_that_decides_something_may_not_come_twice(web: Web, headers: tuple[str, ...]) -> None:
    assert raw(web, *post(*headers)).startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))


def test_headers_of_proxies_change_nobodys_identity(guarded: Web) -> None:
    lies = {
        "X_Forwarded_For": "127.0.0.1",
        "X_Forwarded_Host": "localhost",
        "X_Real_IP": "127.0.0.1",
        "Forwarded": "for=127.0.0.1;host=localhost",
        "X_Remote_User": "admin",
        "X_Caller": "stdio",
        "X_Scopes": "*",
        "X_Original_URL": "/healthz",
        "X_HTTP_Method_Override": "GET",
    }
    assert guarded.request(body=PING, **lies)[0] == 401
    assert guarded.request(body=PING, Host="evil.example", **lies)[0] == 403


@pytest.mark.parametrize(
    "path", ["/mcp/", "//mcp", "/mcp/../mcp", "/MCP", "/mcp%2f", "/healthz/../mcp", "/mcp;x"]
)
def test_no_other_spelling_of_the_address_goes_past_the_bearer(guarded: Web, path: str) -> None:
    assert guarded.request("POST", path, body=PING)[0] in (401, 404)


def test_two_ways_to_measure_a_body_do_not_smuggle_a_second_request(web: Web) -> None:
    body = json.dumps(PING).encode()
    head = "\n".join(
        [
            "POST /mcp HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            "Transfer-Encoding: chunked",
        ]
    )
    answer = raw(web, head, b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert b'"status":"ok"' not in answer


def two_callers(root: Path) -> tuple[Site, dict[str, str], dict[str, str]]:
    secret, now = "s" * 40, int(time.time())
    site = Site(root, auth={"mode": "jwt", "jwt_secret": secret})

    def bearer(name: str, *scopes: str) -> dict[str, str]:
        claims = {"sub": name, "exp": now + 600, "scopes": list(scopes)}
        return {"Authorization": f"Bearer {jwt.encode(claims, secret, 'HS256')}"}

    notes = ("read:notes", "write:notes", "delete:notes")
    return site, bearer("ann", *notes), bearer("bob", *notes)


def test_another_callers_session_cannot_be_claimed_by_its_header(tmp_path: Path) -> None:
    site, ann, bob = two_callers(tmp_path)
    web = site.web()
    try:
        session = web.opened(**ann)
        in_session(web, session, "write_note", {"path": "b.md", "content": "ann's"}, **ann)
        body = {"_meta": envelope(), "name": "undo_session", "arguments": {"dry_run": True}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}
        headers = {
            "MCP_Protocol_Version": "2026-07-28",
            "Mcp_Method": "tools/call",
            "Mcp_Name": "undo_session",
        }
        for caller, files in ((bob, []), (ann, ["b.md"])):
            status, _, content = web.request(body=message, Mcp_Session_Id=session, **headers, **caller)
            assert status == 200, content
            undone = json.loads(content)["result"]["structuredContent"]["files"]
            assert [one["path"] for one in undone] == files
        named = called(web, "undo_session", {"session_id": session}, **bob)
        assert named["code"] == "forbidden"
    finally:
        end(web)
