"""New content for a file from text, keeping what a text does not show: byte order mark and line ends."""

from __future__ import annotations

from collections.abc import Callable

from knapper.errors import ToolError
from knapper.vault.files import BOM, File

Compose = Callable[[File | None], bytes]


def written(content: str | bytes, old: File | None, path: str) -> bytes:
    """Content as bytes; a text over a file keeps its byte order mark and, unless it brings its own, its line ends."""
    if isinstance(content, bytes):
        return content
    if old is not None and "\r" not in content and _is_all_crlf(old.data):
        content = content.replace("\n", "\r\n")
    data = _encoded(content, path)
    marked = old is not None and old.data.startswith(BOM)
    return BOM + data if marked and not data.startswith(BOM) else data


def edited(change: Callable[[str], str], old: File) -> bytes:
    """The changed text as bytes; where every line of the file ends in CRLF, so does every line of the result."""
    text = old.text
    if not _is_all_crlf(old.data):
        return written(change(text), old, old.path)
    plain = change(text.replace("\r\n", "\n")).replace("\r\n", "\n")
    return written(plain.replace("\n", "\r\n"), old, old.path)


def _is_all_crlf(data: bytes) -> bool:
    pairs = data.count(b"\r\n")
    return pairs > 0 and pairs == data.count(b"\n") == data.count(b"\r")


def _encoded(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError(
            "invalid_input", f"the text for {path!r} has half a surrogate pair in it", path=path
        ) from None
