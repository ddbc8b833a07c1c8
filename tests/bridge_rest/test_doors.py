"""Who reaches /bridge/v1: this machine, under its own name, and the web pages that were named."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.bridge_rest.conftest import GUARDED, V1

Start = Callable[..., V1]
PAGE = "https://app.example"
ALLOWED = ("--set", f'transports.http.allowed_origins=["{PAGE}"]')


def elsewhere() -> str | None:
    """An address of this machine that is not loopback; nothing is sent to find it."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as asking:
        try:
            asking.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found: str = asking.getsockname()[0]
    return None if found.startswith(("127.", "0.")) else found


def test_it_listens_on_loopback_only(one: V1) -> None:
    port = one.web.port
    others = [elsewhere(), "127.0.0.2" if sys.platform == "linux" else None]
    if not any(others):
        pytest.skip("this machine has no other address")
    for address in filter(None, others):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, port), 10).close()


def test_a_listener_that_is_open_to_others_serves_it_to_this_machine_only(v1: Start) -> None:
    address = elsewhere()
    if address is None:
        pytest.skip("this machine has no other address")
    allowed = ("--set", f'transports.http.allowed_hosts=["{address}"]')
    one = v1("--host", "0.0.0.0", *allowed, *GUARDED)
    known = {"Authorization": "Bearer friend"}
    one.web.host = "127.0.0.1"
    assert one.get("/health", **known)[0] == 200
    one.web.host = address
    status, refused = one.get("/health", **known)
    assert (status, refused["error"], refused["code"]) == (403, "Forbidden", "FORBIDDEN")
    assert one.web.request("GET", "/healthz")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "evil.example:8765"},
    ],
)
def test_foreign_pages_and_foreign_names_are_refused(one: V1, headers: dict[str, str]) -> None:
    body = {"arguments": {"a": 1, "b": 2}}
    status, refused = one.ask("POST", "/tools/add_numbers/call", body, **headers)
    assert (status, refused["error"], refused["code"]) == (403, "Forbidden", "FORBIDDEN")
    assert refused["message"] == ("host not allowed" if "Host" in headers else "origin not allowed")
    assert one.ask("OPTIONS", "/tools", **headers)[0] == 403


def test_a_page_that_was_named_is_let_in_and_may_read_the_answer(v1: Start) -> None:
    one = v1(*ALLOWED)
    asked = {"Origin": PAGE, "Access_Control_Request_Headers": "content-type"}
    status, headers, content = one.web.request("OPTIONS", "/bridge/v1/tools/add_numbers/call", **asked)
    assert (status, content) == (204, b"")
    assert headers["access-control-allow-origin"] == PAGE
    assert headers["access-control-allow-headers"] == "content-type"
    assert {"GET", "POST"} <= set(headers["access-control-allow-methods"].split(", "))
    status, headers, _ = one.web.request("GET", "/bridge/v1/tools", Origin=PAGE)
    assert (status, headers["access-control-allow-origin"], headers["vary"]) == (200, PAGE, "Origin")


def test_every_page_is_let_in_only_where_that_was_asked_for(v1: Start) -> None:
    one = v1("--set", 'transports.http.allowed_origins=["*"]')
    assert one.get("/tools", Origin="https://any.example")[0] == 200
