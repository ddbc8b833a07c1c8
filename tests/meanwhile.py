"""Calls beside a call that will not end before its budget does."""

from __future__ import annotations

from threading import Thread
from typing import Any

from knapper import Caller
from knapper.dispatch.call import Outcome
from knapper.runtime import Runtime

CALLER = Caller("test", frozenset({"*"}), authenticated=True)
ENOUGH = 10


def run_beside(
    runtime: Runtime, hostile: tuple[str, dict[str, Any]], other: tuple[str, dict[str, Any]]
) -> tuple[Outcome, int]:
    """How a hostile call ends, and how many other calls were answered before it did; no more than `ENOUGH` are made."""
    ends: list[Outcome] = []
    thread = Thread(target=lambda: ends.append(runtime.call(*hostile, CALLER)))
    thread.start()
    answered = 0
    while thread.is_alive() and answered < ENOUGH:
        assert runtime.call(*other, CALLER).error is None
        answered += thread.is_alive()
    thread.join()
    return ends[0], answered
