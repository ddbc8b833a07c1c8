"""Functions over lists and objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knapper_dataview.engine.access import index
from knapper_dataview.engine.comparison import equal, ranked
from knapper_dataview.engine.context import Context
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.functions.dispatch import Builtin, builtins, null
from knapper_dataview.engine.regexes import search
from knapper_dataview.engine.rendering import text_of
from knapper_dataview.engine.text import index_of, joined, units
from knapper_dataview.engine.text import length as text_length
from knapper_dataview.engine.values import Function, entries, truthy


def _equal(context: Context, first: object, second: object) -> bool:
    return context.compare(first, second) == 0


def _has_key(context: Context, value: dict[str, object], key: str) -> bool:
    return key in entries(value)


def _in_any(name: str) -> Function:
    """Look into each element of a list with the same function, lists in lists included."""

    def look(context: Context, values: list[object], needle: object) -> bool:
        context.budget.spend(len(values))
        return any(truthy(CONTAINERS[name](context, value, needle)) for value in values)

    return look


def _is_element(context: Context, values: list[object], needle: object) -> bool:
    context.budget.spend(len(values))
    return any(context.compare(needle, value) == 0 for value in values)


def _has_word(context: Context, text: str, word: str) -> bool:
    escaped = "".join("\\" + char if char in ".*+?^${}()|[]\\" else char for char in word)
    return search(rf"\b{escaped}\b", text, context.budget, ignore_case=True)


def _extract(context: Context, *arguments: object) -> object:
    if not arguments:
        return "extract(object, key1, ...) requires at least 1 argument"
    target, *keys = arguments
    if isinstance(target, list):
        return [_extract(context, element, *keys) for element in target]
    found: dict[str, object] = {}
    for key in keys:
        if not isinstance(key, str):
            raise EvaluationError("extract(object, key1, ...) must be called with string keys")
        found[key] = index(context, target, key)
    return found


def _sort(context: Context, values: list[object], key: Function | None = None) -> list[object]:
    keys = values if key is None else [key(value) for value in values]
    context.budget.spend(len(values))
    return [values[at] for at in ranked(keys, context.normalize)]


def _unique(context: Context, values: list[object]) -> list[object]:
    context.budget.spend(len(values))
    ordered = [values[at] for at in ranked(values)]
    return [value for at, value in enumerate(ordered) if not at or not equal(ordered[at - 1], value)]


def _nonnull(context: Context, *values: object) -> list[object]:
    return [value for value in values if value is not None]


def _nonnull_list(context: Context, values: list[object]) -> list[object]:
    return _nonnull(context, *values)


def _first(context: Context, values: list[object]) -> object:
    return next((value for value in values if value is not None), None)


def _quantified(name: str) -> Builtin:
    """`all`, `any` or `none`, of arguments, of a list, or of what a function answers for its elements."""

    def decide(answers: Iterable[object]) -> bool:
        if name == "all":
            return all(truthy(answer) for answer in answers)
        found = any(truthy(answer) for answer in answers)
        return found if name == "any" else not found

    return Builtin(
        name,
        {
            "array": lambda _, values: decide(values),
            "array function": lambda _, values, function: decide(function(value) for value in values),
            "...": lambda _, *values: decide(values),
        },
    )


def _join(context: Context, values: list[object], separator: str | None = None) -> str:
    texts = [text_of(value, context.settings) for value in values]
    context.budget.grow(sum(map(len, texts)))
    return (", " if separator is None else separator).join(texts)


def _text(context: Context, value: object, separator: object = None) -> str:
    return text_of(value, context.settings)


def _filter(context: Context, values: list[object], function: Function) -> list[object]:
    return [value for value in values if truthy(function(value))]


def _map(context: Context, values: list[object], function: Function) -> list[object]:
    return [function(value) for value in values]


def _flat(context: Context, values: list[object], depth: float = 1) -> list[object]:
    return [*_flattened(values, index_of(depth))]


def _flattened(values: list[object], depth: int) -> Iterator[object]:
    for value in values:
        if isinstance(value, list) and depth > 0:
            yield from _flattened(value, depth - 1)
        else:
            yield value


def _slice(
    context: Context, values: list[object], start: float = 0, end: float | None = None
) -> list[object]:
    return values[index_of(start) : len(values) if end is None else index_of(end)]


def _reversed_text(context: Context, text: str) -> str:
    return joined(units(text)[::-1])


def _same(context: Context, value: object) -> object:
    return value


CONTAINERS = builtins(
    Builtin(
        "contains",
        {
            "array *": _in_any("contains"),
            "string string": lambda _, text, part: part in text,
            "object string": _has_key,
            "* *": _equal,
        },
        {2: (1,)},
    ),
    Builtin(
        "icontains",
        {
            "array *": _in_any("icontains"),
            "string string": lambda _, text, part: part.lower() in text.lower(),
            "object string": _has_key,
            "* *": _equal,
        },
        {2: (1,)},
    ),
    Builtin(
        "econtains",
        {
            "array *": _is_element,
            "string string": lambda _, text, part: part in text,
            "object string": _has_key,
            "* *": _equal,
        },
        {2: (1,)},
    ),
    Builtin("containsword", {"string string": _has_word, "null *": null, "* null": null}, {2: (0, 1)}),
    Builtin("extract", {"...": _extract}),
    Builtin("sort", {"array": _sort, "array function": _sort, "*": _same}),
    Builtin("reverse", {"array": lambda _, values: values[::-1], "string": _reversed_text, "*": _same}),
    Builtin(
        "length",
        {
            "array": lambda _, values: len(values),
            "object": lambda _, value: len(entries(value)),
            "string": lambda _, text: text_length(text),
            "null": lambda _, __: 0,
        },
    ),
    Builtin("nonnull", {"array": _nonnull_list, "...": _nonnull}),
    Builtin("firstvalue", {"array": _first, "null": null}),
    _quantified("all"),
    _quantified("any"),
    _quantified("none"),
    Builtin(
        "join",
        {"array string": _join, "array null": _join, "* string": _text, "array": _join, "*": _text},
        {2: (1,)},
    ),
    Builtin("filter", {"array function": _filter, "null *": null}),
    Builtin("map", {"array function": _map, "null *": null}),
    Builtin("flat", {"array": _flat, "array number": _flat, "null": null}),
    Builtin("slice", {"array": _slice, "array number": _slice, "array number number": _slice, "null": null}),
    Builtin("unique", {"array": _unique, "null": null}),
)
