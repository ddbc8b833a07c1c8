"""Rows of a query: notes, list items and what FLATTEN adds, each filled key by key as it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.msgpack import Ext

from knapper_dataview.engine.dates import midnight
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.pages import ListItem, Page, unpacked
from knapper_dataview.engine.values import TYPES, Link, Record, file_title, heading_subpath

if TYPE_CHECKING:
    from knapper_dataview.engine.context import Context

_ABSENT = object()

SCALARS = frozenset({str, int, float, bool, type(None), Duration})


class PageRow(Record):
    """A note: its fields, and `file`."""

    __slots__ = ("context", "page")

    def __init__(self, page: Page, context: Context) -> None:
        self.page = page
        self.context = context

    def __missing__(self, key: str) -> object:
        if key == "file":
            file = self[key] = FileRecord(self.page, self.context)
            return file
        raw = self.page.fields.get(key, _ABSENT)
        if raw is _ABSENT:
            return None
        if type(raw) is Ext:
            # The page may outlive the query: the next one finds the value unpacked.
            raw = self.page.fields[key] = unpacked(raw)
        value = self[key] = raw if type(raw) in SCALARS else self.context.hydrate(raw, self.page.path)
        return value

    def full(self) -> dict[str, object]:
        return {key: self[key] for key in ("file", *self.page.fields)}


class FileRecord(Record):
    """A note's `file`: what every note has."""

    __slots__ = ("context", "page")

    # Records know pages and the context but never the row above them: without circles a query's rows are freed as
    # soon as it ends, not when the garbage collector comes round.
    def __init__(self, page: Page, context: Context) -> None:
        self.page = page
        self.context = context

    def __missing__(self, key: str) -> object:
        value = file_field(self.page, self.context, key)
        if value is not None:
            self[key] = value
        return value

    def full(self) -> dict[str, object]:
        return {key: self[key] for key in _FILE_FIELDS if key != "day" or self[key] is not None}


def file_field(page: Page, context: Context, key: str) -> object:
    """One field of a note's `file`, null where there is none of that name."""
    read = _FILE_FIELDS.get(key)
    return None if read is None else read(page, context)


def _at(milliseconds: float, context: Context) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, context.zone)


def _all_tags(tags: list[str]) -> list[object]:
    found: dict[str, None] = {}
    for tag in tags:
        found[tag] = None
        while "/" in tag:
            tag = tag.rsplit("/", 1)[0]
            found[tag] = None
    return [*found]


def _outlinks(page: Page, context: Context) -> list[object]:
    return [context.hydrate(link, page.path) for link in page.links]


def _inlinks(page: Page, context: Context) -> list[object]:
    return [Link(path) for path in context.source.linking_to(page.path)]


def _lists(page: Page, context: Context) -> list[object]:
    return [ItemRecord(item, page, context) for item in page.items]


def _tasks(page: Page, context: Context) -> list[object]:
    return [ItemRecord(item, page, context) for item in page.tasks]


def _extension(page: Page, context: Context) -> str:
    return page.path.rpartition(".")[2] if "." in page.path else ""


_FILE_FIELDS: dict[str, Callable[[Page, Context], object]] = {
    "path": lambda page, _: page.path,
    "folder": lambda page, _: page.path.rpartition("/")[0],
    "name": lambda page, _: file_title(page.path),
    "link": lambda page, _: Link(page.path),
    "outlinks": _outlinks,
    "inlinks": _inlinks,
    "etags": lambda page, _: [*page.tags],
    "tags": lambda page, _: _all_tags(page.tags),
    "aliases": lambda page, _: [*page.aliases],
    "lists": _lists,
    "tasks": _tasks,
    "ctime": lambda page, context: _at(page.ctime, context),
    "cday": lambda page, context: midnight(_at(page.ctime, context)),
    "mtime": lambda page, context: _at(page.mtime, context),
    "mday": lambda page, context: midnight(_at(page.mtime, context)),
    "size": lambda page, _: page.size,
    "starred": lambda page, context: context.source.starred(page.path),
    "frontmatter": lambda page, _: page.frontmatter,
    "ext": _extension,
    "day": lambda page, context: context.hydrate(page.day, page.path),
}


class ItemRecord(Record):
    """A list item or task as a value."""

    __slots__ = ("context", "item", "page")

    def __init__(self, item: ListItem, page: Page, context: Context) -> None:
        self.item = item
        self.page = page
        self.context = context

    def __missing__(self, key: str) -> object:
        read = _ITEM_FIELDS.get(key) or (_TASK_FIELDS.get(key) if self.item.status is not None else None)
        value = read(self) if read is not None else None
        if value is None and self.item.fields:
            value = self._field(key)
        if value is not None:
            self[key] = value
        return value

    def _field(self, key: str) -> object:
        values = self.item.fields.get(key)
        if values is None:
            return None
        return self.context.hydrate(values[0] if len(values) == 1 else values, self.page.path)

    def first(self, *keys: str) -> object:
        """The first value of the first of these fields that the item has."""
        fields = self.item.fields
        values = next((fields[key] for key in keys if key in fields), None) if fields else None
        return self.context.hydrate(values[0], self.page.path) if values else None

    def keys_of_item(self) -> list[str]:
        """The keys of the item, in the order Dataview gives them."""
        always = [key for key in _ITEM_FIELDS if key not in ("parent", "blockId") or self[key] is not None]
        of_task = [key for key in _TASK_FIELDS if key not in _DATES or self[key] is not None]
        return [
            *dict.fromkeys([*always, *self.item.fields, *(of_task if self.item.status is not None else ())])
        ]

    def full(self) -> dict[str, object]:
        return {key: self[key] for key in self.keys_of_item()}


def _section(record: ItemRecord) -> Link:
    path, heading = record.page.path, record.item.section
    return Link(path) if heading is None else Link(path, None, heading_subpath(heading), "header")


def _link(record: ItemRecord) -> object:
    block = record.item.block
    return record["section"] if block is None else Link(record.page.path, None, block, "block")


def _links(record: ItemRecord) -> list[object]:
    # As they are written: Dataview resolves a note's links, but not those of its list items.
    return [unpacked(link) if isinstance(link, Ext) else link for link in record.item.links]


def _children(record: ItemRecord) -> list[object]:
    by_line = record.page.items_by_line if record.item.children else {}
    return [ItemRecord(by_line[line], record.page, record.context) for line in record.item.children]


def _position(record: ItemRecord) -> dict[str, object]:
    item = record.item
    return {"start": {"line": item.line}, "end": {"line": item.line + item.line_count - 1}}


_ITEM_FIELDS: dict[str, Callable[[ItemRecord], object]] = {
    "symbol": lambda record: record.item.symbol,
    "link": _link,
    "section": _section,
    "text": lambda record: record.item.text,
    "tags": lambda record: [*record.item.tags],
    "line": lambda record: record.item.line,
    "lineCount": lambda record: record.item.line_count,
    "list": lambda record: record.item.list_line,
    "outlinks": _links,
    "path": lambda record: record.page.path,
    "children": _children,
    "task": lambda record: record.item.status is not None,
    "annotated": lambda record: bool(record.item.fields),
    "position": _position,
    "subtasks": _children,
    "real": lambda record: record.item.status is not None,
    "header": _section,
    # Left out where it is line 0, because 0 counts as nothing to Dataview.
    "parent": lambda record: record.item.parent or None,
    "blockId": lambda record: record.item.block,
}
_TASK_FIELDS: dict[str, Callable[[ItemRecord], object]] = {
    "status": lambda record: record.item.status,
    "checked": lambda record: record.item.status != " ",
    "completed": lambda record: record.item.status in ("x", "X"),
    "fullyCompleted": lambda record: record.item.fully_completed,
    "created": lambda record: record.first("created", "ctime", "cday"),
    "due": lambda record: record.first("due", "duetime", "dueday"),
    "completion": lambda record: record.first("completed", "completion", "comptime", "compday"),
    "start": lambda record: record.first("start"),
    "scheduled": lambda record: record.first("scheduled"),
}
_DATES = frozenset({"created", "due", "completion", "start", "scheduled"})


class TaskRow(ItemRecord):
    """A row of TASK: the task, and the note's fields behind it."""

    __slots__ = ("note",)

    def __init__(self, item: ListItem, note: PageRow) -> None:
        self.item = item
        self.page = note.page
        self.context = note.context
        self.note = note

    def __missing__(self, key: str) -> object:
        value = super().__missing__(key)
        if value is None and key not in self.item.fields:
            return self.note[key]
        return value

    def full(self) -> dict[str, object]:
        return {**self.note.full(), **{key: self[key] for key in self.keys_of_item()}}


def task_rows(note: PageRow) -> list[TaskRow]:
    """The tasks of a note as rows."""
    return [TaskRow(item, note) for item in note.page.tasks]


class Overlay(Record):
    """A row with one field more, as FLATTEN and lambdas make it."""

    __slots__ = ("below",)

    def __init__(self, below: Record, name: str, value: object) -> None:
        self.below = below
        self[name] = value

    def __missing__(self, key: str) -> object:
        return self.below[key]

    def full(self) -> dict[str, object]:
        return {**self.below.full(), **self}


for _kind in (PageRow, FileRecord, ItemRecord, TaskRow, Overlay):
    TYPES[_kind] = "object"
