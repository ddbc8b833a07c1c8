"""What it takes to undo a session: each path's state before its first change, and after its last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from knapper.store.snapshots import Snapshot


class Step(NamedTuple):
    """One path to put back: the hash it had before the session (None: no file), and the hash the session left."""

    path: str
    before: str | None
    snapshot: int
    after: str | None


def plan(changes: Sequence[Snapshot]) -> list[Step]:
    """The paths a session changed, in the order it first touched them; what ended as it began is left out."""
    first: dict[str, tuple[str | None, int]] = {}
    last: dict[str, str | None] = {}
    for change in changes:
        if not change.landed:
            continue
        first.setdefault(change.path, (change.hash, change.id))
        if change.moved_to is None:
            last[change.path] = change.after_hash
        else:
            last[change.path] = None
            first.setdefault(change.moved_to, (None, change.id))
            last[change.moved_to] = change.after_hash
    steps = [Step(path, before, snapshot, last.get(path)) for path, (before, snapshot) in first.items()]
    return [step for step in steps if step.before != step.after]


def uncertain(changes: Sequence[Snapshot], now: Callable[[str], str | None]) -> list[str]:
    """Paths whose last change was cut short by a kill, and which do not hold what they held before it."""
    latest = {change.path: change for change in changes}
    return [path for path, change in latest.items() if not change.landed and now(path) != change.hash]
