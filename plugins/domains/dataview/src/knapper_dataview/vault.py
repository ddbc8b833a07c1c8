"""The vault as the engine sees it: notes, tags and links from the index, as far as the caller may read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from knapper import Context, ToolError
from knapper.index.queries.kept import Made, Stamp
from knapper.index.queries.whole import Narrowed
from knapper_dataview.domain import PageRow, TagRow
from knapper_dataview.engine import Page, PageData, QueryFailed

LARGEST_TABLE = 8 << 20


class IndexedVault:
    """A caller's view of a vault, for one query."""

    def __init__(self, ctx: Context) -> None:
        self._index = ctx.index
        self._door = ctx.vault
        self._readable = ctx.index.readable if ctx.index.restricted else None

    def all_paths(self) -> list[str]:
        return self._visible(self._made.stamps)

    def tagged(self, tag: str) -> list[str]:
        """Notes with a tag or one below it."""
        wanted = tag.lower()
        same = self._index.facts(TagRow, [("tag", "=", wanted)])
        below = self._index.facts(TagRow, [("tag", ">=", f"{wanted}/"), ("tag", "<", f"{wanted}0")])
        return sorted({path for path, _ in (*same, *below)})

    def in_folder(self, folder: str) -> list[str] | None:
        below = f"{folder}/"
        found = [path for path in self.all_paths() if path.startswith(below)]
        return found if found or self._index.select(Narrowed(folders=[folder])) else None

    def linking_to(self, path: str) -> list[str]:
        return self._visible(self._backlinks.get(path, ()))

    def linked_from(self, path: str) -> list[str]:
        return [link.target for link in self._index.outgoing(path) if link.target is not None]

    def mentioning(self, target: str) -> list[str]:
        return self._index.mentions(target)

    def resolve(self, linkpath: str, source_path: str) -> str | None:
        return self._index.meaning(linkpath, source_path) or None

    def pages(self, paths: Iterable[str]) -> list[Page]:
        return self._index.made(PageRow, page, self._visible(paths))

    def exists(self, path: str) -> bool:
        return self._index.file(path) is not None

    def text(self, path: str) -> str | None:
        file = self._index.file(path)
        if file is None:
            return None
        if file.size > LARGEST_TABLE:
            raise QueryFailed(f"{path!r} is larger than {LARGEST_TABLE} bytes")
        try:
            return self._door.read(path).text
        except ToolError:
            return None

    def starred(self, path: str) -> bool:
        return path in self._bookmarks

    def _visible(self, paths: Iterable[str]) -> list[str]:
        return [*paths] if self._readable is None else [path for path in paths if self._readable(path)]

    @cached_property
    def _made(self) -> Made[Page]:
        return self._index.made_of(PageRow, page)

    @cached_property
    def _backlinks(self) -> dict[str, list[str]]:
        return self._index.file_backlinks()

    @cached_property
    def _bookmarks(self) -> set[str]:
        return set(_bookmarked(self._door.settings("bookmarks")))


NOTHING = PageData({}, [], [], [], None, {}, [])


def page(stamp: Stamp, rows: list[PageRow]) -> Page:
    """A note as queries see it; of one that could not be read as text only the file."""
    data = rows[0].data if rows else NOTHING
    return Page(stamp.path, stamp.ctime_ns / 1e6, stamp.mtime_ns / 1e6, stamp.size, data)


def _bookmarked(group: dict[str, Any]) -> Iterator[str]:
    items = group.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            if item.get("type") == "file" and isinstance(item.get("path"), str):
                yield item["path"]
            yield from _bookmarked(item)
