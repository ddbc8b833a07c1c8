"""What a domain makes of each note's rows, kept between queries and made anew only for notes that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from knapper.index.queries.facts import Facts, reader
from knapper.index.schema import columns

Row = TypeVar("Row", bound=msgspec.Struct)
T = TypeVar("T")
Make = Callable[["Stamp", list[Row]], T]

MOST_BYTES = 48 << 20  # of stored cells; what is made of them takes a few times as much
_AT_ONCE = 500


class Stamp(NamedTuple):
    """A note and which version of it something was made from."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    hash: str | None


class Made(Generic[T]):
    """Everything known of the notes at one moment; never changed once it is there, so threads may share it."""

    __slots__ = ("bytes", "stamps", "things", "variant", "weights")

    def __init__(self, stamps: dict[str, Stamp], variant: Any) -> None:
        self.stamps = stamps
        self.variant = variant
        self.things: dict[str, T] = {}
        self.weights: dict[str, int] = {}
        self.bytes = 0

    def keep(self, path: str, thing: T, weight: int) -> None:
        """Keep it while there is room; beyond that it is made for each query."""
        if self.bytes + weight <= MOST_BYTES:
            self.things[path] = thing
            self.weights[path] = weight
            self.bytes += weight


class Kept(Facts):
    """Notes in bulk, as a domain wants them, whoever may read them: the asker drops those that a caller may not."""

    def made_of(self, row: type[Row], make: Make[Row, T], variant: Any = None) -> Made[T]:
        """What `make` gives for each note and its rows, as far as it is kept; `stamps` has every note by its path.

        `variant` is what else the answer depends on, such as settings: another one makes everything anew.
        """
        name, now = f"made of {row.__name__}", self._index.generation
        held = self._index.held.get(name)
        if held is None or held[0] != now or held[1].variant != variant:
            before = held[1] if held is not None and held[1].variant == variant else None
            held = (now, self._renewed(row, make, variant, before))
            self._index.held[name] = held
        found: Made[T] = held[1]
        return found

    def made(self, row: type[Row], make: Make[Row, T], paths: Iterable[str], variant: Any = None) -> list[T]:
        """The same for these notes and in their order, kept or not; a path that is no note is left out."""
        known = self.made_of(row, make, variant)
        wanted = [path for path in paths if path in known.stamps]
        things = known.things
        if lacking := [path for path in wanted if path not in things]:
            loaded = {stamp.path: make(stamp, rows) for stamp, rows, _ in self._load(row, known, lacking)}
            things = {**{path: things[path] for path in wanted if path in things}, **loaded}
        return [things[path] for path in wanted]

    def _renewed(self, row: type[Row], make: Make[Row, T], variant: Any, before: Made[T] | None) -> Made[T]:
        sql = "SELECT path, size, mtime_ns, ctime_ns, hash FROM files WHERE note = 1 ORDER BY path"
        now: Made[T] = Made({stamp[0]: Stamp(*stamp) for stamp in self._unlimited(sql)}, variant)
        changed = []
        for path, stamp in now.stamps.items():
            if before is not None and path in before.things and before.stamps[path] == stamp:
                now.keep(path, before.things[path], before.weights[path])
            else:
                changed.append(path)
        for stamp, rows, weight in self._load(row, now, changed):
            now.keep(stamp.path, make(stamp, rows), weight)
        return now

    def _load(
        self, row: type[Row], known: Made[Any], paths: Sequence[str]
    ) -> Iterator[tuple[Stamp, list[Row], int]]:
        """The rows of these notes, with the bytes they take; a note without rows too."""
        cells = ", ".join(f'x."{name}"' for name, _ in columns(row))
        sql = f"SELECT f.path, {cells} FROM {self._table(row)} x JOIN files f ON f.id = x.file"
        read = reader(row)
        for start in range(0, len(paths), _AT_ONCE):
            part = paths[start : start + _AT_ONCE]
            found: dict[str, tuple[list[Row], int]] = {}
            where = f" WHERE f.path IN ({', '.join('?' * len(part))}) ORDER BY x.file, x.ord"
            for path, *values in self._unlimited(sql + where, part):
                rows, weight = found.get(path, ([], 0))
                rows.append(read(values))
                found[path] = rows, weight + sum(len(v) for v in values if isinstance(v, (str, bytes)))
            for path in part:
                rows, weight = found.get(path, ([], 0))
                yield known.stamps[path], rows, weight

    def _unlimited(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._index.db.read() as conn:
            return conn.execute(sql, parameters).fetchall()
