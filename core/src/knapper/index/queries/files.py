"""Files and folders, names and aliases."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import msgspec

from knapper.errors import ToolError
from knapper.index.queries.base import Questions, below
from knapper.page import Page
from knapper.vault.resolve import Resolver, link_key

SORTS = {"path": ("path",), "mtime": ("mtime_ns DESC", "path"), "size": ("size DESC", "path")}
COLUMNS = "f.id, f.path, f.folder, f.name, f.ext, f.note, f.size, f.mtime_ns, f.ctime_ns, f.hash, f.title, f.properties, f.problem"


class FileRow(NamedTuple):
    """A file as the index knows it."""

    id: int
    path: str
    folder: str
    name: str
    ext: str
    note: int
    size: int
    mtime_ns: int
    ctime_ns: int
    hash: str | None
    title: str | None
    raw_properties: bytes | None
    problem: str | None

    @property
    def properties(self) -> dict[str, Any]:
        return msgspec.json.decode(self.raw_properties) if self.raw_properties else {}


class Files(Questions):
    """Which files there are, and which one a name means."""

    def file(self, path: str) -> FileRow | None:
        """One file the caller may read."""
        row = self.one(f"SELECT {COLUMNS} FROM files f WHERE f.path = ? AND {self.may('f.path')}", (path,))
        return FileRow(*row) if row else None

    def text(self, path: str) -> str | None:
        """The text the index has of a file the caller may read; of one that is not a note, pages end with a form feed."""
        sql = f"SELECT t.text FROM files f JOIN texts t ON t.file = f.id WHERE f.path = ? AND {self.may('f.path')}"
        row = self.one(sql, (path,))
        return row[0] if row else None

    def notes(self, where: str = "1", parameters: Sequence[Any] = ()) -> list[FileRow]:
        """Every note the caller may read, in the order of paths; `where` is for the core's own narrowing."""
        sql = f"SELECT {COLUMNS} FROM files f WHERE f.note = 1 AND {where} AND {self.may('f.path')} ORDER BY f.path"
        return [FileRow(*row) for row in self.rows(sql, parameters)]

    def troubled(self) -> list[FileRow]:
        """The notes that could not be read whole, each with its problem."""
        return self.notes("f.problem IS NOT NULL")

    def list_files(
        self,
        page: Page,
        *,
        root: str = "",
        recursive: bool = True,
        extensions: Sequence[str] = (),
        sort: str = "path",
    ) -> tuple[list[tuple[str, int, int]], int | None, Any]:
        """A page of (path, size, mtime_ns) below a folder, and how many there are."""
        order = SORTS[sort]
        keys = [column.partition(" ")[0] for column in order]
        condition, parameters = below("f.path", root)
        if not recursive:
            condition, parameters = "f.folder = ?", [root.strip("/")]
        if extensions:
            marks = ", ".join("?" * len(extensions))
            condition += f" AND f.ext IN ({marks})"
            parameters = [*parameters, *[e.lower().lstrip(".") for e in extensions]]
        rest = [c for c in ("path", "size", "mtime_ns") if c not in keys]
        sql = f"SELECT {', '.join('f.' + c for c in [*keys, *rest])} FROM files f WHERE {condition} AND {self.may('f.path')}"
        rows, total, last = self.paged(page, sql, parameters, order)
        at = [[*keys, *rest].index(c) for c in ("path", "size", "mtime_ns")]
        return [tuple(row[i] for i in at) for row in rows], total, last

    def folders(self, root: str = "", *, recursive: bool = True) -> list[str]:
        """Folders that hold a readable file, below a folder."""
        condition, parameters = below("f.path", root)
        sql = f"SELECT DISTINCT f.folder FROM files f WHERE {condition} AND f.folder != '' AND {self.may('f.path')}"
        found: set[str] = set()
        base = root.strip("/")
        for (folder,) in self.rows(sql, parameters):
            parts = folder.split("/")
            found.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))
        inside = {f for f in found if not base or f.startswith(f"{base}/")}
        return sorted(inside if recursive else (f for f in inside if f.rpartition("/")[0] == base))

    def count_files(self, root: str = "", *, notes: bool = True) -> int:
        condition, parameters = below("f.path", root)
        return self.count(
            f"SELECT 1 FROM files f WHERE {condition} AND f.note = {int(notes)} AND {self.may('f.path')}",
            parameters,
        )

    def resolve(self, linkpath: str, source: str = "") -> str | None:
        """What a link means when it stands in a note at `source`, as Obsidian resolves it."""
        return Resolver(self._named(link_key(linkpath))).resolve(linkpath, source)

    def find_note(self, given: str) -> str:
        """The note a caller means by a path, a name or an alias; an error with candidates where that is not one."""
        exact = self.one(
            f"SELECT f.path FROM files f WHERE f.path IN (?, ?) AND {self.may('f.path')}",
            (given, f"{given}.md"),
        )
        if exact:
            return str(exact[0])
        named = [path for path in self._named(link_key(given)) if _ends_with(path, given)]
        candidates = named or self._aliased(given)
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise ToolError(
                "path_ambiguous",
                f"{given!r} fits {len(candidates)} notes",
                candidates=sorted(candidates)[:20],
            )
        lacking = self._index.coverage(self._readable)
        details = {"incomplete": lacking} if lacking else {}
        raise ToolError(
            "note_not_found",
            f"there is no note {given!r}",
            path=given,
            suggestions=self.nearest(given),
            **details,
        )

    def nearest(self, given: str, most: int = 3) -> list[str]:
        """Paths whose names look most like the one that was not found."""
        wanted = link_key(given)
        if not wanted:
            return []
        sql = f"SELECT f.path FROM files f WHERE f.note = 1 AND {self.may('f.path')}"
        matcher = SequenceMatcher(b=wanted, autojunk=False)
        scored = []
        for (path,) in self.rows(sql):
            matcher.set_seq1(link_key(path))
            if (
                matcher.real_quick_ratio() > 0.6
                and matcher.quick_ratio() > 0.6
                and (ratio := matcher.ratio()) > 0.6
            ):
                scored.append((-ratio, path))
        return [path for _, path in sorted(scored)[:most]]

    def _named(self, key: str) -> list[str]:
        sql = f"SELECT f.path FROM files f WHERE f.key = ? AND {self.may('f.path')} ORDER BY f.path"
        return [row[0] for row in self.rows(sql, (key,))]

    def _aliased(self, alias: str) -> list[str]:
        sql = f"SELECT DISTINCT f.path FROM aliases a JOIN files f ON f.id = a.file WHERE a.key = ? AND {self.may('f.path')}"
        return [row[0] for row in self.rows(sql, (alias.casefold(),))]


def _ends_with(path: str, given: str) -> bool:
    """Whether a path ends with the folders and name that were given, whatever their case."""
    folded, wanted = path.casefold(), given.strip("/").casefold()
    return any(folded == w or folded.endswith("/" + w) for w in (wanted, wanted + ".md"))
