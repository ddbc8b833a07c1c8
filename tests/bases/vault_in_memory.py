"""A vault of a few files held in memory, for tests of the Bases engine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from knapper_bases.engine import LinkRef, Narrowing


@dataclass
class Note:
    """A file with everything that an expression may ask of it."""

    path: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    links: list[LinkRef] = field(default_factory=list)
    embeds: list[LinkRef] = field(default_factory=list)
    backlinks: list[str] = field(default_factory=list)
    size: int = 0
    ctime: float = 0.0
    mtime: float = 0.0


class MemoryVault:
    """Files by path; links resolve by path, by suffix, then by the nearer and shorter path."""

    def __init__(self, *notes: Note, types: Mapping[str, str] | None = None) -> None:
        self.notes = {note.path: note for note in notes}
        self.property_types: Mapping[str, str] = types or {}
        self.asked: list[Narrowing] = []

    def files(self, narrowing: Narrowing) -> Iterable[Note]:
        self.asked.append(narrowing)
        return list(self.notes.values())

    def file(self, path: str) -> Note | None:
        return self.notes.get(path)

    def resolve(self, target: str, source_path: str) -> str | None:
        home = PurePosixPath(source_path).parent
        wanted = target.strip("/").lower()
        if target.startswith(("./", "../")):
            return self._exact(_normal(str(home / target)).lower())
        ends = [
            path
            for path in self.notes
            for tail in (wanted, f"{wanted}.md")
            if path.lower() == tail or path.lower().endswith(f"/{tail}")
        ]
        own = [path for path in ends if PurePosixPath(path).parent == home]
        return self._exact(wanted) or min(own or ends, key=lambda path: (len(path), path), default=None)

    def _exact(self, wanted: str) -> str | None:
        return next((path for path in self.notes if path.lower() in (wanted, f"{wanted}.md")), None)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
