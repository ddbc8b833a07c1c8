"""Results, and lists of them cut into pages by key, so that a cursor survives inserts and deletes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from knapper.errors import ToolError


def _wire_name(name: str) -> str:
    return name.rstrip("_")


class Record(msgspec.Struct, kw_only=True, omit_defaults=True, rename=_wire_name):
    """A result with named fields; one that has its default is left out, and `from_` is sent as `from`."""


T = TypeVar("T")


class Paged(Record, Generic[T]):
    """One page: its items, the cursor of the next page, and how many there are in all."""

    items: list[T]
    cursor: str | None = None
    overflow: bool = False
    total_count: int | None = None


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

    def of(self, items: list[T], total: int | None = None, last_key: Any = None) -> Paged[T]:
        """A page already cut; `last_key` is the key of its last item where more follow."""
        cursor = None if last_key is None else self.cursor_at(last_key)
        return Paged(items=items, cursor=cursor, total_count=total)
