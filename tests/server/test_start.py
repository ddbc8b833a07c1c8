"""What a server does first when it is loaded: answer who has waited, then turn to itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from knapper.catalogue import Catalogue
from knapper.runtime import Runtime
from knapper.server.host import Host

ENOUGH = 30.0


class Starting:
    """As much of a server as its start needs; says when it turns to itself."""

    def __init__(self) -> None:
        self.on_reload: list[Any] = []
        self.on_tools: list[Any] = []
        self.started = threading.Event()
        self.meanwhile: Callable[[], None] = lambda: None
        self.happened: list[str] = []

    def start(self) -> None:
        self.started.set()
        self.meanwhile()
        self.happened.append("started")

    def close(self) -> None:
        self.happened.append("closed")


def loading() -> tuple[Host, Starting]:
    starting = Starting()
    return Host(lambda: cast("Runtime", starting), cast("Catalogue", object())), starting


def test_a_call_that_waited_for_the_server_is_answered_before_it_begins_to_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("knapper.server.host.START_SECONDS", ENOUGH)
    host, starting = loading()
    began_before: list[bool] = []
    waiting = threading.Event()

    def call() -> None:
        with host.calling():
            waiting.set()
            assert host.runtime is not None
            began_before.append(starting.started.is_set())

    caller = threading.Thread(target=call)
    caller.start()
    assert waiting.wait(ENOUGH)
    host.load()
    caller.join(ENOUGH)
    assert began_before == [False]
    assert starting.started.is_set()


def test_a_call_that_takes_long_does_not_keep_the_server_from_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("knapper.server.host.START_SECONDS", 0.05)
    host, starting = loading()
    with host.calling():
        host.load()
        assert starting.started.is_set()


def test_without_a_call_it_begins_at_once() -> None:
    host, starting = loading()
    host.load()
    assert starting.started.is_set()


def test_what_is_beginning_has_begun_before_it_is_ended() -> None:
    host, starting = loading()
    closing = threading.Thread(target=host.close)

    def meanwhile() -> None:
        closing.start()
        closing.join(0.1)  # it ends at once where it does not wait

    starting.meanwhile = meanwhile
    host.load()
    closing.join(ENOUGH)
    assert starting.happened == ["started", "closed"]


def test_what_was_ended_before_it_began_does_not_begin() -> None:
    host, starting = loading()
    loader = threading.Thread(target=host.load)
    with host.calling():
        loader.start()
        assert host.runtime is not None
        host.close()
    loader.join(ENOUGH)
    assert starting.happened == ["closed"]
