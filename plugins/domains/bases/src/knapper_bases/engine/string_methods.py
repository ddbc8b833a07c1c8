"""Functions on texts, and on what is a text with a special look: tags, links, HTML, icons, images."""

import re

from knapper_bases.engine import jsregex
from knapper_bases.engine.arguments import MANY, Method, bounds, flattened, string, whole
from knapper_bases.engine.compare import equal, string_of
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import Link, Regexp

_WORD_START = re.compile(r"(?<!\S)\S")


def length(value: str) -> int:
    """Count UTF-16 units, as the app does."""
    return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2


def _cut(value: str, start: int, end: int) -> str:
    if length(value) == len(value):
        return value[start:end]
    units = value.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end]
    return units.decode("utf-16-le", "replace")


def _has(run: Run, value: str | Link, wanted: object) -> bool:
    if wanted is None:
        return False
    if isinstance(value, Link) and equal(value, wanted, run):
        return True
    haystack, needle = string_of(value) or "", string_of(wanted)
    needle = string(wanted, run) if needle is None else needle
    return needle in haystack or needle.casefold() in haystack.casefold()


def _contains(run: Run, value: str, args: list[object]) -> bool:
    return _has(run, value, args[0])


def _contains_all(run: Run, value: str, args: list[object]) -> bool:
    return all(_has(run, value, wanted) for wanted in flattened(args))


def _contains_any(run: Run, value: str, args: list[object]) -> bool:
    return any(_has(run, value, wanted) for wanted in flattened(args))


def _replace(run: Run, value: str, args: list[object]) -> str:
    pattern, replacement = args[0], string(args[1], run)
    if isinstance(pattern, Regexp):
        return jsregex.replaced(pattern, value, replacement, run.budget)
    wanted = string(pattern, run)
    count = len(value) + 1 if not wanted else value.count(wanted)
    run.budget.check_length(len(value) + count * max(0, len(replacement) - len(wanted)))
    return value.replace(wanted, replacement)


def _split(run: Run, value: str, args: list[object]) -> list[object]:
    separator = args[0]
    pieces: list[str]
    if isinstance(separator, Regexp):
        pieces = jsregex.pieces(separator, value, run.budget)
    elif mark := string(separator, run):
        pieces = value.split(mark)
    else:
        pieces = list(value)
    run.budget.spend(len(pieces))
    limit = len(pieces) if len(args) < 2 or args[1] is None else max(0, whole(args[1], "split"))
    return [*pieces[:limit]]


def _repeat(run: Run, value: str, args: list[object]) -> str:
    count = max(0, whole(args[0], "repeat"))
    run.budget.check_length(len(value) * count)
    return value * count if value else ""


def _title(run: Run, value: str, args: list[object]) -> str:
    return _WORD_START.sub(lambda found: found[0].upper(), value)


STRING_METHODS: dict[str, Method] = {
    "contains": Method(_contains, 1, 1),
    "containsAll": Method(_contains_all, 0, MANY),
    "containsAny": Method(_contains_any, 0, MANY),
    "endsWith": Method(lambda run, value, args: value.endswith(string(args[0], run)), 1, 1),
    "startsWith": Method(lambda run, value, args: value.startswith(string(args[0], run)), 1, 1),
    "lower": Method(lambda run, value, args: value.lower()),
    "replace": Method(_replace, 2, 2),
    "repeat": Method(_repeat, 1, 1),
    "reverse": Method(lambda run, value, args: value[::-1]),
    "slice": Method(lambda run, value, args: _cut(value, *bounds(args, length(value), "slice")), 1, 2),
    "split": Method(_split, 1, 2),
    "title": Method(_title),
    "trim": Method(lambda run, value, args: value.strip()),
}
