"""Arrays: the methods of JavaScript's arrays; `sort`, `reverse` and `push` and its kin change them, as there."""

from collections.abc import Callable
from functools import cmp_to_key

from knapper.script.errors import ScriptFailed
from knapper.script.texts import argument, position
from knapper.script.values import (
    UNDEFINED,
    Function,
    Value,
    checked,
    nullish,
    same,
    to_number,
    to_text,
    to_whole,
    truthy,
)

# No honest script makes an array of this length.
LONGEST_ARRAY = 100_000

Method = Callable[[list[Value], list[Value]], Value]


def _function(arguments: list[Value]) -> Function:
    value: Function = argument(arguments, 0)
    if not callable(value):
        raise ScriptFailed(f"{to_text(value)} is not a function")
    return value


def _index_of(items: list[Value], arguments: list[Value]) -> int:
    wanted = argument(arguments, 0)
    return next((number for number, item in enumerate(items) if same(item, wanted)), -1)


def _join(items: list[Value], arguments: list[Value]) -> str:
    separator = "," if argument(arguments, 0) is UNDEFINED else to_text(arguments[0])
    return checked(separator.join("" if nullish(item) else to_text(item) for item in items))


def _map(items: list[Value], arguments: list[Value]) -> list[Value]:
    apply = _function(arguments)
    return [apply([item, number]) for number, item in enumerate(items)]


def _filter(items: list[Value], arguments: list[Value]) -> list[Value]:
    apply = _function(arguments)
    return [item for number, item in enumerate(items) if truthy(apply([item, number]))]


def _find_index(items: list[Value], arguments: list[Value]) -> int:
    apply = _function(arguments)
    return next((number for number, item in enumerate(items) if truthy(apply([item, number]))), -1)


def _find(items: list[Value], arguments: list[Value]) -> Value:
    index = _find_index(items, arguments)
    return UNDEFINED if index < 0 else items[index]


def _every(items: list[Value], arguments: list[Value]) -> bool:
    apply = _function(arguments)
    return all(truthy(apply([item, number])) for number, item in enumerate(items))


def _sorted(items: list[Value], arguments: list[Value]) -> list[Value]:
    if argument(arguments, 0) is UNDEFINED:
        return sorted(items, key=to_text)
    compare = _function(arguments)
    return sorted(items, key=cmp_to_key(lambda left, right: _sign(to_number(compare([left, right])))))


def _sort(items: list[Value], arguments: list[Value]) -> list[Value]:
    items[:] = _sorted(items, arguments)
    return items


def _reverse(items: list[Value], arguments: list[Value]) -> list[Value]:
    items.reverse()
    return items


def _push(items: list[Value], arguments: list[Value]) -> int:
    if len(items) + len(arguments) > LONGEST_ARRAY:
        raise ScriptFailed("Invalid array length")
    items.extend(arguments)
    return len(items)


def _pop(items: list[Value], arguments: list[Value]) -> Value:
    return items.pop() if items else UNDEFINED


def _shift(items: list[Value], arguments: list[Value]) -> Value:
    return items.pop(0) if items else UNDEFINED


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _slice(items: list[Value], arguments: list[Value]) -> list[Value]:
    start = position(argument(arguments, 0), len(items), 0)
    return items[start : position(argument(arguments, 1), len(items), len(items))]


def _concat(items: list[Value], arguments: list[Value]) -> list[Value]:
    joined = list(items)
    for value in arguments:
        joined += value if isinstance(value, list) else [value]
        if len(joined) > LONGEST_ARRAY:
            raise ScriptFailed("Invalid array length")
    return joined


def _flat(items: list[Value], arguments: list[Value]) -> list[Value]:
    return _concat([], items)


def _reduce(items: list[Value], arguments: list[Value]) -> Value:
    apply = _function(arguments)
    if len(arguments) < 2 and not items:
        raise ScriptFailed("Reduce of empty array with no initial value")
    value, rest = (arguments[1], items) if len(arguments) > 1 else (items[0], items[1:])
    for item in rest:
        value = apply([value, item])
    return value


def _at(items: list[Value], arguments: list[Value]) -> Value:
    index = to_whole(argument(arguments, 0))
    return items[index] if -len(items) <= index < len(items) else UNDEFINED


ARRAY_METHODS: dict[str, Method] = {
    "includes": lambda items, arguments: _index_of(items, arguments) >= 0,
    "indexOf": _index_of,
    "join": _join,
    "map": _map,
    "filter": _filter,
    "find": _find,
    "findIndex": _find_index,
    "some": lambda items, arguments: _find_index(items, arguments) >= 0,
    "every": _every,
    "sort": _sort,
    "toSorted": _sorted,
    "reverse": _reverse,
    "toReversed": lambda items, arguments: items[::-1],
    "push": _push,
    "pop": _pop,
    "shift": _shift,
    "slice": _slice,
    "concat": _concat,
    "flat": _flat,
    "flatMap": lambda items, arguments: _flat(_map(items, arguments), []),
    "reduce": _reduce,
    "at": _at,
    "toString": lambda items, arguments: to_text(items),
}
