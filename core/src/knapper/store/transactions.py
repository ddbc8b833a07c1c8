"""Transactions over any connection that runs SQL text: begun at once, and a failing ROLLBACK never hides the cause."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_log = logging.getLogger("knapper.store")
_numbers = itertools.count(1)


@contextmanager
def immediate(run: Callable[[str], object]) -> Iterator[None]:
    """Hold the write lock from the first statement: a read that turns into a write later cannot wait for it."""
    run("BEGIN IMMEDIATE")
    try:
        yield
        run("COMMIT")
    except BaseException as error:
        _roll_back(run, error, "ROLLBACK")
        raise


@contextmanager
def savepoint(run: Callable[[str], object]) -> Iterator[None]:
    """Nest in the open transaction: an error undoes this part and is then the outer part's to handle."""
    name = f"nested_{next(_numbers)}"
    run(f"SAVEPOINT {name}")
    try:
        yield
        run(f"RELEASE {name}")
    except BaseException as error:
        _roll_back(run, error, f"ROLLBACK TO {name}", f"RELEASE {name}")
        raise


def _roll_back(run: Callable[[str], object], error: BaseException, *statements: str) -> None:
    try:
        for statement in statements:
            run(statement)
    except Exception as second:  # noqa: BLE001 - the first error is the one to tell
        if "no transaction is active" in str(second):  # a full disk made SQLite roll back by itself
            return
        error.add_note(f"{statements[0]} failed too: {second}")
        _log.error("%s failed after %s: %s", statements[0], type(error).__name__, second)
