"""Results, and lists of them cut into pages by key, so that a cursor survives inserts and deletes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from knapper.errors import ToolError

TERSE = ("path", "score", "snippet")


def _wire_name(name: str) -> str:
    return name.rstrip("_")


class _Named(msgspec.StructMeta):
    """Makes the fields of every record keyword-only; msgspec does not hand that setting down."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **settings: Any) -> Any:
        settings.setdefault("kw_only", True)
        return super().__new__(mcls, name, bases, namespace, **settings)


class Record(msgspec.Struct, metaclass=_Named, omit_defaults=True, rename=_wire_name):
    """A result with named fields; one that has its default is left out, and `from_` is sent as `from`.

    A terse list keeps of it the first field, path, score and snippet, or the fields that `terse` names.
    """

    terse: ClassVar[tuple[str, ...]] = ()


T = TypeVar("T")


class Paged(Record, Generic[T]):
    """One page: its items, the cursor of the next page, and how many there are in all.

    `overflow` says that there is more which no cursor leads to, because the search itself ended at a limit.
    `incomplete` says what the answer does not cover, because the index is still being built; any record with a field of
    this name gets it filled in.
    """

    items: list[T]
    cursor: str | None = None
    overflow: bool = False
    total_count: int | None = None
    incomplete: str | None = None


class Page:
    """Which page a caller asked for; a tool takes it as its `page` parameter and cuts its result with it."""

    __slots__ = ("_bind", "_cursor", "limit")
    Of: TypeAlias = Paged

    def __init__(self, limit: int = 100, cursor: str | None = None, bind: Callable[[], str] = str) -> None:
        self.limit = limit
        self._cursor = cursor
        self._bind = bind

    @property
    def after(self) -> Any:
        """The key that the page before ended with, or None on the first page."""
        if self._cursor is None:
            return None
        try:
            padded = self._cursor + "=" * (-len(self._cursor) % 4)
            bind, key = msgspec.msgpack.decode(base64.urlsafe_b64decode(padded), type=tuple[str, Any])
        except (binascii.Error, ValueError, msgspec.MsgspecError):
            raise ToolError("invalid_input", "cursor is not one of this server's", field="cursor") from None
        if bind != self._bind():
            raise ToolError(
                "invalid_input", "cursor belongs to another call; keep the other arguments", field="cursor"
            )
        return key

    def cursor_at(self, key: Any) -> str:
        """The cursor of the page that follows the item with this key."""
        packed = msgspec.msgpack.encode((self._bind(), key))
        return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()

    def cut(self, items: Iterable[T], *, key: Callable[[T], Any]) -> Paged[T]:
        """One page of items, which must be in ascending order of `key`; the total is exact."""
        after, total, more = self.after, 0, False
        rows: list[T] = []
        if isinstance(after, list):
            after = tuple(after)
        for item in items:
            total += 1
            if after is not None and not key(item) > after:
                continue
            if len(rows) < self.limit:
                rows.append(item)
            else:
                more = True
        return self.of(rows, total, key(rows[-1]) if more else None)

    def of(
        self, items: list[T], total: int | None = None, last_key: Any = None, *, overflow: bool = False
    ) -> Paged[T]:
        """A page already cut; `last_key` is the key of its last item where more follow."""
        cursor = None if last_key is None else self.cursor_at(last_key)
        return Paged(items=items, cursor=cursor, overflow=overflow, total_count=total)


def terse_fields(returns: Any) -> dict[str, str]:
    """What a terse answer of this type keeps of each item, by its name on the wire; nothing where it is no page."""
    item = _item(returns)
    if not (isinstance(item, type) and issubclass(item, Record)):
        return {}
    wire = dict(zip(item.__struct_fields__, item.__struct_encode_fields__, strict=True))
    kept = item.terse or (item.__struct_fields__[0], *TERSE)
    return {name: wire[name] for name in kept if name in wire}


def trimmed(page: Paged[Any], fields: dict[str, str]) -> Paged[Any]:
    """A page with nothing but these fields in its items."""
    items = [
        {wire: value for name, wire in fields.items() if (value := getattr(item, name)) is not None}
        for item in page.items
    ]
    return msgspec.structs.replace(page, items=items)


def _item(returns: Any) -> Any:
    """What a page is of, also where a result adds fields to a page."""
    bases = getattr(get_origin(returns) or returns, "__orig_bases__", ())
    return next((get_args(one)[0] for one in (returns, *bases) if get_origin(one) is Paged), None)
