"""File contents by their hash: packed where that pays, once a vault, and checked when read."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, NamedTuple

from knapper.errors import ToolError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_SAMPLE = 65536
_INSERT = "INSERT INTO snapshot_blobs (vault_id, hash, codec, content, size) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
UNUSED = (
    "NOT EXISTS (SELECT 1 FROM note_snapshots s"
    " WHERE s.vault_id = snapshot_blobs.vault_id AND s.hash = snapshot_blobs.hash)"
)


class Blob(NamedTuple):
    """A content ready to be stored."""

    hash: str
    codec: str
    content: bytes
    size: int


def pack(data: bytes) -> Blob:
    """Hash and compress; what does not shrink (images, archives) is kept as it is."""
    digest = hashlib.sha256(data).hexdigest()
    # A sample decides for large files, so that an attachment is not compressed only to be thrown away.
    if len(data) <= _SAMPLE or len(zlib.compress(data[:_SAMPLE], 1)) < _SAMPLE * 0.9:
        packed = zlib.compress(data, 1)
        if len(packed) < len(data):
            return Blob(digest, "zlib", packed, len(data))
    return Blob(digest, "raw", data, len(data))


def put(conn: Connection, vault: str, blob: Blob) -> None:
    """Store the content unless the vault has it."""
    conn.exec_driver_sql(_INSERT, (vault, *blob))


def get(conn: Connection, vault: str, hash: str) -> bytes:
    """The content of this hash, proved to be it."""
    row = conn.exec_driver_sql(
        "SELECT codec, content FROM snapshot_blobs WHERE vault_id = ? AND hash = ?", (vault, hash)
    ).one_or_none()
    if row is not None:
        data = _unpack(row[0], row[1])
        if data is not None and hashlib.sha256(data).hexdigest() == hash:
            return data
    raise ToolError("internal", f"the stored content {hash[:12]} is missing or damaged", hash=hash)


def _unpack(codec: str, content: bytes) -> bytes | None:
    if codec == "raw":
        return bytes(content)
    try:
        return zlib.decompress(content)
    except zlib.error:
        return None
