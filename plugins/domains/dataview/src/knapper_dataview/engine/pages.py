"""What is kept of a note: built once when it is indexed, stored as one blob, read without opening the note again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import msgspec

from knapper_dataview.engine.dates import FixedZone
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.values import Link


class ListItem(msgspec.Struct, array_like=True, gc=False):
    """A list item or task; `status` is the character in its checkbox, None where it has none."""

    line: int
    line_count: int
    list_line: int
    symbol: str
    text: str
    status: str | None = None
    parent: int | None = None
    children: list[int] = []
    fully_completed: bool = False
    section: str | None = None
    block: str | None = None
    tags: list[str] = []
    links: list[object] = []
    fields: dict[str, list[object]] = {}


class PageData(msgspec.Struct, array_like=True):
    """A note's fields, typed but not resolved: links keep their written path, local dates have no zone."""

    fields: dict[str, object]
    tags: list[str]
    aliases: list[str]
    links: list[object]
    day: object
    frontmatter: dict[str, object]
    items: list[ListItem]


class _Head(msgspec.Struct, array_like=True):
    """The part of a page that most queries look at."""

    fields: dict[str, object]
    tags: list[str]
    aliases: list[str]
    day: object


class _Stored(msgspec.Struct, array_like=True, gc=False):
    """A page in four parts, each left encoded until it is asked for."""

    head: bytes
    links: bytes
    frontmatter: bytes
    items: bytes


_LINK, _DURATION, _DATE = 1, 2, 3
_plain_encoder = msgspec.msgpack.Encoder()
_plain_decoder = msgspec.msgpack.Decoder()
_link = msgspec.msgpack.Decoder(Link)


def _packed(value: object) -> object:
    if isinstance(value, Link):
        return msgspec.msgpack.Ext(_LINK, _plain_encoder.encode(value))
    if isinstance(value, Duration):
        return msgspec.msgpack.Ext(_DURATION, _plain_encoder.encode(value.amounts))
    if isinstance(value, datetime):
        zone = value.tzinfo
        written = (
            zone.minutes if isinstance(zone, FixedZone) else zone.key if isinstance(zone, ZoneInfo) else None
        )
        naive = value.replace(tzinfo=None).isoformat()
        return msgspec.msgpack.Ext(_DATE, _plain_encoder.encode((naive, written)))
    if isinstance(value, list):
        return [_packed(element) for element in value]
    if isinstance(value, dict):
        return {key: _packed(element) for key, element in value.items()}
    return value


def unpacked(packed: msgspec.msgpack.Ext) -> object:
    """A link, duration or date out of its stored form; done when a query asks for it, as most never are."""
    if packed.code == _LINK:
        return _link.decode(packed.data)
    parts = _plain_decoder.decode(packed.data)
    if packed.code == _DURATION:
        return Duration(parts)
    moment = datetime.fromisoformat(parts[0])
    zone: tzinfo | None = None
    if parts[1] is not None:
        zone = FixedZone(parts[1]) if isinstance(parts[1], int) else ZoneInfo(parts[1])
    return moment.replace(tzinfo=zone)


_stored = msgspec.msgpack.Decoder(_Stored)
_head = msgspec.msgpack.Decoder(_Head)
_links = msgspec.msgpack.Decoder(list[object])
_items = msgspec.msgpack.Decoder(list[ListItem])
_frontmatter = msgspec.msgpack.Decoder(dict[str, object])


def encode_page(data: PageData) -> bytes:
    """The blob to store beside the note in an index."""
    items = [
        msgspec.structs.replace(item, links=_packed(item.links), fields=_packed(item.fields))
        if item.links or item.fields
        else item
        for item in data.items
    ]
    head = (_packed(data.fields), data.tags, data.aliases, _packed(data.day))
    parts = (head, _packed(data.links), data.frontmatter, items)
    return _plain_encoder.encode(tuple(_plain_encoder.encode(part) for part in parts))


class Page:
    """A note as queries see it: its place and times, and its data, decoded part by part when asked for."""

    __slots__ = (
        "_data",
        "_head",
        "aliases",
        "ctime",
        "day",
        "fields",
        "frontmatter",
        "items",
        "items_by_line",
        "links",
        "mtime",
        "path",
        "size",
        "tags",
        "tasks",
    )

    path: str
    ctime: float
    mtime: float
    size: int
    fields: dict[str, object]
    tags: list[str]
    aliases: list[str]
    day: object
    links: list[object]
    frontmatter: dict[str, object]
    items: list[ListItem]
    items_by_line: dict[int, ListItem]
    tasks: list[ListItem]
    _head: _Head | PageData

    def __init__(self, path: str, ctime: float, mtime: float, size: int, data: bytes | PageData) -> None:
        """`ctime` and `mtime` are milliseconds since 1970, `data` what was kept of the note."""
        self.path = path
        self.ctime = ctime
        self.mtime = mtime
        self.size = size
        self._data: bytes | PageData | _Stored = data

    def __getattr__(self, name: str) -> object:
        # Only a slot not filled yet comes here: the first look decodes its part, the next ones cost nothing.
        data = self._data
        if isinstance(data, bytes):
            data = self._data = _stored.decode(data)
        if name == "fields":
            head = self._head = _head.decode(data.head) if isinstance(data, _Stored) else data
            self.fields = head.fields
            return head.fields
        read = _PARTS.get(name)
        if read is None:
            raise AttributeError(name)
        part = read(self, data)
        setattr(self, name, part)
        return part


def _head_of(page: Page, data: PageData | _Stored) -> _Head | PageData:
    return _head.decode(data.head) if isinstance(data, _Stored) else data


def _links_of(page: Page, data: PageData | _Stored) -> list[object]:
    return _links.decode(data.links) if isinstance(data, _Stored) else data.links


def _frontmatter_of(page: Page, data: PageData | _Stored) -> dict[str, object]:
    return _frontmatter.decode(data.frontmatter) if isinstance(data, _Stored) else data.frontmatter


def _items_of(page: Page, data: PageData | _Stored) -> list[ListItem]:
    return _items.decode(data.items) if isinstance(data, _Stored) else data.items


_PARTS: dict[str, Callable[[Page, PageData | _Stored], object]] = {
    "_head": _head_of,
    "tags": lambda page, data: page._head.tags,
    "aliases": lambda page, data: page._head.aliases,
    "day": lambda page, data: page._head.day,
    "links": _links_of,
    "frontmatter": _frontmatter_of,
    "items": _items_of,
    "items_by_line": lambda page, data: {item.line: item for item in page.items},
    "tasks": lambda page, data: [item for item in page.items if item.status is not None],
}
