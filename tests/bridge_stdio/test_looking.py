"""How often a host is looked at, when it is given up, and what the client hears of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from knapper.testing_http import Asked, Reply, loopback
from knapper_bridge_stdio.following import ATTEMPTS, follow, shaken
from knapper_bridge_stdio.http import HostError
from tests.bridge_stdio.conftest import NOWHERE, Bench, McpHost, V1Host, asked_for, tool, until


class Clock:
    """Keeps the pauses that were asked for, and says after so many that it is over."""

    def __init__(self, most: int = 1000) -> None:
        self.pauses: list[float] = []
        self._most = most

    def wait(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        return len(self.pauses) >= self._most


def host(*answers: Exception | None) -> Callable[[], None]:
    """A host that fails as it is told, and from then on as it did last."""
    left = list(answers)

    def look() -> None:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer is not None:
            raise answer

    return look


SILENT = HostError("nobody there")


def test_pauses_double_up_to_thirty_seconds_and_end_with_the_thirtieth_attempt() -> None:
    clock = Clock()
    assert follow(host(SILENT), clock.wait, 5, jitter=lambda seconds: seconds) is SILENT
    assert clock.pauses[:7] == [1, 2, 4, 8, 16, 30, 30]
    assert len(clock.pauses) == ATTEMPTS - 1 == 29
    assert sum(clock.pauses) == 751


def test_pauses_are_cut_at_random_so_that_many_do_not_come_in_step() -> None:
    found = {shaken(8) for _ in range(50)}
    assert len(found) > 40
    assert all(4 <= seconds <= 8 for seconds in found)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405])
def test_a_host_that_refuses_is_asked_once(status: int) -> None:
    clock, refused = Clock(), HostError("no", status=status)
    assert follow(host(refused), clock.wait, 5) is refused
    assert clock.pauses == []


def test_a_host_that_fails_inside_is_asked_again() -> None:
    clock = Clock(3)
    assert follow(host(HostError("oh", status=500)), clock.wait, 5, jitter=lambda seconds: seconds) is None
    assert clock.pauses == [1, 2, 4]


def test_a_host_that_was_met_is_never_given_up_whatever_it_answers() -> None:
    clock = Clock(100)
    refused = HostError("no", status=401)
    assert follow(host(None, SILENT, refused), clock.wait, 5, jitter=lambda seconds: seconds) is None
    assert clock.pauses[:8] == [5, 1, 2, 4, 8, 16, 30, 30]
    assert len(clock.pauses) == 100


def test_after_a_success_the_pauses_begin_anew() -> None:
    clock = Clock(6)
    looks = host(SILENT, SILENT, None, SILENT, None)
    assert follow(looks, clock.wait, 5, jitter=lambda seconds: seconds) is None
    assert clock.pauses == [1, 2, 5, 1, 5, 5]


def looks(told: object) -> int:
    return sum(1 for one in getattr(told, "asked", []) if one.path == "/bridge/v1/tools")


def test_a_changed_list_is_told_once_and_an_unchanged_one_never(bench: Bench) -> None:
    stand_in = V1Host(tool("a"), tool("b"))
    with loopback(stand_in) as told:
        one = bench.connected(told.url, "--transport", "v1", "--poll", "0.02")
        assert one.names() == ["a", "b"]
        seen = looks(told)
        until(lambda: looks(told) > seen + 10, one)
        assert one.changes == 0
        stand_in.tools = [tool("b"), tool("a")]
        seen = looks(told)
        until(lambda: looks(told) > seen + 10, one)
        assert one.changes == 0
        stand_in.tools = [tool("a"), tool("c")]
        seen = looks(told)
        until(lambda: looks(told) > seen + 10, one)
        assert one.changes == 1
        assert one.names() == ["a", "c"]
        assert one.leave() == 0
        assert one.rest() == []


def test_a_look_that_fails_keeps_the_tools_and_says_so_once(bench: Bench) -> None:
    stand_in = V1Host(tool("a"))
    with loopback(stand_in) as told:
        one = bench.connected(told.url, "--transport", "v1", "--poll", "0.02")
        failing = {"now": True}

        def answer(asked: Asked) -> Reply:
            return Reply({"error": "Internal server error"}, 500) if failing["now"] else stand_in(asked)

        told.answer = answer
        seen = looks(told)
        until(lambda: looks(told) > seen + 1, one)
        assert one.names() == ["a"]
        failing["now"] = False
        one.said(b"connected to")
        assert one.changes == 0
        assert sum(b"500 Internal Server Error" in line for line in one.errors) == 1


def test_a_host_of_another_version_is_not_a_host(bench: Bench) -> None:
    def other(asked: Asked) -> Reply:
        return Reply({"status": "ok", "version": "1", "protocolVersion": "2"})

    with loopback(other) as told:
        one = bench.proxy(told.url, "--transport", "v1")
        assert "result" in one.greet()
        assert one.process.wait(30) == 1
        assert "speaks version '2' of /bridge/v1, not '1'" in one.stderr()


def test_calls_while_the_host_is_away_do_not_use_up_the_attempts(bench: Bench) -> None:
    one = bench.proxy(NOWHERE)
    one.initialize()
    for n in range(2 * ATTEMPTS):
        assert one.call(n, "a")["result"]["isError"] is True
    assert one.ask(99, "ping")["result"] == {}
    assert one.process.poll() is None


def test_a_host_that_ends_its_stream_at_once_is_not_asked_for_it_again_and_again(bench: Bench) -> None:
    stand_in = McpHost(tool("a"))
    streams: list[Asked] = []

    def answer(asked: Asked) -> Reply:
        if asked.method == "GET":
            streams.append(asked)
            return Reply(b": bye\n\n", headers={"content-type": "text/event-stream"})
        reply = stand_in(asked)
        return reply._replace(headers={**reply.headers, "Mcp-Session-Id": "s"})

    with loopback(answer) as told:
        one = bench.connected(told.url + "/mcp", "--transport", "mcp", "--poll", "3600")
        until(lambda: len(asked_for(told, "tools/list")) >= 2, one)
        for n in range(50):
            one.call(n, "a")
        assert len(streams) <= 2
        assert len(asked_for(told, "tools/list")) == 2
