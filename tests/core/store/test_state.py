"""Reading and writing the state: transactions, nesting, threads and processes."""

from __future__ import annotations

import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DatabaseError, OperationalError

from knapper.store.state import State

EVENT = "INSERT INTO event_log (ts, status, event_type) VALUES (?, 'ok', ?)"


def events(state: State) -> list[str]:
    with state.read() as conn:
        return list(conn.exec_driver_sql("SELECT event_type FROM event_log ORDER BY id").scalars())


def test_what_was_written_is_there_after_reopening(path: Path) -> None:
    state = State.open(path)
    with state.write() as conn:
        conn.exec_driver_sql(EVENT, (1.0, "first"))
    state.close()
    again = State.open(path)
    assert events(again) == ["first"]
    again.close()


def test_an_error_undoes_the_whole_transaction(state: State, undone: Any) -> None:
    with undone(state) as conn:
        conn.exec_driver_sql(EVENT, (1.0, "lost"))
    assert events(state) == []


def test_after_an_error_the_next_write_works(state: State) -> None:
    with pytest.raises(OperationalError), state.write() as conn:
        conn.exec_driver_sql("SELECT * FROM no_such_table")
    with state.write() as conn:
        conn.exec_driver_sql(EVENT, (1.0, "next"))
    assert events(state) == ["next"]


def test_a_failing_rollback_does_not_hide_the_error_and_leaves_the_state_usable(state: State) -> None:
    def refuse_rollback(action: int, what: str | None, *_: Any) -> int:
        return 1 if what == "ROLLBACK" else 0

    def fail() -> None:
        with state.write() as conn:
            conn.exec_driver_sql(EVENT, (1.0, "lost"))
            driver: Any = conn.connection.dbapi_connection
            driver.set_authorizer(refuse_rollback)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        fail()
    assert "ROLLBACK failed too" in caught.value.__notes__[0]
    with state.write() as conn:
        conn.exec_driver_sql(EVENT, (2.0, "next"))
    assert events(state) == ["next"]


def test_a_nested_write_that_fails_undoes_only_itself(state: State, undone: Any) -> None:
    with state.write() as conn:
        conn.exec_driver_sql(EVENT, (1.0, "outer"))
        with undone(state) as inner:
            inner.exec_driver_sql(EVENT, (2.0, "inner"))
        with state.write() as inner:
            inner.exec_driver_sql(EVENT, (3.0, "second inner"))
    assert events(state) == ["outer", "second inner"]


def test_a_failing_outer_write_takes_its_nested_ones_with_it(state: State, undone: Any) -> None:
    with undone(state), state.write() as inner:
        inner.exec_driver_sql(EVENT, (1.0, "inner"))
    assert events(state) == []


def test_a_read_inside_a_write_sees_what_was_written(state: State) -> None:
    with state.write() as conn:
        conn.exec_driver_sql(EVENT, (1.0, "mine"))
        assert events(state) == ["mine"]


def test_a_read_keeps_its_view_while_others_write(state: State) -> None:
    count = "SELECT count(*) FROM event_log"
    with state.read() as reading, ThreadPoolExecutor(1) as pool:
        before = reading.exec_driver_sql(count).scalar()
        pool.submit(_write, state, "meanwhile").result()
        assert (before, reading.exec_driver_sql(count).scalar()) == (0, 0)
    assert events(state) == ["meanwhile"]


def test_writing_through_a_read_is_refused_instead_of_lost(state: State) -> None:
    with pytest.raises(DatabaseError, match="readonly"), state.read() as conn:
        conn.exec_driver_sql(EVENT, (1.0, "lost"))


def test_many_threads_write_without_losing_a_row(state: State) -> None:
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: _write(state, f"event {number}"), range(400)))
    assert sorted(events(state)) == sorted(f"event {number}" for number in range(400))


def test_many_threads_read_at_once(state: State) -> None:
    _write(state, "seen")
    inside = threading.Barrier(12)

    def look(_: int) -> int | None:
        with state.read() as conn:
            inside.wait(timeout=30)
            return conn.exec_driver_sql("SELECT count(*) FROM event_log").scalar()

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(look, range(12))) == [1] * 12


def test_processes_that_open_a_new_state_together_all_write_to_it(
    path: Path, spawn: Callable[..., Any]
) -> None:
    program = """
import sys
from knapper.store.state import State
print("ready", flush=True)
sys.stdin.readline()
state = State.open(sys.argv[1])
for number in range(50):
    with state.write() as conn:
        count = conn.exec_driver_sql("SELECT count(*) FROM event_log").scalar()
        conn.exec_driver_sql("INSERT INTO event_log (ts, status, event_type) VALUES (?, 'ok', 'x')", (count,))
print("done", flush=True)
"""
    children = [spawn(program, str(path)) for _ in range(4)]
    assert [child.line() for child in children] == ["ready"] * 4
    for child in children:
        child.go()
    assert [child.line() for child in children] == ["done"] * 4
    state = State.open(path)
    with state.read() as conn:
        counted = list(conn.exec_driver_sql("SELECT ts FROM event_log ORDER BY id").scalars())
    state.close()
    assert counted == list(range(200))


def test_threads_that_open_new_states_together_never_find_them_locked_or_half_made(tmp_path: Path) -> None:
    start = threading.Barrier(6)

    def open_all(_: int) -> None:
        for number in range(40):
            start.wait(timeout=30)
            State.open(tmp_path / f"{number}.db").close()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(open_all, range(6))) == [None] * 6


def test_closing_twice_changes_nothing(path: Path) -> None:
    state = State.open(path)
    state.close()
    state.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["state.db"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits")
def test_the_file_and_its_log_are_for_their_owner_alone(state: State) -> None:
    _write(state, "private")
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in state.path.parent.iterdir()}
    assert modes == {"state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600}


def _write(state: State, event: str) -> None:
    with state.write() as conn:
        conn.exec_driver_sql(EVENT, (1.0, event))
