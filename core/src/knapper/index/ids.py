"""Names that outlive the index: a note's id comes from its path, a chunk's from its note and its place in it."""

from __future__ import annotations

from hashlib import sha256


def note_id(path: str) -> str:
    """The first 16 bytes of the SHA-256 of a path, in hex."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return sha256("/".join(parts).encode()).hexdigest()[:32]


def chunk_id(path: str, number: int) -> str:
    return f"{note_id(path)}:{number}"
