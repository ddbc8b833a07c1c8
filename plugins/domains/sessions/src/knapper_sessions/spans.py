"""Which session a traced call belongs to: of those begun from the same place, the last that was open then."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from knapper import Context, traces
from knapper_sessions import rows
from knapper_sessions.rows import Row

Line = dict[str, Any]


def traced(ctx: Context, wanted: Sequence[Row]) -> Iterator[tuple[Row, int, Line]]:
    """The lines of some sessions, each once and with its number in the trace."""
    vault, ids = ctx.vault.vault, {row.id for row in wanted}
    folder = traces.folder(ctx.server.settings)
    for place in dict.fromkeys(row.observed for row in wanted):
        with ctx.store.read() as conn:
            spans = Spans(rows.begun_in(conn, vault, place))
        for number, line in enumerate(_lines(folder, place)):
            row = spans.at(line.get("ts", -1.0))
            if row is not None and row.id in ids and line.get("vault", vault) in (vault, ""):
                yield row, number, line


def _lines(folder: Any, place: str) -> Iterator[Line]:
    for file in traces.files(folder, place):
        yield from traces.read(file)


class Spans:
    """The sessions of one place, which may lie within each other."""

    def __init__(self, begun: Iterable[Row]) -> None:
        self._from: list[float] = []
        self._owners: list[Row | None] = []
        open_: list[Row] = []
        for moment, row in _changes(begun):
            if moment == row.started_at and row not in open_:
                open_.append(row)
            else:
                open_.remove(row)
            self._from.append(moment)
            self._owners.append(open_[-1] if open_ else None)

    def at(self, moment: float) -> Row | None:
        """The session that was begun last and was open at a moment."""
        place = bisect_right(self._from, moment) - 1
        return self._owners[place] if place >= 0 else None


def _changes(begun: Iterable[Row]) -> list[tuple[float, Row]]:
    """Every beginning and every end, in the order of time."""
    found = [(row.started_at, row) for row in begun]
    found += [(row.ended_at, row) for _, row in found if row.ended_at is not None]
    return sorted(found, key=lambda change: change[0])
