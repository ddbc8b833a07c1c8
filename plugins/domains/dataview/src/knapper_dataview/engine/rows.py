"""Rows of a query: notes, list items and what FLATTEN adds, each filled key by key as it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from knapper_dataview.engine.dates import midnight
from knapper_dataview.engine.pages import ListItem, Page
from knapper_dataview.engine.values import TYPES, Link, Record, file_title, heading_subpath

if TYPE_CHECKING:
    from knapper_dataview.engine.context import Context

_ABSENT = object()


class PageRow(Record):
    """A note: its fields, and `file`."""

    __slots__ = ("context", "page")

    def __init__(self, page: Page, context: Context) -> None:
        self.page = page
        self.context = context

    def __missing__(self, key: str) -> object:
        if key == "file":
            self[key] = found = FileRecord(self)
            return found
        raw = self.page.head.fields.get(key, _ABSENT)
        if raw is _ABSENT:
            return None
        value = self[key] = self.context.hydrate(raw, self.page.path)
        return value

    def full(self) -> dict[str, object]:
        return {key: self[key] for key in ("file", *self.page.head.fields)}


class FileRecord(Record):
    """A note's `file`: what every note has."""

    __slots__ = ("row",)

    def __init__(self, row: PageRow) -> None:
        self.row = row

    def __missing__(self, key: str) -> object:
        read = _FILE_FIELDS.get(key)
        if read is None:
            return None
        value = self[key] = read(self.row)
        return value

    def full(self) -> dict[str, object]:
        return {key: self[key] for key in _FILE_FIELDS if key != "day" or self[key] is not None}


def _at(milliseconds: float, row: PageRow) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, row.context.zone)


def _all_tags(tags: list[str]) -> list[object]:
    found: dict[str, None] = {}
    for tag in tags:
        found[tag] = None
        while "/" in tag:
            tag = tag.rsplit("/", 1)[0]
            found[tag] = None
    return [*found]


def _folder(row: PageRow) -> str:
    return row.page.path.rpartition("/")[0]


def _links(row: PageRow) -> list[object]:
    return [row.context.hydrate(link, row.page.path) for link in row.page.links]


def _inlinks(row: PageRow) -> list[object]:
    return [Link(path) for path in row.context.source.linking_to(row.page.path)]


def _items(row: PageRow) -> list[object]:
    return [*item_records(row).values()]


def _tasks(row: PageRow) -> list[object]:
    return [record for record in item_records(row).values() if record.item.status is not None]


def _extension(row: PageRow) -> str:
    return row.page.path.rpartition(".")[2] if "." in row.page.path else ""


_FILE_FIELDS: dict[str, Callable[[PageRow], object]] = {
    "path": lambda row: row.page.path,
    "folder": _folder,
    "name": lambda row: file_title(row.page.path),
    "link": lambda row: Link(row.page.path),
    "outlinks": _links,
    "inlinks": _inlinks,
    "etags": lambda row: [*row.page.head.tags],
    "tags": lambda row: _all_tags(row.page.head.tags),
    "aliases": lambda row: [*row.page.head.aliases],
    "lists": _items,
    "tasks": _tasks,
    "ctime": lambda row: _at(row.page.ctime, row),
    "cday": lambda row: midnight(_at(row.page.ctime, row)),
    "mtime": lambda row: _at(row.page.mtime, row),
    "mday": lambda row: midnight(_at(row.page.mtime, row)),
    "size": lambda row: row.page.size,
    "starred": lambda row: row.context.source.starred(row.page.path),
    "frontmatter": lambda row: row.page.frontmatter,
    "ext": _extension,
    "day": lambda row: row.context.hydrate(row.page.head.day, row.page.path),
}


class ItemRecord(Record):
    """A list item or task as a value."""

    __slots__ = ("item", "row", "siblings")

    def __init__(self, item: ListItem, row: PageRow, siblings: dict[int, ItemRecord]) -> None:
        self.item = item
        self.row = row
        self.siblings = siblings

    def __missing__(self, key: str) -> object:
        read = _ITEM_FIELDS.get(key) or (_TASK_FIELDS.get(key) if self.item.status is not None else None)
        value = read(self) if read is not None else None
        if value is None:
            value = self._field(key)
        if value is not None:
            self[key] = value
        return value

    def _field(self, key: str) -> object:
        values = self.item.fields.get(key)
        if values is None:
            return None
        whole = values[0] if len(values) == 1 else values
        return self.row.context.hydrate(whole, self.row.page.path)

    def first(self, *keys: str) -> object:
        """The first value of the first of these fields that the item has."""
        values = next((self.item.fields[key] for key in keys if key in self.item.fields), None)
        return self.row.context.hydrate(values[0], self.row.page.path) if values else None

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
    path, heading = record.row.page.path, record.item.section
    return Link(path) if heading is None else Link(path, None, heading_subpath(heading), "header")


def _link(record: ItemRecord) -> object:
    block = record.item.block
    return record["section"] if block is None else Link(record.row.page.path, None, block, "block")


def _children(record: ItemRecord) -> list[object]:
    return [record.siblings[line] for line in record.item.children]


def _position(record: ItemRecord) -> dict[str, object]:
    item = record.item
    return {"start": {"line": item.line}, "end": {"line": item.line + item.line_count - 1}}


# Dataview leaves the parent out where it is line 0, because 0 counts as nothing there.
_ITEM_FIELDS: dict[str, Callable[[ItemRecord], object]] = {
    "symbol": lambda record: record.item.symbol,
    "link": _link,
    "section": _section,
    "text": lambda record: record.item.text,
    "tags": lambda record: [*record.item.tags],
    "line": lambda record: record.item.line,
    "lineCount": lambda record: record.item.line_count,
    "list": lambda record: record.item.list_line,
    "outlinks": lambda record: [*record.item.links],
    "path": lambda record: record.row.page.path,
    "children": _children,
    "task": lambda record: record.item.status is not None,
    "annotated": lambda record: bool(record.item.fields),
    "position": _position,
    "subtasks": _children,
    "real": lambda record: record.item.status is not None,
    "header": _section,
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


def item_records(row: PageRow) -> dict[int, ItemRecord]:
    """All list items of a note by their lines, each knowing its children."""
    records: dict[int, ItemRecord] = {}
    for item in row.page.items:
        records[item.line] = ItemRecord(item, row, records)
    return records


class TaskRow(ItemRecord):
    """A row of TASK: the task, and the note's fields behind it."""

    __slots__ = ()

    def __missing__(self, key: str) -> object:
        value = super().__missing__(key)
        if value is None and key not in self.item.fields:
            return self.row[key]
        return value

    def full(self) -> dict[str, object]:
        return {**self.row.full(), **{key: self[key] for key in self.keys_of_item()}}


def task_rows(row: PageRow) -> list[TaskRow]:
    """The tasks of a note as rows."""
    items = row.page.items
    if not items:
        return []
    siblings = item_records(row)
    return [TaskRow(item, row, siblings) for item in items if item.status is not None]


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
