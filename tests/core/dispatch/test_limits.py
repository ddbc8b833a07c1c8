"""A domain's time limits: a timeout means that nothing was changed, and a change that has begun is finished."""

from __future__ import annotations

import threading

import pytest

from knapper import Context, Domain, Section, ToolError, WritePath
from knapper.dispatch.confirm import Question
from knapper.dispatch.limit import Limit
from knapper.testing import Calls, VaultFolder

ENOUGH = 30.0


class Held(Section):
    """The section of the domain under test."""

    seconds: float = 0.05


def held_domain(go_on: threading.Event, written: threading.Event) -> Domain:
    """Tools that wait for the test before or after they change something."""
    held = Domain(
        "held", summary="Wait.", settings=Held, limit=lambda settings, tool: float(settings.seconds)
    )

    @held.tool("write:notes")
    def wait_then_write(ctx: Context, path: WritePath) -> str:
        """Write a note when the test lets it."""
        go_on.wait(ENOUGH)
        try:
            ctx.vault.write(path, "late")
        finally:
            written.set()
        return "written"

    @held.tool("write:notes")
    def write_then_wait(ctx: Context, path: WritePath) -> str:
        """Write a note, and end when the test lets it."""
        ctx.vault.write(path, "begun")
        written.set()
        go_on.wait(ENOUGH)
        return "finished"

    @held.tool("write:notes", confirm="always")
    def ask_then_write(ctx: Context, path: WritePath) -> str:
        """Write a note when a person has agreed."""
        ctx.confirm(True, {"path": path})
        ctx.vault.write(path, "agreed")
        return "written"

    @held.tool("read:notes")
    def fail(ctx: Context) -> str:
        """Fail at once."""
        raise ToolError("invalid_input", "no")

    return held


@pytest.fixture
def go_on() -> threading.Event:
    return threading.Event()


@pytest.fixture
def written() -> threading.Event:
    return threading.Event()


def test_what_has_not_begun_at_its_limit_never_begins(
    call: Calls, vault: VaultFolder, go_on: threading.Event, written: threading.Event
) -> None:
    with pytest.raises(ToolError) as raised:
        call(held_domain(go_on, written), "wait_then_write", path="a.md")
    assert raised.value.code == "operation_timeout"
    assert raised.value.message == "it took longer than its 0.05 seconds, and nothing was changed"
    go_on.set()
    assert written.wait(ENOUGH)
    assert list(vault) == []


def test_what_has_begun_is_finished_and_answered(
    call: Calls, vault: VaultFolder, go_on: threading.Event, written: threading.Event
) -> None:
    domain = held_domain(go_on, written)
    call.settings = {"held": {"seconds": 5}}
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(call(domain, "write_then_wait", path="a.md")))
    thread.start()
    assert written.wait(ENOUGH)
    go_on.set()
    thread.join(ENOUGH)
    assert (answers, vault["a.md"]) == (["finished"], "begun")


def test_the_time_of_a_person_does_not_count() -> None:
    now = 0.0
    limit = Limit(5, lambda: now)

    def ask_and_act() -> str:
        nonlocal now
        with limit.paused():
            now += 100
        now += 4
        return "done"

    assert limit.run(ask_and_act) == "done"
    assert not limit.over


def test_asking_a_person_stops_the_time_of_a_call(
    call: Calls, vault: VaultFolder, go_on: threading.Event, written: threading.Event
) -> None:
    domain = held_domain(go_on, written)
    call.settings = {"held": {"seconds": 1}}

    def think(question: Question) -> bool:
        """For as long as another call takes to reach the same limit."""
        with pytest.raises(ToolError) as raised:
            call(domain, "wait_then_write", path="b.md")
        return raised.value.code == "operation_timeout"

    outcome = call.outcome(domain, "ask_then_write", how={"ask": think}, path="a.md")
    assert (outcome.error, dict(vault)) == (None, {"a.md": "agreed"})


def test_an_error_within_the_limit_is_the_tools_own(
    call: Calls, go_on: threading.Event, written: threading.Event
) -> None:
    with pytest.raises(ToolError) as raised:
        call(held_domain(go_on, written), "fail")
    assert (raised.value.code, raised.value.message) == ("invalid_input", "no")
