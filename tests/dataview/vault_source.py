"""A vault in memory as the engine's source: every answer worked out from the notes themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from knapper.vault import frontmatter
from knapper_dataview.engine import Page, PageData, encode_page, extract
from knapper_dataview.engine.values import Link

Times = dict[str, tuple[float, float]]


class VaultSource:
    """Notes and other files by path; pages go through the blob that an index would store."""

    def __init__(self, files: dict[str, str], times: Times | None = None) -> None:
        self.files = files
        self.stars: set[str] = set()
        self.data: dict[str, PageData] = {}
        self._pages: dict[str, Page] = {}
        for path, text in sorted(files.items()):
            if path.endswith(".md"):
                data = self.data[path] = extract(path, text, *split_frontmatter(text))
                ctime, mtime = (times or {}).get(path, (0.0, 0.0))
                self._pages[path] = Page(path, ctime, mtime, len(text.encode()), encode_page(data))

    @classmethod
    def of_folder(cls, folder: Path) -> VaultSource:
        files = {
            path.relative_to(folder).as_posix(): path.read_text("utf-8")
            for path in folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }
        stats = folder / ".oracle-stats.json"
        recorded = json.loads(stats.read_text("utf-8")) if stats.exists() else {}
        times = {
            path: (_milliseconds(at["ctime"]), _milliseconds(at["mtime"])) for path, at in recorded.items()
        }
        return cls(files, times)

    def all_paths(self) -> Iterable[str]:
        return self._pages

    def tagged(self, tag: str) -> Iterable[str]:
        wanted = tag.lower()
        return [
            path
            for path, data in self.data.items()
            if any(own.lower() == wanted or own.lower().startswith(f"{wanted}/") for own in data.tags)
        ]

    def in_folder(self, folder: str) -> Iterable[str] | None:
        inside = [path for path in self.files if path.startswith(f"{folder}/")]
        return [path for path in inside if path in self._pages] if inside else None

    def linking_to(self, path: str) -> Iterable[str]:
        return [source for source in self.data if path in self.linked_from(source)]

    def linked_from(self, path: str) -> list[str]:
        found = (self.resolve(link.path, path) for link in self._links(path))
        return [target for target in found if target is not None]

    def mentioning(self, target: str) -> Iterable[str]:
        return [source for source in self.data if target in [link.path for link in self._links(source)]]

    def _links(self, path: str) -> list[Link]:
        return [link for link in self.data[path].links if isinstance(link, Link)] if path in self.data else []

    def resolve(self, linkpath: str, source_path: str) -> str | None:
        if not linkpath:
            return source_path if source_path in self.files else None
        for wanted in (linkpath.lower(), f"{linkpath.lower()}.md"):
            found = [
                path for path in self.files if path.lower() == wanted or path.lower().endswith(f"/{wanted}")
            ]
            if found:
                return min(found, key=lambda path: (path.lower() != wanted, len(path), path))
        return None

    def pages(self, paths: Iterable[str]) -> Iterable[Page]:
        return [self._pages[path] for path in paths if path in self._pages]

    def exists(self, path: str) -> bool:
        return path in self.files

    def text(self, path: str) -> str | None:
        return self.files.get(path)

    def starred(self, path: str) -> bool:
        return path in self.stars


def _milliseconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() * 1000


def split_frontmatter(text: str) -> tuple[dict[str, object], int]:
    """A note's properties and the number of the line after them."""
    block = frontmatter.find(text)
    if block is None:
        return {}, 0
    return frontmatter.load(text[block.start : block.end]) or {}, text.count("\n", 0, block.after)
