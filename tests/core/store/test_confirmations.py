"""A person's word: for exactly one call by exactly one caller, once, within its time."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from knapper.errors import ToolError
from knapper.store.confirmations import Approvals
from knapper.store.state import State

CALL = ("main", "delete_note", "hash-1", "alice")
OTHERS = [
    ("other", "delete_note", "hash-1", "alice"),
    ("main", "move_note", "hash-1", "alice"),
    ("main", "delete_note", "hash-2", "alice"),
    ("main", "delete_note", "hash-1", "bob"),
    ("main", "delete_note", "hash-1", None),
]


@pytest.fixture
def approvals(state: State, clock: Any) -> Approvals:
    return Approvals(state, ttl=300, now=clock)


def request(approvals: Approvals, diff: str = "-gone") -> str:
    id = approvals.request(*CALL, {"path": "a.md"}, diff)
    assert id is not None
    return id


def test_a_request_shows_the_call_and_what_it_would_do(approvals: Approvals) -> None:
    shown = approvals.show(request(approvals))
    assert (shown.vault, shown.tool, shown.args_hash, shown.caller) == CALL
    assert (shown.change, shown.diff, shown.state) == ({"path": "a.md"}, "-gone", "pending")
    assert (shown.created_at, shown.expires_at, shown.consumed_at) == (1_000_000.0, 1_000_300.0, None)


def test_the_same_call_again_is_the_same_request_with_what_it_would_do_now(approvals: Approvals) -> None:
    first = request(approvals, "-old")
    assert request(approvals, "-new") == first
    assert [(waiting.id, waiting.diff) for waiting in approvals.list()] == [(first, "-new")]


def test_the_list_is_the_open_requests_of_a_vault_oldest_first(approvals: Approvals, clock: Any) -> None:
    first = request(approvals)
    clock.forward(1)
    second = approvals.request("main", "move_note", "hash-2", "bob", {})
    approvals.request("other", "move_note", "hash-2", "bob", {})
    assert [waiting.id for waiting in approvals.list("main")] == [first, second]
    approvals.deny(first)
    assert [waiting.id for waiting in approvals.list("main")] == [second]


def test_without_a_caller_nothing_is_kept(approvals: Approvals) -> None:
    assert approvals.request("main", "delete_note", "hash-1", None, {}) is None
    assert approvals.list() == []
    with pytest.raises(ToolError, match="needs a caller"):
        approvals.mint("main", "delete_note", "hash-1", None)


def test_a_pending_or_denied_request_lets_nothing_through(approvals: Approvals) -> None:
    id = request(approvals)
    assert not approvals.consume(*CALL)
    approvals.deny(id)
    assert not approvals.consume(*CALL)


def test_an_approved_call_goes_through_once(approvals: Approvals) -> None:
    approvals.approve(request(approvals))
    assert approvals.consume(*CALL)
    assert not approvals.consume(*CALL)


@pytest.mark.parametrize("call", OTHERS)
def test_an_approval_fits_no_other_call(approvals: Approvals, call: tuple[str, str, str, str | None]) -> None:
    approvals.approve(request(approvals))
    assert not approvals.consume(*call)
    assert approvals.consume(*CALL)


@pytest.mark.parametrize("call", OTHERS)
def test_a_token_fits_no_other_call_and_is_not_burnt_by_one(
    approvals: Approvals, call: tuple[str, str, str, str | None]
) -> None:
    token = approvals.mint(*CALL)
    assert not approvals.consume(*call, token)
    assert approvals.consume(*CALL, token)


def test_an_approvals_time_runs_from_the_decision(approvals: Approvals, clock: Any) -> None:
    id = request(approvals)
    clock.forward(299)
    approvals.approve(id)
    clock.forward(300)
    assert approvals.consume(*CALL)


def test_an_approval_past_its_time_lets_nothing_through(approvals: Approvals, clock: Any) -> None:
    approvals.approve(request(approvals))
    clock.forward(300.1)
    assert not approvals.consume(*CALL)


def test_a_request_past_its_time_cannot_be_approved_and_a_new_one_is_made(
    approvals: Approvals, clock: Any
) -> None:
    id = request(approvals)
    clock.forward(301)
    with pytest.raises(ToolError, match=f"request '{id}' is no longer open: it is expired"):
        approvals.approve(id)
    assert approvals.list() == []
    assert request(approvals) != id


def test_a_decision_stands(approvals: Approvals) -> None:
    id = request(approvals)
    approvals.deny(id)
    with pytest.raises(ToolError, match="no longer open: it is denied") as caught:
        approvals.approve(id)
    assert caught.value.code == "elicit_invalid"


def test_an_unknown_request_is_said_to_be_so(approvals: Approvals) -> None:
    with pytest.raises(ToolError, match="there is no request 'apr_0'"):
        approvals.approve("apr_0")


def test_a_request_that_changed_since_it_was_shown_is_not_approved(approvals: Approvals) -> None:
    id = request(approvals, "-one line")
    seen = approvals.show(id).digest
    request(approvals, "-everything")
    with pytest.raises(ToolError, match="has changed since it was shown"):
        approvals.approve(id, seen=seen)
    assert not approvals.consume(*CALL)
    assert approvals.approve(id, seen=approvals.show(id).digest).state == "approved"


def test_a_minted_token_works_once_and_only_with_itself(approvals: Approvals) -> None:
    token = approvals.mint(*CALL)
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert not approvals.consume(*CALL)
    assert not approvals.consume(*CALL, "0" * 32)
    assert approvals.consume(*CALL, token)
    assert not approvals.consume(*CALL, token)


def test_a_token_past_its_time_is_worth_nothing(approvals: Approvals, clock: Any) -> None:
    early, late = approvals.mint(*CALL), approvals.mint(*CALL)
    clock.forward(300)
    assert approvals.consume(*CALL, early)
    clock.forward(0.1)
    assert not approvals.consume(*CALL, late)


def test_a_wrong_token_does_not_fall_back_on_an_approval(approvals: Approvals) -> None:
    approvals.approve(request(approvals))
    assert not approvals.consume(*CALL, "0" * 32)
    assert approvals.consume(*CALL)


def test_approving_and_minting_for_one_request_is_one_permission(approvals: Approvals) -> None:
    approvals.approve(request(approvals))
    token = approvals.mint(*CALL)
    assert approvals.consume(*CALL)
    assert not approvals.consume(*CALL, token)


def test_minting_for_a_pending_request_closes_it(approvals: Approvals) -> None:
    request(approvals)
    token = approvals.mint(*CALL)
    assert approvals.list() == []
    assert not approvals.consume(*CALL)
    assert approvals.consume(*CALL, token)


def test_neither_the_state_nor_a_backup_holds_a_token_that_can_be_spent(
    state: State, approvals: Approvals, tmp_path: Path
) -> None:
    token = approvals.mint(*CALL)
    state.backup(tmp_path / "copy.db")
    everything = (tmp_path / "copy.db").read_bytes() + state.path.with_name("state.db-wal").read_bytes()
    assert b"delete_note" in everything
    assert token.encode() not in everything
    with state.read() as conn:
        kept = conn.exec_driver_sql("SELECT token_hash FROM confirmations").scalar_one()
    assert not approvals.consume(*CALL, kept)


def test_of_many_threads_with_one_token_exactly_one_wins(approvals: Approvals) -> None:
    tokens = [approvals.mint("main", "delete_note", f"hash-{round}", "alice") for round in range(25)]
    start = threading.Barrier(8)

    def spend(_: int) -> list[bool]:
        wins = []
        for round, token in enumerate(tokens):
            start.wait(timeout=30)
            wins.append(approvals.consume("main", "delete_note", f"hash-{round}", "alice", token))
        return wins

    with ThreadPoolExecutor(8) as pool:
        assert [sum(wins) for wins in zip(*pool.map(spend, range(8)), strict=True)] == [1] * 25


def test_of_two_processes_with_one_approval_exactly_one_wins(path: Path, spawn: Callable[..., Any]) -> None:
    program = """
import sys
from knapper.store.confirmations import Approvals
from knapper.store.state import State
approvals = Approvals(State.open(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(*[n for n in range(60) if approvals.consume("main", "delete_note", f"h{n}", "alice")], flush=True)
"""
    state = State.open(path)
    approvals = Approvals(state)
    for number in range(60):
        id = approvals.request("main", "delete_note", f"h{number}", "alice", {})
        assert id is not None
        approvals.approve(id)
    children = [spawn(program, str(path)) for _ in range(2)]
    assert [child.line() for child in children] == ["ready", "ready"]
    for child in children:
        child.go()
    spent = [int(number) for child in children for number in child.line().split()]
    state.close()
    assert sorted(spent) == list(range(60))
