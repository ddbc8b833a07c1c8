"""One key runs one call once, whatever threads, processes, clocks and crashes do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from knapper.errors import ToolError
from knapper.store.idempotency import Claimed, Keys, Replay
from knapper.store.state import State

CALL = ("main", "key-1", "write_note", "hash-1")


def claim(keys: Keys, *call: str) -> Claimed:
    claimed = keys.claim(*(call or CALL))
    assert isinstance(claimed, Claimed)
    return claimed


def code(keys: Keys, *call: str) -> str:
    with pytest.raises(ToolError) as caught:
        keys.claim(*(call or CALL))
    assert caught.value.details == {"key": "key-1"}
    return caught.value.code


def row(state: State) -> tuple[Any, ...]:
    with state.read() as conn:
        sql = "SELECT state, started_at, completed_at, result, result_size, expires_at FROM idempotency_keys"
        return tuple(conn.exec_driver_sql(sql).one())


@pytest.fixture
def keys(state: State, clock: Any) -> Keys:
    return Keys(state, ttl=86400, reclaim=60, now=clock)


def test_a_new_key_is_claimed_in_flight(state: State, keys: Keys) -> None:
    assert claim(keys)[:4] == CALL
    assert row(state) == ("in_flight", 1_000_000.0, None, None, None, 1_086_400.0)


def test_the_same_call_while_the_first_runs_is_told_to_wait(keys: Keys) -> None:
    claim(keys)
    assert code(keys) == "idempotency_in_flight"


def test_a_completed_call_is_replayed_and_not_run(state: State, keys: Keys) -> None:
    first = claim(keys)
    keys.committed(first)
    assert keys.complete(first, b'{"ok":true}')
    assert keys.claim(*CALL) == Replay(b'{"ok":true}', 11)
    assert row(state)[0] == "completed"


@pytest.mark.parametrize(
    "call", [("main", "key-1", "append_note", "hash-1"), ("main", "key-1", "write_note", "hash-2")]
)
def test_the_key_with_another_tool_or_other_arguments_is_a_mismatch(
    keys: Keys, call: tuple[str, ...]
) -> None:
    keys.complete(claim(keys), b"{}")
    assert code(keys, *call) == "idempotency_key_mismatch"


def test_the_same_key_in_another_vault_is_another_key(keys: Keys) -> None:
    claim(keys)
    assert claim(keys, "other", "key-1", "write_note", "hash-1").vault == "other"


def test_a_call_that_stopped_after_its_marker_is_indeterminate_and_stays_so(keys: Keys, clock: Any) -> None:
    keys.committed(claim(keys))
    assert code(keys) == "idempotency_in_flight"  # it may only be slow
    clock.forward(61)
    assert code(keys) == "indeterminate_outcome"
    clock.forward(86400 - 62)
    assert code(keys) == "indeterminate_outcome"


def test_an_uncertain_outcome_is_kept_as_one(state: State, keys: Keys) -> None:
    first = claim(keys)
    keys.committed(first)
    assert keys.indeterminate(first)
    assert row(state) == ("indeterminate", 1_000_000.0, 1_000_000.0, "null", None, 1_086_400.0)
    assert code(keys) == "indeterminate_outcome"


def test_a_completed_call_does_not_become_uncertain(keys: Keys) -> None:
    first = claim(keys)
    keys.complete(first, b"{}")
    assert not keys.indeterminate(first)
    assert keys.claim(*CALL) == Replay(b"{}", 2)


def test_an_answer_over_the_limit_is_replayed_as_such_and_never_run_again(keys: Keys) -> None:
    first = claim(keys)
    keys.committed(first)
    assert keys.overflow(first, 2_000_000)
    assert keys.claim(*CALL) == Replay(None, 2_000_000)


def test_a_released_key_can_be_used_at_once_by_any_call(keys: Keys) -> None:
    assert keys.release(claim(keys))
    assert claim(keys, "main", "key-1", "append_note", "hash-9").tool == "append_note"


def test_a_release_after_an_effect_makes_the_outcome_uncertain_instead(keys: Keys) -> None:
    first = claim(keys)
    keys.committed(first)
    assert not keys.release(first)
    assert code(keys) == "indeterminate_outcome"


def test_a_release_after_completion_changes_nothing(keys: Keys) -> None:
    first = claim(keys)
    keys.complete(first, b"{}")
    assert not keys.release(first)
    assert keys.claim(*CALL) == Replay(b"{}", 2)


def test_a_marker_rolled_back_with_its_transaction_lets_the_key_go(
    state: State, keys: Keys, undone: Any
) -> None:
    first = claim(keys)
    with undone(state):
        keys.committed(first)
    assert keys.release(first)


def test_a_release_that_fails_is_counted_and_keeps_the_row(path: Path, clock: Any) -> None:
    state = State.open(path)
    keys = Keys(state, now=clock)
    first = claim(keys)
    state.close()
    assert not keys.release(first)
    assert keys.release_failed == 1
    again = State.open(path)
    assert code(Keys(again, now=clock)) == "idempotency_in_flight"
    again.close()


def test_an_abandoned_claim_is_taken_over_after_the_window_and_not_before(
    state: State, keys: Keys, clock: Any
) -> None:
    claim(keys)
    clock.forward(59.9)
    assert code(keys) == "idempotency_in_flight"
    clock.forward(0.1)
    claim(keys)
    assert row(state)[1] == 1_000_060.0


def test_taking_over_reads_the_clock_again_for_the_new_claim(state: State) -> None:
    times = iter([0.0, 0.0, 100.0, 200.0])
    keys = Keys(state, ttl=86400, reclaim=60, now=lambda: next(times))
    claim(keys)
    # The attempt at 0, the verdict at 100, the new row at 200.
    claim(keys)
    assert row(state)[1] == 200.0


def test_an_expired_key_is_free_whatever_became_of_it(keys: Keys, clock: Any) -> None:
    keys.committed(claim(keys))
    clock.forward(86400)
    claim(keys, "main", "key-1", "append_note", "hash-9")


def test_a_claimant_that_was_overtaken_may_not_begin_its_effect(keys: Keys, clock: Any) -> None:
    slow = claim(keys)
    clock.forward(60)
    fast = claim(keys)
    with pytest.raises(ToolError) as caught:
        keys.committed(slow)
    assert caught.value.code == "idempotency_in_flight"
    keys.committed(fast)


def test_a_claimant_that_was_overtaken_can_neither_answer_nor_release_for_the_other(
    keys: Keys, clock: Any
) -> None:
    slow = claim(keys)
    clock.forward(60)
    fast = claim(keys)
    assert not keys.complete(slow, b'"slow"')
    assert not keys.release(slow)
    assert not keys.indeterminate(slow)
    assert keys.complete(fast, b'"fast"')
    assert keys.claim(*CALL) == Replay(b'"fast"', 6)


def test_marking_twice_changes_nothing(state: State, keys: Keys) -> None:
    first = claim(keys)
    keys.committed(first)
    keys.committed(first)
    assert row(state)[0] == "effect_committed"


def test_an_unreadable_answer_is_uncertain_and_never_run_again(state: State, keys: Keys) -> None:
    keys.complete(claim(keys), b'{"ok":true}')
    with state.write() as conn:
        conn.exec_driver_sql("UPDATE idempotency_keys SET result = ?", (b'{"ok":tr',))
    assert code(keys) == "indeterminate_outcome"
    assert row(state)[0] == "indeterminate"


def test_of_many_threads_with_one_key_exactly_one_runs(keys: Keys) -> None:
    start = threading.Barrier(8)

    def attempt(number: int) -> list[str]:
        outcomes = []
        for round in range(25):
            start.wait(timeout=30)
            try:
                outcomes.append(type(keys.claim("main", f"key-{round}", "write_note", "h")).__name__)
            except ToolError as error:
                outcomes.append(error.code)
        return outcomes

    with ThreadPoolExecutor(8) as pool:
        for outcomes in zip(*pool.map(attempt, range(8)), strict=True):
            assert sorted(outcomes) == ["Claimed", *["idempotency_in_flight"] * 7]


RACER = """
import sys
from knapper.errors import ToolError
from knapper.store.idempotency import Claimed, Keys
from knapper.store.state import State
keys = Keys(State.open(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
ran = []
for number in range(100):
    try:
        claim = keys.claim("main", f"key-{number}", "write_note", "h")
        if isinstance(claim, Claimed):
            ran.append(number)
            keys.committed(claim)
            keys.complete(claim, b"{}")
    except ToolError as error:
        assert error.code in ("idempotency_in_flight", "indeterminate_outcome"), error.code
print(*ran, flush=True)
"""


def test_of_two_processes_with_the_same_keys_exactly_one_runs_each(
    path: Path, spawn: Callable[..., Any]
) -> None:
    State.open(path).close()
    children = [spawn(RACER, str(path)) for _ in range(2)]
    assert [child.line() for child in children] == ["ready", "ready"]
    for child in children:
        child.go()
    ran = [int(number) for child in children for number in child.line().split()]
    assert sorted(ran) == list(range(100))


KILLED = """
import sys
from knapper.store.idempotency import Keys
from knapper.store.state import State
keys = Keys(State.open(sys.argv[1]))
claim = keys.claim("main", "key-1", "write_note", "hash-1")
if sys.argv[2] != "claimed":
    keys.committed(claim)
if sys.argv[2] == "completed":
    keys.complete(claim, b'"done"')
print("there", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize(
    ("point", "outcome"),
    [
        ("claimed", "idempotency_in_flight"),
        ("committed", "idempotency_in_flight"),
        ("committed long ago", "indeterminate_outcome"),
        ("completed", Replay(b'"done"', 6)),
    ],
)
def test_after_a_kill_a_retry_learns_how_far_the_call_had_come(
    path: Path, spawn: Callable[..., Any], point: str, outcome: object
) -> None:
    child = spawn(KILLED, str(path), point)
    assert child.line() == "there"
    child.kill()
    state = State.open(path)
    later = 61.0 if "ago" in point else 0.0
    try:
        answer: object = Keys(state, now=lambda: time.time() + later).claim(*CALL)
    except ToolError as error:
        answer = error.code
    state.close()
    assert answer == outcome
