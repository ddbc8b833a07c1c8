"""What a file is, by its first bytes; its name decides only where they do not."""

from __future__ import annotations

from mimetypes import guess_type

SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"BM", "image/bmp"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (8, b"WAVE", "audio/wav"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
)
ZIPPED = {".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub"}
NAMED = {
    ".md": "text/markdown",
    ".canvas": "application/json",
    ".base": "application/yaml",
    ".ogg": "audio/ogg",
    ".webp": "image/webp",
}
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # what models are able to see


def of(path: str, head: bytes) -> str:
    """The MIME type of a file from its name and first bytes."""
    named = by_name(path)
    for offset, signature, mime in SIGNATURES:
        if head[offset : offset + len(signature)] == signature:
            ending = "." + path.rpartition(".")[2].lower()
            return named if mime == "application/zip" and ending in ZIPPED else mime
    if b"<svg" in head[:1024].lower():
        return "image/svg+xml"
    if head.startswith(b"OggS"):
        return named if named.startswith(("audio/", "video/")) else "audio/ogg"
    # A name that promises a picture or sound is not believed where the bytes say nothing of it.
    return "application/octet-stream" if named in IMAGES or named == "application/pdf" else named


def by_name(path: str) -> str:
    """The MIME type a name stands for."""
    ending = "." + path.rpartition(".")[2].lower()
    return NAMED.get(ending) or guess_type(path)[0] or "application/octet-stream"
