"""Notes as data: properties, tags, text and file facts, for rules that look at every note."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from knapper.index.queries.base import Questions, below

BATCH = 256


class Data(Questions):
    """Every readable note as one object."""

    def note_data(
        self, *, root: str = "", after: str = "", content: bool = True, tags: bool = True
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """(path, data) in the order of paths; what is not asked for is not loaded."""
        where, parameters = below("f.path", root)
        text = "(SELECT t.text FROM texts t WHERE t.file = f.id)" if content else "NULL"
        sql = (
            f"SELECT f.id, f.path, f.name, f.folder, f.size, f.mtime_ns, f.properties, {text} FROM files f "
            f"WHERE f.note = 1 AND f.path > ? AND {where} AND {self.may('f.path')} ORDER BY f.path LIMIT ?"
        )
        while rows := self.rows(sql, [after, *parameters, BATCH]):
            known = self._tags_by_file([row[0] for row in rows]) if tags else {}
            for file, path, name, folder, size, mtime, properties, body in rows:
                data: dict[str, Any] = msgspec.json.decode(properties) if properties else {}
                data |= {"path": path, "name": name, "folder": folder, "size": size}
                data["mtime"] = datetime.fromtimestamp(mtime / 1e9, UTC).isoformat(timespec="seconds")
                if tags:
                    data["tags"] = known.get(file, [])
                if content:
                    data["content"] = body or ""
                yield path, data
            after = rows[-1][1]

    def _tags_by_file(self, files: list[int]) -> dict[int, list[str]]:
        marks = ", ".join("?" * len(files))
        found: dict[int, list[str]] = {}
        for file, tag in self.rows(
            f"SELECT file, tag FROM tags WHERE file IN ({marks}) ORDER BY file, ord", files
        ):
            found.setdefault(file, []).append(tag)
        return found
