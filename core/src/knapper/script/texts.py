"""Texts: the methods of JavaScript's strings."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from knapper.script import collate
from knapper.script.errors import ScriptFailed, ScriptRefused
from knapper.script.regexes import JsRegex
from knapper.script.values import LONGEST_TEXT, UNDEFINED, Value, checked, to_text, to_whole

Method = Callable[[str, list[Value]], Value]
_DOLLAR = re.compile(r"\$(?:[$&`']|[0-9]{1,2})")


def argument(arguments: list[Value], index: int) -> Value:
    """An argument, UNDEFINED where it is not given."""
    return arguments[index] if index < len(arguments) else UNDEFINED


def position(value: Value, length: int, default: int) -> int:
    """An index that may count from the end, within the bounds."""
    if value is UNDEFINED:
        return default
    index = to_whole(value)
    return max(length + index, 0) if index < 0 else min(index, length)


def _text(arguments: list[Value], index: int = 0) -> str:
    value = argument(arguments, index)
    if isinstance(value, JsRegex):
        raise ScriptFailed("First argument must not be a regular expression")
    return to_text(value)


def _slice(text: str, arguments: list[Value]) -> str:
    start = position(argument(arguments, 0), len(text), 0)
    return text[start : position(argument(arguments, 1), len(text), len(text))]


def _substring(text: str, arguments: list[Value]) -> str:
    def bounded(value: Value, default: int) -> int:
        return min(max(default if value is UNDEFINED else to_whole(value), 0), len(text))

    first, second = bounded(argument(arguments, 0), 0), bounded(argument(arguments, 1), len(text))
    return text[min(first, second) : max(first, second)]


def _substr(text: str, arguments: list[Value]) -> str:
    start = position(argument(arguments, 0), len(text), 0)
    length = argument(arguments, 1)
    return text[start:] if length is UNDEFINED else text[start : start + max(to_whole(length), 0)]


def _split(text: str, arguments: list[Value]) -> list[Value]:
    parts, most = _parts(text, arguments), argument(arguments, 1)
    return parts if most is UNDEFINED or to_whole(most) < 0 else parts[: to_whole(most)]


def _parts(text: str, arguments: list[Value]) -> list[Value]:
    separator = argument(arguments, 0)
    if separator is UNDEFINED:
        return [text]
    if isinstance(separator, JsRegex):
        return [UNDEFINED if part is None else part for part in separator.split(text)]
    between = to_text(separator)
    return list(text.split(between)) if between else list(text)


def _replace(text: str, arguments: list[Value], everywhere: bool = False) -> str:
    pattern, replacement = argument(arguments, 0), argument(arguments, 1)
    with_what = replacement if callable(replacement) else to_text(replacement)
    matches = _matches(text, pattern) if isinstance(pattern, JsRegex) else _places(text, to_text(pattern))
    parts: list[str] = []
    at = length = 0
    for match in matches:
        parts += [text[at : match.start], _replacement(text, match, with_what)]
        at, length = match.end, length + len(parts[-1]) + len(parts[-2])
        if length > LONGEST_TEXT:
            raise ScriptFailed("Invalid string length")
        if not (everywhere or (isinstance(pattern, JsRegex) and "g" in pattern.flags)):
            break
    return checked("".join(parts) + text[at:])


class _Match(NamedTuple):
    start: int
    end: int
    groups: tuple[str | None, ...] = ()


def _matches(text: str, pattern: JsRegex) -> Iterator[_Match]:
    at = 0
    while at <= len(text) and (found := pattern.search(text, at)) is not None:
        yield _Match(found.start(), found.end(), found.groups())
        at = found.end() + (found.start() == found.end())


def _places(text: str, wanted: str) -> Iterator[_Match]:
    at = 0
    while at <= len(text) and (start := text.find(wanted, at)) >= 0:
        yield _Match(start, start + len(wanted))
        at = start + max(len(wanted), 1)


def _replacement(text: str, match: _Match, replacement: Value) -> str:
    if callable(replacement):
        groups = (UNDEFINED if group is None else group for group in match.groups)
        return to_text(replacement([text[match.start : match.end], *groups]))
    return (
        _DOLLAR.sub(lambda found: _inserted(text, match, found), replacement)
        if "$" in replacement
        else str(replacement)
    )


def _inserted(text: str, match: _Match, found: re.Match[str]) -> str:
    """What `$&`, `$1` and their like in a replacement stand for; a group that is not there stays as it is written."""
    sign = found[0][1:]
    if not sign.isdigit():
        whole = {
            "$": "$",
            "&": text[match.start : match.end],
            "`": text[: match.start],
            "'": text[match.end :],
        }
        return whole[sign]
    for number in (sign, sign[:1]):
        if 1 <= int(number) <= len(match.groups):
            return (match.groups[int(number) - 1] or "") + sign[len(number) :]
    return found[0]


def _match(text: str, arguments: list[Value]) -> Value:
    pattern = argument(arguments, 0)
    if not isinstance(pattern, JsRegex):
        raise ScriptRefused("match() without a regular expression")
    if "g" in pattern.flags:
        return pattern.all_in(text) or None
    found = pattern.search(text)
    if found is None:
        return None
    return [found[0], *(UNDEFINED if group is None else group for group in found.groups())]


def _search(text: str, arguments: list[Value]) -> int:
    pattern = argument(arguments, 0)
    if not isinstance(pattern, JsRegex):
        raise ScriptRefused("search() without a regular expression")
    found = pattern.search(text)
    return -1 if found is None else found.start()


def _padded(text: str, arguments: list[Value], at_start: bool) -> str:
    width = to_whole(argument(arguments, 0))
    fill = " " if argument(arguments, 1) is UNDEFINED else to_text(arguments[1])
    missing = width - len(text)
    if missing <= 0 or not fill:
        return text
    if width > LONGEST_TEXT:
        raise ScriptFailed("Invalid string length")
    padding = (fill * (missing // len(fill) + 1))[:missing]
    return padding + text if at_start else text + padding


def _repeat(text: str, arguments: list[Value]) -> str:
    count = to_whole(argument(arguments, 0))
    if count < 0 or len(text) * count > LONGEST_TEXT:
        raise ScriptFailed(f"Invalid count value: {to_text(argument(arguments, 0))}")
    return text * count


def _at(text: str, arguments: list[Value]) -> Value:
    index = to_whole(argument(arguments, 0))
    return text[index] if -len(text) <= index < len(text) else UNDEFINED


def _compare(text: str, arguments: list[Value]) -> int:
    mine, other = collate.key(text), collate.key(_text(arguments))
    return (mine > other) - (mine < other)


TEXT_METHODS: dict[str, Method] = {
    "includes": lambda text, arguments: _text(arguments) in text,
    "startsWith": lambda text, arguments: text.startswith(_text(arguments)),
    "endsWith": lambda text, arguments: text.endswith(_text(arguments)),
    "indexOf": lambda text, arguments: text.find(_text(arguments)),
    "lastIndexOf": lambda text, arguments: text.rfind(_text(arguments)),
    "toUpperCase": lambda text, arguments: text.upper(),
    "toLowerCase": lambda text, arguments: text.lower(),
    "toLocaleUpperCase": lambda text, arguments: text.upper(),
    "toLocaleLowerCase": lambda text, arguments: text.lower(),
    "trim": lambda text, arguments: text.strip(),
    "trimStart": lambda text, arguments: text.lstrip(),
    "trimEnd": lambda text, arguments: text.rstrip(),
    "toString": lambda text, arguments: text,
    "concat": lambda text, arguments: checked(text + "".join(map(to_text, arguments))),
    "charAt": lambda text, arguments: text[max(to_whole(argument(arguments, 0)), 0) :][:1],
    "slice": _slice,
    "substring": _substring,
    "substr": _substr,
    "split": _split,
    "replace": _replace,
    "replaceAll": lambda text, arguments: _replace(text, arguments, everywhere=True),
    "match": _match,
    "search": _search,
    "padStart": lambda text, arguments: _padded(text, arguments, at_start=True),
    "padEnd": lambda text, arguments: _padded(text, arguments, at_start=False),
    "repeat": _repeat,
    "at": _at,
    "localeCompare": _compare,
}
