"""Functions on numbers."""

import math
from decimal import ROUND_HALF_UP, Context, Decimal

from knapper_bases.engine.arguments import Method, whole
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.operators import tidy
from knapper_bases.engine.run import Run
from knapper_bases.engine.text import number_text

_PRECISE = Context(prec=200)


def _rounded(value: float) -> float:
    return tidy(math.floor(value + 0.5)) if math.isfinite(value) else value


def _round(run: Run, value: float, args: list[object]) -> float:
    digits = whole(args[0], "round") if args and args[0] is not None else 0
    if not -300 <= digits <= 300:
        raise BasesError(f'Function "round" takes -300 to 300 digits, not {digits}')
    if not digits or not math.isfinite(value):
        return _rounded(value)
    scaled = value * 10.0**digits
    return _rounded(scaled) / 10.0**digits if math.isfinite(scaled) else value


def _fixed(run: Run, value: float, args: list[object]) -> str:
    digits = whole(args[0], "toFixed") if args else 0
    if not 0 <= digits <= 100:
        raise BasesError(f'Function "toFixed" takes 0 to 100 digits, not {digits}')
    if not math.isfinite(value) or abs(value) >= 1e21:
        return number_text(value)
    # JavaScript rounds the exact binary value, halves away from zero; Python's own formatting rounds to even.
    written = f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _PRECISE):f}"
    return written.removeprefix("-") if float(written) == 0 and value == 0 else written


NUMBER_METHODS: dict[str, Method] = {
    "abs": Method(lambda run, value, args: abs(value)),
    "ceil": Method(lambda run, value, args: tidy(math.ceil(value)) if math.isfinite(value) else value),
    "floor": Method(lambda run, value, args: tidy(math.floor(value)) if math.isfinite(value) else value),
    "round": Method(_round, 0, 1),
    "toFixed": Method(_fixed, 0, 1),
}
