"""How functions are declared, and how they read their arguments."""

from collections.abc import Callable
from typing import Any, NamedTuple

from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.run import Run
from knapper_bases.engine.text import text
from knapper_bases.engine.values import type_name

MANY = 1_000


class Method(NamedTuple):
    """A function on a value, with the least and greatest number of its arguments."""

    call: Callable[[Run, Any, list[object]], object]
    least: int = 0
    most: int = 0


def check_count(name: str, count: int, least: int, most: int) -> None:
    """Refuse a call with too few or too many arguments."""
    if least <= count <= most:
        return
    wanted = f"{least}" if least == most else f"at least {least}" if most == MANY else f"{least} to {most}"
    raise BasesError(f'Function "{name}" takes {wanted} argument{"" if wanted == "1" else "s"}, not {count}')


def number(value: object, of: str) -> float:
    """Read a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BasesError(f'Function "{of}" takes a number, not {type_name(value)}')
    return value


def whole(value: object, of: str) -> int:
    """Read a whole number, cut as JavaScript cuts it."""
    given = number(value, of)
    if given != given:
        return 0
    return int(max(-(2.0**53), min(2.0**53, given)))


def string(value: object, run: Run) -> str:
    """Read any value as a text."""
    return str(value) if type(value) is str else text(value, run.budget)


def bounds(args: list[object], length: int, of: str) -> tuple[int, int]:
    """Read the start and end of a slice, which may count from the back."""
    start = whole(args[0], of)
    end = length if len(args) < 2 or args[1] is None else whole(args[1], of)
    start, end = (max(0, place + length) if place < 0 else min(place, length) for place in (start, end))
    return start, max(start, end)


def flattened(args: list[object]) -> list[object]:
    """Spread the lists among the arguments, since `containsAny(this.topics)` means the topics."""
    spread: list[object] = []
    for arg in args:
        if isinstance(arg, list):
            spread += arg
        else:
            spread.append(arg)
    return spread
