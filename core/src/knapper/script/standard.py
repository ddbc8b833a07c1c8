"""Standard: the global names of JavaScript that scripts may use."""

import math
import re
from collections.abc import Callable

from knapper.script.moments import Dates
from knapper.script.values import Function, Record, Value, to_number, to_text, truthy


def _on_number(apply: Callable[[float], float]) -> Function:
    def run(arguments: list[Value]) -> Value:
        number = float(to_number(arguments[0])) if arguments else math.nan
        return number if math.isnan(number) or math.isinf(number) else apply(number)

    return run


def _extreme(choose: Callable[[list[float]], float], empty: float) -> Function:
    def run(arguments: list[Value]) -> Value:
        numbers = [to_number(argument) for argument in arguments]
        return (
            math.nan
            if any(math.isnan(number) for number in numbers)
            else choose(numbers)
            if numbers
            else empty
        )

    return run


def _parse_int(arguments: list[Value]) -> Value:
    found = re.match(r"\s*([+-]?[0-9]+)", to_text(arguments[0])) if arguments else None
    return to_number(found[1]) if found else math.nan


def _parse_float(arguments: list[Value]) -> Value:
    if not arguments:
        return math.nan
    found = re.match(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", to_text(arguments[0]))
    return float(found[1]) if found else math.nan


GLOBALS: dict[str, Value] = {
    "NaN": math.nan,
    "Infinity": math.inf,
    "Math": Record(
        {
            "PI": math.pi,
            "floor": _on_number(math.floor),
            "ceil": _on_number(math.ceil),
            "round": _on_number(lambda number: math.floor(number + 0.5)),
            "trunc": _on_number(math.trunc),
            "abs": _on_number(abs),
            "sign": _on_number(lambda number: (number > 0) - (number < 0)),
            "min": _extreme(min, math.inf),
            "max": _extreme(max, -math.inf),
        }
    ),
    "Array": Record({"isArray": lambda arguments: bool(arguments) and isinstance(arguments[0], list)}),
    "Number": lambda arguments: to_number(arguments[0]) if arguments else 0,
    "String": lambda arguments: to_text(arguments[0]) if arguments else "",
    "Boolean": lambda arguments: bool(arguments) and truthy(arguments[0]),
    "isNaN": lambda arguments: not arguments or math.isnan(to_number(arguments[0])),
    "parseInt": _parse_int,
    "parseFloat": _parse_float,
    "moment": Dates(),
}
