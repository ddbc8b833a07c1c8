"""What is kept of a note: built once when it is indexed, stored as one blob, read without opening the note again."""

from __future__ import annotations

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


class _Stored(msgspec.Struct, array_like=True):
    """The same, with what most queries never look at left encoded."""

    fields: dict[str, object]
    tags: list[str]
    aliases: list[str]
    links: msgspec.Raw
    day: object
    frontmatter: msgspec.Raw
    items: msgspec.Raw


_LINK, _DURATION, _DATE = 1, 2, 3
_plain_encoder = msgspec.msgpack.Encoder()
_plain_decoder = msgspec.msgpack.Decoder()


def _packed(value: object) -> object:
    if isinstance(value, Link):
        parts = (value.path, value.display, value.subpath, value.type, value.embed)
        return msgspec.msgpack.Ext(_LINK, _plain_encoder.encode(parts))
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


def _unpacked(code: int, data: memoryview) -> object:
    parts = _plain_decoder.decode(data)
    if code == _LINK:
        return Link(*parts)
    if code == _DURATION:
        return Duration(parts)
    moment = datetime.fromisoformat(parts[0])
    zone: tzinfo | None = None
    if parts[1] is not None:
        zone = FixedZone(parts[1]) if isinstance(parts[1], int) else ZoneInfo(parts[1])
    return moment.replace(tzinfo=zone)


_stored = msgspec.msgpack.Decoder(_Stored, ext_hook=_unpacked)
_links = msgspec.msgpack.Decoder(list[object], ext_hook=_unpacked)
_items = msgspec.msgpack.Decoder(list[ListItem], ext_hook=_unpacked)
_frontmatter = msgspec.msgpack.Decoder(dict[str, object])


def encode_page(data: PageData) -> bytes:
    """The blob to store beside the note in an index."""
    items = [
        msgspec.structs.replace(item, links=_packed(item.links), fields=_packed(item.fields))
        for item in data.items
    ]
    packed = (
        _packed(data.fields), data.tags, data.aliases, _packed(data.links), _packed(data.day), data.frontmatter, items
    )  # fmt: skip
    return _plain_encoder.encode(packed)


class Page:
    """A note as queries see it: its place and times, and its data, decoded part by part when asked for."""

    __slots__ = ("_data", "_frontmatter", "_head", "_items", "_links", "ctime", "mtime", "path", "size")

    def __init__(self, path: str, ctime: float, mtime: float, size: int, data: bytes | PageData) -> None:
        self.path = path
        self.ctime = ctime
        self.mtime = mtime
        self.size = size
        self._data = data
        self._head: PageData | _Stored | None = None
        self._items: list[ListItem] | None = None
        self._links: list[object] | None = None
        self._frontmatter: dict[str, object] | None = None

    @property
    def head(self) -> PageData | _Stored:
        """Fields, tags, aliases and day."""
        head = self._head
        if head is None:
            head = self._head = self._data if isinstance(self._data, PageData) else _stored.decode(self._data)
        return head

    @property
    def items(self) -> list[ListItem]:
        """Its list items and tasks, in the order of their lines."""
        if self._items is None:
            kept = self.head.items
            self._items = _items.decode(kept) if isinstance(kept, msgspec.Raw) else kept
        return self._items

    @property
    def links(self) -> list[object]:
        """Its links as they are written."""
        if self._links is None:
            kept = self.head.links
            self._links = _links.decode(kept) if isinstance(kept, msgspec.Raw) else kept
        return self._links

    @property
    def frontmatter(self) -> dict[str, object]:
        """Its properties as YAML gave them."""
        if self._frontmatter is None:
            kept = self.head.frontmatter
            self._frontmatter = _frontmatter.decode(kept) if isinstance(kept, msgspec.Raw) else kept
        return self._frontmatter
