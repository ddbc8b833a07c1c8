"""Functions for defaults, dates as text, hashes and links."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.dates import midnight
from knapper_dataview.engine.durations import Duration, format_duration
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.functions.dispatch import Builtin, builtins, null
from knapper_dataview.engine.luxon import format_date
from knapper_dataview.engine.rendering import display_text
from knapper_dataview.engine.text import index_of, units
from knapper_dataview.engine.values import Link, truthy


def _default(context: Context, value: object, otherwise: object) -> object:
    return otherwise if value is None else value


def _choice(context: Context, condition: object, one: object, other: object) -> object:
    return one if truthy(condition) else other


def _display(context: Context, value: object) -> str:
    return display_text(value, context.settings, context.budget)


def _striptime(context: Context, moment: datetime) -> datetime:
    return midnight(moment).replace(tzinfo=context.zone)


def _dateformat(context: Context, moment: datetime, pattern: str) -> str:
    return format_date(moment, pattern)


def _durationformat(context: Context, duration: Duration, pattern: str) -> str:
    return format_duration(duration, pattern)


_SIGNS = {
    "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CNY": "CN¥", "KRW": "₩", "BRL": "R$", "CAD": "CA$",
    "AUD": "A$", "MXN": "MX$", "NZD": "NZ$", "ILS": "₪", "VND": "₫", "TWD": "NT$", "HKD": "HK$", "PHP": "₱",
    "XCD": "EC$", "XAF": "FCFA", "XOF": "F\u202fCFA", "XPF": "CFPF",
}  # fmt: skip
_WHOLE = frozenset(
    {"JPY", "KRW", "VND", "CLP", "ISK", "PYG", "UGX", "XAF", "XOF", "XPF", "RWF", "KMF", "GNF", "DJF"}
)
_THOUSANDTHS = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})


def _currencyformat(context: Context, amount: float, currency: str = "USD") -> str:
    code = currency.upper()
    if len(code) != 3 or not (code.isascii() and code.isalpha()):
        raise EvaluationError(f"invalid currency code: {currency!r}")
    sign = _SIGNS.get(code, code)
    # A sign that ends in a letter stands off from the number by a space that does not break.
    sign += "\u00a0" if sign[-1].isalpha() else ""
    minus = "-" if amount < 0 else ""
    return f"{minus}{sign}{_amount(abs(amount), 0 if code in _WHOLE else 3 if code in _THOUSANDTHS else 2)}"


def _amount(amount: float, digits: int) -> str:
    if not math.isfinite(amount):
        return "NaN" if amount != amount else "∞"
    return f"{Decimal(amount).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,f}"


def _hash(context: Context, seed: str, text: str = "", variant: float = 0) -> int:
    return cyrb53(seed + text, index_of(variant))


def cyrb53(text: str, seed: int = 0) -> int:
    """Bryc's public-domain 53-bit hash of a text's UTF-16 units."""
    one, two = (start ^ seed & _MASK for start in (0xDEADBEEF, 0x41C6CE57))
    for char in units(text):
        one = (one ^ ord(char)) * 2654435761 & _MASK
        two = (two ^ ord(char)) * 1597334677 & _MASK
    one = (one ^ one >> 16) * 2246822507 & _MASK
    one ^= (two ^ two >> 13) * 3266489909 & _MASK
    two = (two ^ two >> 16) * 2246822507 & _MASK
    two ^= (one ^ one >> 13) * 3266489909 & _MASK
    return 4294967296 * (2097151 & two) + one


_MASK = 0xFFFFFFFF


def _meta(context: Context, link: Link) -> dict[str, object]:
    return {
        "display": link.display,
        "embed": link.embed,
        "path": link.path,
        "subpath": link.subpath,
        "type": link.type,
    }


UTILITY = builtins(
    Builtin("default", {"* *": _default}, {2: (0, 1)}),
    Builtin("ldefault", {"* *": _default}),
    Builtin("display", {"*": _display}),
    Builtin("choice", {"* * *": _choice}, {3: (0,)}),
    Builtin("striptime", {"date": _striptime, "null": null}, {1: (0,)}),
    Builtin("dateformat", {"date string": _dateformat, "null string": null}, {2: (0,)}),
    Builtin("durationformat", {"duration string": _durationformat, "null string": null}, {2: (0,)}),
    Builtin(
        "currencyformat",
        {"number string": _currencyformat, "null string": null, "number": _currencyformat, "null": null},
        {2: (0,)},
    ),
    Builtin(
        "localtime",
        {"date": lambda context, moment: moment.astimezone(context.zone), "null": null},
        {1: (0,)},
    ),
    Builtin(
        "hash",
        {
            "string number": lambda context, seed, variant: _hash(context, seed, "", variant),
            "string string": _hash,
            "string string number": _hash,
        },
    ),
    Builtin("meta", {"link": _meta}),
)
