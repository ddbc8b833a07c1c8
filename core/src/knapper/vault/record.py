"""What a transaction is about to do, as one value that survives a crash."""

from __future__ import annotations

from hashlib import sha256

import msgspec

_BLOCK = 4096
_MAGIC = b"knapper journal 1\n"


class Move(msgspec.Struct, frozen=True):
    """A file that gets another path, recognised by its inode or, where those are not stable, by its content."""

    source: str
    target: str
    hash: str
    inode: int
    replaced: str | None = None  # the hash of what it may replace at the target
    parked: str | None = None  # a name to wait under, where its own is another's target
    trash: bool = False


class Removal(msgspec.Struct, frozen=True):
    """A file that is unlinked if it still has this content."""

    path: str
    hash: str


class Put(msgspec.Struct, frozen=True):
    """A file that gets new content if it still has the base; None: if there is no file."""

    path: str
    data: bytes
    hash: str
    base: str | None


class Record(msgspec.Struct, frozen=True):
    """All of one transaction: first the moves, then the removals, then the new contents."""

    root: str
    at: str
    moves: list[Move] = []
    removals: list[Removal] = []
    puts: list[Put] = []

    def __bool__(self) -> bool:
        return bool(self.moves or self.removals or self.puts)

    @property
    def room(self) -> int:
        """How many bytes it may take on the disk while it is carried out, each file in blocks of its own."""
        return sum(len(put.data) + _BLOCK for put in self.puts)

    def touched(self) -> list[str]:
        """Every path whose state may be another one afterwards."""
        moved = [path for move in self.moves for path in (move.source, move.target)]
        return list(dict.fromkeys([*moved, *(r.path for r in self.removals), *(p.path for p in self.puts)]))


class Torn(Exception):
    """The bytes are not a whole record."""


def encode(record: Record) -> bytes:
    body = msgspec.msgpack.encode(record)
    return _MAGIC + sha256(body).digest() + body


def decode(data: bytes) -> Record:
    """The record, or Torn where a byte of it is missing or wrong."""
    magic, digest, body = data[: len(_MAGIC)], data[len(_MAGIC) :][:32], data[len(_MAGIC) + 32 :]
    if magic != _MAGIC or sha256(body).digest() != digest:
        raise Torn
    try:
        return msgspec.msgpack.decode(body, type=Record)
    except msgspec.MsgspecError as error:
        raise Torn from error
