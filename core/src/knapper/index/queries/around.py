"""What lies around a passage: the note it is in, the notes that link to and from it, and notes without passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from knapper.index import words
from knapper.index.ids import note_id
from knapper.index.queries.files import COLUMNS, FileRow
from knapper.index.queries.ranked import Ranked, Scored, terms
from knapper.index.queries.search import HAS_TEXT, Wanted

AT_ONCE = 400
MOST_NEIGHBOURS = 2000


class Step(NamedTuple):
    """A note reached over links: how far, from which note, which way, and from which beginning."""

    path: str
    hop: int
    via: str
    forward: bool
    root: str


class Around(Ranked):
    """Passages by letter, notes by id, and a walk over links that sees only what the caller may read."""

    def by_letter(self, query: str, k: int, *, root: str = "") -> list[Scored]:
        """The chunks that hold a string as it stands, the best notes first."""
        found: list[Scored] = []
        wanted = Wanted(query, case_sensitive=False, whole_word=False)
        search = self._found if self._readable is None else self._found_by_own_statistics
        sql = 'SELECT id FROM chunks WHERE file = ? AND "end" > ? ORDER BY start LIMIT 1'
        for note in search(wanted, root, None, self._index.generation):
            chunk = self.one(sql, (note.file, note.at))
            if chunk is not None:
                found.append(Scored(chunk[0], note.score))
            if len(found) == k:
                break
        return found

    def named_so(self, chunks: Sequence[int], query: str) -> list[int]:
        """Those of some chunks, in their order, that hold a string in their headings or their note's title or name."""
        needle, found = words.fold(query.strip()), set()
        for start in range(0, len(chunks), AT_ONCE):
            some = chunks[start : start + AT_ONCE]
            sql = (
                "SELECT c.id, coalesce(f.title, '') || char(10) || f.name || char(10) || c.headings FROM chunks c "
                f"JOIN files f ON f.id = c.file WHERE c.id IN ({', '.join('?' * len(some))})"
            )
            found |= {chunk for chunk, names in self.rows(sql, some) if needle in words.fold(names)}
        return [chunk for chunk in chunks if chunk in found]

    def note_of(self, id: str) -> str | None:
        """The path behind the id of a note, or of another file that has a text, if the caller may read it."""
        now = self._index.generation
        held = self._index.held.get("note ids")
        if held is None or held[0] != now:
            with self._index.db.read() as conn:
                paths = conn.execute(f"SELECT f.path FROM files f WHERE {HAS_TEXT}").fetchall()
            held = (now, {note_id(path): path for (path,) in paths})
            self._index.held["note ids"] = held
        path: str | None = held[1].get(id)
        return path if path is not None and self.readable(path) else None

    def chunkless(self, query: str, k: int, *, root: str = "", every_word: bool = False) -> list[FileRow]:
        """Notes that are empty or too large to be cut, whose names hold a word of the query, or every one."""
        wanted = {term for term in terms(query) if len(term) > 1}
        below = f"{root.strip('/')}/" if root.strip("/") else ""
        found = []
        for row, named in self.kept("notes without passages", self._chunkless):
            held = wanted & named
            if row.path.startswith(below) and held and (not every_word or held == wanted):
                found.append(row)
            if len(found) == k:
                break
        return found

    def _chunkless(self) -> list[tuple[FileRow, set[str]]]:
        """The notes without passages, each with the words of its names, in the order of paths."""
        sql = (
            f"SELECT {COLUMNS} FROM files f WHERE f.note = 1 AND {self.may('f.path')} "
            "AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.file = f.id) ORDER BY f.path"
        )
        return [(row, set(terms(self._named_as(row)))) for row in map(FileRow._make, self.rows(sql))]

    def _named_as(self, row: FileRow) -> str:
        names = self.rows("SELECT alias FROM aliases WHERE file = ?", (row.id,))
        tags = self.rows("SELECT tag FROM tags WHERE file = ?", (row.id,))
        return " ".join([row.title or "", row.path, *(n for (n,) in names), *(t for (t,) in tags)])

    def linked(self, path: str) -> list[str]:
        """The notes that a note links to or that link to it, most links first."""
        sql = (
            "SELECT o.path, count(*) AS links FROM (SELECT l.target AS other FROM links l JOIN files f ON f.id = l.file "
            "WHERE f.path = ?1 UNION ALL SELECT l.file FROM links l JOIN files f ON f.id = l.target WHERE f.path = ?1) "
            f"JOIN files o ON o.id = other WHERE o.note = 1 AND o.path != ?1 AND {self.may('o.path')} "
            "GROUP BY o.id ORDER BY links DESC, o.path"
        )
        return [row[0] for row in self.rows(sql, (path,))]

    def walk(self, starts: Sequence[str], hops: int, most: int = MOST_NEIGHBOURS) -> list[Step]:
        """The notes within some links of where it starts, nearest first; each hop looks only at the hop before."""
        seen = set(starts)
        front = {path: path for path in starts}
        found: list[Step] = []
        for hop in range(1, hops + 1):
            steps = [s for s in self._hop(front, hop) if s.path not in seen]
            front = {}
            for step in steps:
                if step.path not in seen and len(found) < most:
                    seen.add(step.path)
                    found.append(step)
                    front[step.path] = step.root
            if not front or len(found) >= most:
                break
        return found

    def _hop(self, front: dict[str, str], hop: int) -> Iterable[Step]:
        paths = list(front)
        for start in range(0, len(paths), AT_ONCE):
            some = paths[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            for here, there, forward in (("s", "t", 1), ("t", "s", 0)):
                sql = (
                    f"SELECT DISTINCT {there}.path, {here}.path FROM links l JOIN files s ON s.id = l.file "
                    f"JOIN files t ON t.id = l.target WHERE {here}.path IN ({marks}) AND {there}.note = 1 "
                    f"AND s.id != t.id AND {self.may(f'{there}.path')} ORDER BY 2, 1"
                )
                for path, via in self.rows(sql, some):
                    yield Step(path, hop, via, bool(forward), front[via])

    def first_chunks(self, paths: Sequence[str]) -> dict[str, int]:
        """The first chunk of each note that has one."""
        found: dict[str, int] = {}
        for start in range(0, len(paths), AT_ONCE):
            some = paths[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            sql = (
                "SELECT f.path, c.id FROM files f JOIN chunks c ON c.file = f.id AND c.ord = 0 "
                f"WHERE f.path IN ({marks}) AND {self.may('f.path')}"
            )
            found |= dict(self.rows(sql, some))
        return found

    def chunks_in(self, paths: Sequence[str]) -> dict[int, str]:
        """Every chunk of some notes, with its note's path."""
        found: dict[int, str] = {}
        for start in range(0, len(paths), AT_ONCE):
            some = paths[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            sql = (
                "SELECT c.id, f.path FROM files f JOIN chunks c ON c.file = f.id "
                f"WHERE f.path IN ({marks}) AND {self.may('f.path')}"
            )
            found |= dict(self.rows(sql, some))
        return found

    def cosines(self, query: str, chunks: Sequence[int]) -> dict[int, float]:
        """How near chunks are to a query in meaning."""
        vector = self._index.vectors.query(query)
        with self._index.db.read() as conn:
            return self._index.vectors.compared.cosines(conn, vector, chunks)

    def attachment_count(self, path: str) -> int:
        """How many files that are not notes a note links to or embeds."""
        sql = (
            "SELECT count(DISTINCT t.id) FROM links l JOIN files f ON f.id = l.file JOIN files t ON t.id = l.target "
            f"WHERE f.path = ? AND t.note = 0 AND {self.may('t.path')}"
        )
        return int(self.one(sql, (path,))[0])
