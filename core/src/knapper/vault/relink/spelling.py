"""A link's text with another path in it: everything else of the link as it was."""

import html
import re
from typing import NamedTuple
from urllib.parse import quote

from knapper.vault.markdown import Link
from knapper.vault.markdown.targets import Target, markdown, wikilink

_TITLE = r"""(?:\s+(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^)\\])*\)))?\s*\)"""
_REST = re.compile(_TITLE, re.DOTALL)
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\"<>\\^`{|}%]")
_UNSAFE_IN_ANGLES = re.compile(r"[\x00-\x1f\x7f<>\\|%]")
_PARENTHESIS = re.compile(r"[()]")
_BALANCED = re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_ENCODED_NON_ASCII = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")


class Spelled(NamedTuple):
    """A change to a link's text: `original[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


def spell(link: Link, path: str, subpath: str | None = None) -> Spelled | None:
    """The change that makes a link name `path`, or None where no link of its kind can; its subpath stays if not given."""
    if link.kind == "wikilink":
        return _in_wikilink(link, path, subpath)
    return _in_markdown(link, path, subpath)


def _in_wikilink(link: Link, path: str, subpath: str | None) -> Spelled | None:
    opening = 3 if link.embed else 2
    content = link.original[opening:-2]
    start = content.find(link.target)
    end = start + len(link.path if subpath is None else link.target)
    new = path + (subpath or "")
    written = content[:start] + new + content[end:]
    closes = (written + "]]").find("]]") == len(written)
    if start < 0 or not closes or "[[" in f"[{written}" or "\n" in new:
        return None
    return (
        Spelled(opening + start, opening + end, new)
        if _names(wikilink(written), link, path, subpath)
        else None
    )


def _in_markdown(link: Link, path: str, subpath: str | None) -> Spelled | None:
    start = _destination(link)
    if start < 0:
        return None
    old, mark, rest = link.target.partition("#")
    encode = _encoded_in_angles if link.original[start - 1] == "<" else _encoded
    new = encode(path, old)
    if subpath is not None:
        new += encode(subpath, rest)
        old, mark, rest = link.target, "", ""
    read = markdown(new + mark + rest, "")
    return Spelled(start, start + len(old), new) if _names(read, link, path, subpath) else None


def _names(read: Target | None, link: Link, path: str, subpath: str | None) -> bool:
    return read is not None and (read.path, read.subpath) == (
        path,
        link.subpath if subpath is None else subpath,
    )


def _destination(link: Link) -> int:
    """Where a Markdown link's destination begins in its text, -1 where it is spread over quoted lines."""
    original, target = link.original, link.target
    at = original.find("](")
    while at >= 0:
        start = at + 2
        while original[start : start + 1].isspace():
            start += 1
        angle = original.startswith("<", start)
        start += angle
        end = start + len(target)
        if original.startswith(target, start) and original[end : end + angle] in ("", ">"):
            rest = _REST.fullmatch(original, end + angle)
            if rest is not None:
                return start
        at = original.find("](", at + 1)
    return -1


def _encoded(path: str, old: str) -> str:
    new = _UNSAFE.sub(_percent, path)
    if "%28" in old or "%29" in old or not _BALANCED.fullmatch(new):
        new = _PARENTHESIS.sub(_percent_always, new)
    return _as_before(new, old)


def _encoded_in_angles(path: str, old: str) -> str:
    new = _UNSAFE_IN_ANGLES.sub(_percent, path)
    return _as_before(new.replace(" ", "%20") if "%20" in old else new, old)


def _as_before(new: str, old: str) -> str:
    if _ENCODED_NON_ASCII.search(old):
        new = _NON_ASCII.sub(_percent, new)
    return new.replace("&", "&amp;") if html.unescape(new) != new else new


def _percent(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


def _percent_always(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"
