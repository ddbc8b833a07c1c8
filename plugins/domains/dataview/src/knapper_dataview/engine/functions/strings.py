"""Functions over texts."""

from __future__ import annotations

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.functions.dispatch import Builtin, builtins, null
from knapper_dataview.engine.regexes import replace_all, search, split
from knapper_dataview.engine.text import index_of, length, padding, substring

_NULLS_OF_2 = {"null *": null, "* null": null}
_NULLS_OF_3 = {"null * *": null, "* null *": null, "* * null": null}


def _false(context: Context, *arguments: object) -> bool:
    return False


def _test(context: Context, pattern: str, text: str) -> bool:
    return search(pattern, text, context.budget)


def _match(context: Context, pattern: str, text: str) -> bool:
    # Only a pattern with neither anchor is made to match the whole text.
    if not pattern.startswith("^") and not pattern.endswith("$"):
        pattern = f"^{pattern}$"
    return search(pattern, text, context.budget)


def _regexreplace(context: Context, text: str, pattern: str, replacement: str) -> str:
    return replace_all(pattern, text, replacement, context.budget)


def _replace(context: Context, text: str, part: str, replacement: str) -> str:
    context.budget.grow(len(text) + text.count(part) * len(replacement))
    # Splitting at nothing in JavaScript gives the single characters, with none before the first.
    return text.replace(part, replacement) if part else replacement.join(text)


def _split(context: Context, text: str, pattern: str, limit: float | None = None) -> list[object]:
    return split(pattern, text, limit, context.budget)


def _padleft(context: Context, text: str, width: float, fill: str = " ") -> str:
    return padding(text, width, fill, context.budget) + text


def _padright(context: Context, text: str, width: float, fill: str = " ") -> str:
    return text + padding(text, width, fill, context.budget)


def _substring(context: Context, text: str, start: float, end: float | None = None) -> str:
    return substring(text, start, end)


def _truncate(context: Context, text: str, width: float, suffix: str = "...") -> str:
    kept = index_of(width) - length(suffix)
    return substring(text, 0, max(kept, 0)) + suffix if length(text) > kept else text


STRINGS = builtins(
    Builtin("regextest", {"string string": _test, "null *": _false, "* null": _false}, {2: (0, 1)}),
    Builtin("regexmatch", {"string string": _match, "null *": _false, "* null": _false}, {2: (0, 1)}),
    Builtin("regexreplace", {"string string string": _regexreplace, **_NULLS_OF_3}, {3: (0, 1, 2)}),
    Builtin("replace", {"string string string": _replace, **_NULLS_OF_3}, {3: (0, 1, 2)}),
    Builtin("lower", {"string": lambda _, text: text.lower(), "null": null}, {1: (0,)}),
    Builtin("upper", {"string": lambda _, text: text.upper(), "null": null}, {1: (0,)}),
    Builtin("split", {"string string": _split, "string string number": _split, **_NULLS_OF_2, **_NULLS_OF_3}),
    Builtin(
        "startswith",
        {"string string": lambda _, text, part: text.startswith(part), **_NULLS_OF_2},
        {2: (0, 1)},
    ),
    Builtin(
        "endswith", {"string string": lambda _, text, part: text.endswith(part), **_NULLS_OF_2}, {2: (0, 1)}
    ),
    Builtin(
        "padleft",
        {"string number": _padleft, "string number string": _padleft, **_NULLS_OF_2, **_NULLS_OF_3},
        {2: (0, 1), 3: (0, 1, 2)},
    ),
    Builtin(
        "padright",
        {"string number": _padright, "string number string": _padright, **_NULLS_OF_2, **_NULLS_OF_3},
        {2: (0, 1), 3: (0, 1, 2)},
    ),
    Builtin(
        "substring",
        {"string number": _substring, "string number number": _substring, **_NULLS_OF_2, **_NULLS_OF_3},
        {2: (0, 1), 3: (0, 1, 2)},
    ),
    Builtin(
        "truncate",
        {"string number": _truncate, "string number string": _truncate, **_NULLS_OF_2, **_NULLS_OF_3},
        {2: (0, 1), 3: (0, 1, 2)},
    ),
)
