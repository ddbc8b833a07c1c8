"""What the text of a link names: target, path, subpath and the text shown for it."""

import html
import re
from typing import NamedTuple

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_BARE = re.compile(r"[^\s()<\\]*")
_SPACE = re.compile(r"\s*")
_TITLE = re.compile(r"""\s+("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\((?:\\.|[^)\\])*\))\s*""", re.DOTALL)
# decodeURI leaves these encoded, so a note called "A & B" is not reached through "A%20%26%20B".
_RESERVED = frozenset(";/?:@&=+$,#")
# Past this no destination is looked for: nobody links to such a path, and brackets without end stay cheap.
_LONGEST = 4096
_DEEPEST = 32


class Target(NamedTuple):
    """The parts of a link: as written, and as read."""

    target: str
    path: str
    subpath: str
    display: str


def wikilink(content: str) -> Target | None:
    """The parts of what stands between `[[` and `]]`; None where that is blank."""
    bar = content.find("|")
    if bar > 0:
        # In a table the bar is escaped.
        target = content[: bar - 1 if content[bar - 1] == "\\" else bar].strip()
        display = content[bar + 1 :].strip()
    else:
        target = content.strip()
        display = shown(target)
    if not target:
        return None
    path, mark, rest = target.partition("#")
    return Target(target, path, mark + rest, display)


def shown(target: str) -> str:
    """The text Obsidian shows for a wikilink without an alias."""
    if "#" not in target:
        return target
    return " > ".join(part for part in target.split("#") if part).strip()


def markdown(destination: str, text: str) -> Target | None:
    """The parts of a Markdown link; None where it is empty or leads out of the vault."""
    plain = destination
    if "\\" in plain:
        plain = _ESCAPE.sub(r"\1", plain)
    if "&" in plain:
        plain = html.unescape(plain)
    if not plain or _SCHEME.match(plain):
        return None
    path, mark, rest = decode_uri(plain).partition("#")
    return Target(destination, path, mark + rest, text)


def decode_uri(text: str) -> str:
    """Percent-decoding as JavaScript's decodeURI does it: all or, where malformed, nothing."""
    if "%" not in text:
        return text
    try:
        return _ENCODED.sub(_decode_run, text)
    except UnicodeDecodeError:
        return text


def _decode_run(match: re.Match[str]) -> str:
    run = match[0]
    decoded = bytes.fromhex(run.replace("%", "")).decode("utf-8")
    if _RESERVED.isdisjoint(decoded):
        return decoded
    return "".join(f"%{ord(char):02X}" if char in _RESERVED else char for char in decoded)


def destination(text: str, at: int, stop: int) -> tuple[str, int] | None:
    """The destination that begins after the `(` before `at`, and where its `)` ends."""
    begin = _after(_SPACE, text, at, stop)
    if text.startswith("<", begin, stop):
        close = text.find(">", begin, min(stop, begin + _LONGEST))
        if close < 0 or "\n" in text[begin:close]:
            return None
        return _closed(text, text[begin + 1 : close], close + 1, stop)
    end = _bare_end(text, begin, stop)
    return None if end < 0 else _closed(text, text[begin:end], end, stop)


def _bare_end(text: str, begin: int, stop: int) -> int:
    end = _after(_BARE, text, begin, stop)
    if end == stop or text[end] == ")" or text[end].isspace():
        return end
    depth = 0
    limit = min(stop, begin + _LONGEST)
    while end < limit:
        char = text[end]
        if char.isspace():
            return end
        if char == "\\":
            end += 1
        elif char == "(":
            depth += 1
            if depth > _DEEPEST:
                return -1
        elif char == ")":
            if not depth:
                return end
            depth -= 1
        end += 1
    return -1


def _closed(text: str, found: str, at: int, stop: int) -> tuple[str, int] | None:
    if text.startswith(")", at, stop):
        return found, at + 1
    title = _TITLE.match(text, at, min(stop, at + _LONGEST))
    end = title.end() if title else _after(_SPACE, text, at, stop)
    return (found, end + 1) if text.startswith(")", end, stop) else None


def _after(pattern: re.Pattern[str], text: str, at: int, stop: int) -> int:
    match = pattern.match(text, at, stop)
    return match.end() if match else at
