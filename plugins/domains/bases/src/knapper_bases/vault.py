"""The vault as the engine sees it: files, tags and links from the index, as far as the caller may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from knapper import Context
from knapper.index.queries.files import FileRow
from knapper.index.queries.links import LinkRow
from knapper.index.queries.whole import Narrowed
from knapper_bases.engine import HasExtension, HasTag, InFolder, LinkRef, LinksTo, Narrowing, PropertyEquals


class IndexedFile:
    """One file; what an expression does not ask for is never looked up."""

    __slots__ = ("_links", "_properties", "_row", "_vault", "path")

    def __init__(self, row: FileRow, vault: IndexedVault) -> None:
        self._row = row
        self._vault = vault
        self._links: Sequence[LinkRef] | None = None
        self._properties: Mapping[str, Any] | None = None
        self.path = row.path

    @property
    def size(self) -> int:
        return self._row.size

    @property
    def ctime(self) -> float:
        return self._row.ctime_ns / 1e9

    @property
    def mtime(self) -> float:
        return self._row.mtime_ns / 1e9

    @property
    def tags(self) -> Sequence[str]:
        return self._vault.tags.get(self._row.id, ())

    @property
    def properties(self) -> Mapping[str, Any]:
        found = self._properties
        if found is None:
            found = self._properties = self._row.properties
        return found

    @property
    def links(self) -> Sequence[LinkRef]:
        found = self._links
        if found is None:
            rows = self._vault.links.get(self._row.id, [])
            ordered = sorted(rows, key=lambda row: (bool(row.embed), row.property is None))
            found = self._links = [self._vault.reference(row) for row in ordered]
        return found

    @property
    def embeds(self) -> Sequence[LinkRef]:
        return [self._vault.reference(row) for row in self._vault.links.get(self._row.id, []) if row.embed]

    @property
    def backlinks(self) -> Sequence[str]:
        return [path for path in self._vault.backlinks.get(self.path, ()) if self._vault.readable(path)]


class IndexedVault:
    """A caller's view of a vault, for one query."""

    def __init__(self, ctx: Context) -> None:
        self._index = ctx.index
        self._types = ctx.vault.settings("types").get("types")
        self.readable = ctx.index.readable

    @property
    def property_types(self) -> Mapping[str, str]:
        return self._types if isinstance(self._types, dict) else {}

    @cached_property
    def tags(self) -> dict[int, list[str]]:
        return self._index.file_tags()

    @cached_property
    def links(self) -> dict[int, list[LinkRow]]:
        return self._index.file_links()

    @cached_property
    def backlinks(self) -> dict[str, list[str]]:
        return self._index.file_backlinks()

    def files(self, narrowing: Narrowing) -> Iterable[IndexedFile]:
        return [IndexedFile(row, self) for row in self._index.select(narrowed(narrowing))]

    def file(self, path: str) -> IndexedFile | None:
        row = self._index.file(path)
        return None if row is None else IndexedFile(row, self)

    def resolve(self, target: str, source_path: str) -> str | None:
        return self._index.meaning(target, source_path)

    def reference(self, row: LinkRow) -> LinkRef:
        target = row.target if row.target is not None and self.readable(row.target) else None
        return LinkRef(row.path + row.subpath, row.display or None, target)


def narrowed(narrowing: Narrowing) -> Narrowed:
    """The engine's facts as the index takes them."""
    facts = narrowing.facts
    return Narrowed(
        properties=[(fact.name, fact.value) for fact in facts if isinstance(fact, PropertyEquals)],
        tags=[fact.tags for fact in facts if isinstance(fact, HasTag)],
        folders=[fact.folder for fact in facts if isinstance(fact, InFolder)],
        extensions=[fact.ext for fact in facts if isinstance(fact, HasExtension)],
        links_to=[fact.path for fact in facts if isinstance(fact, LinksTo)],
    )
