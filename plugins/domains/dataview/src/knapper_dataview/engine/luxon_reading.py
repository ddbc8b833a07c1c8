"""Reading dates with Luxon's format tokens, for `date(text, format)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from knapper_dataview.engine.dates import FixedZone
from knapper_dataview.engine.luxon import MONTHS, WEEKDAYS, tokens

_NUMBERS = {
    "y": ("year", "[0-9]{1,6}"), "yyyy": ("year", "[0-9]{4}"), "yyyyy": ("year", "[0-9]{4,6}"),
    "yyyyyy": ("year", "[0-9]{6}"), "M": ("month", "[0-9]{1,2}"), "MM": ("month", "[0-9]{2}"),
    "L": ("month", "[0-9]{1,2}"), "LL": ("month", "[0-9]{2}"), "d": ("day", "[0-9]{1,2}"), "dd": ("day", "[0-9]{2}"),
    "o": ("ordinal", "[0-9]{1,3}"), "ooo": ("ordinal", "[0-9]{3}"), "H": ("hour", "[0-9]{1,2}"),
    "HH": ("hour", "[0-9]{2}"), "h": ("hour12", "[0-9]{1,2}"), "hh": ("hour12", "[0-9]{2}"),
    "m": ("minute", "[0-9]{1,2}"), "mm": ("minute", "[0-9]{2}"), "q": ("quarter", "[0-9]{1,2}"),
    "qq": ("quarter", "[0-9]{2}"), "s": ("second", "[0-9]{1,2}"), "ss": ("second", "[0-9]{2}"),
    "S": ("millisecond", "[0-9]{1,3}"), "SSS": ("millisecond", "[0-9]{3}"), "kkkk": ("weekyear", "[0-9]{4}"),
    "W": ("week", "[0-9]{1,2}"), "WW": ("week", "[0-9]{2}"), "E": ("weekday", "[0-9]"), "c": ("weekday", "[0-9]"),
}  # fmt: skip
_NAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("MMM", "LLL"), ("month", tuple(name[:3] for name in MONTHS))),
    **dict.fromkeys(("MMMM", "LLLL"), ("month", MONTHS)),
    **dict.fromkeys(("EEE", "ccc"), ("weekday", tuple(name[:3] for name in WEEKDAYS))),
    **dict.fromkeys(("EEEE", "cccc"), ("weekday", WEEKDAYS)),
}
_MACROS = {"D": "M/d/yyyyy", "DD": "MMM d, yyyyy", "DDD": "MMMM d, yyyyy", "DDDD": "EEEE, MMMM d, yyyyy",
           "t": "h:mm a", "tt": "h:mm:ss a", "T": "H:mm", "TT": "H:mm:ss"}  # fmt: skip

Reader = Callable[[str, dict[str, int], dict[str, tzinfo]], None]


def read_date(text: str, pattern: str, now: datetime) -> datetime | None:
    """Read a date written in this pattern; the units left out come from now where they are larger, else are the least."""
    shape, readers = _compiled(pattern)
    found = shape.fullmatch(text)
    if found is None:
        return None
    parts: dict[str, int] = {}
    zones: dict[str, tzinfo] = {}
    try:
        for reader, piece in zip(readers, found.groups(), strict=True):
            reader(piece, parts, zones)
        return _assemble(parts, zones.get("zone"), now)
    except (ValueError, OverflowError, KeyError):
        return None


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> tuple[re.Pattern[str], tuple[Reader, ...]]:
    shapes: list[str] = []
    readers: list[Reader] = []
    for literal, token in _expanded(pattern):
        shape, reader = (re.escape(token), None) if literal else _reader(token)
        if reader is None:
            shapes.append(shape)
        else:
            shapes.append(f"({shape})")
            readers.append(reader)
    return re.compile("".join(shapes), re.IGNORECASE), tuple(readers)


def _expanded(pattern: str) -> list[tuple[bool, str]]:
    pieces: list[tuple[bool, str]] = []
    for literal, token in tokens(pattern):
        if not literal and token in _MACROS:
            pieces.extend(tokens(_MACROS[token]))
        else:
            pieces.append((literal, token))
    return pieces


def _reader(token: str) -> tuple[str, Reader | None]:
    if token in _NUMBERS:
        unit, shape = _NUMBERS[token]
        return shape, lambda piece, parts, zones: parts.__setitem__(unit, int(piece))
    if token in _NAMES:
        unit, names = _NAMES[token]
        lowered = [name.lower() for name in names]
        return "|".join(names), lambda piece, parts, zones: parts.__setitem__(
            unit, lowered.index(piece.lower()) + 1
        )
    return _SPECIAL.get(token, (re.escape(token), None))


def _two_digit_year(unit: str) -> Reader:
    def read(piece: str, parts: dict[str, int], zones: dict[str, tzinfo]) -> None:
        year = int(piece)
        parts[unit] = year if year > 99 else year + (1900 if year > 60 else 2000)

    return read


def _meridiem(piece: str, parts: dict[str, int], zones: dict[str, tzinfo]) -> None:
    parts["meridiem"] = int(piece.lower() == "pm")


def _fraction(piece: str, parts: dict[str, int], zones: dict[str, tzinfo]) -> None:
    parts["millisecond"] = int(float(f"0.{piece}") * 1000)


def _offset(piece: str, parts: dict[str, int], zones: dict[str, tzinfo]) -> None:
    digits = piece[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    total = int(hours) * 60 + int(minutes)
    zones["zone"] = FixedZone(-total if piece[0] == "-" else total)


def _zone(piece: str, parts: dict[str, int], zones: dict[str, tzinfo]) -> None:
    zones["zone"] = ZoneInfo(piece)


_SPECIAL: dict[str, tuple[str, Reader | None]] = {
    "yy": ("[0-9]{2,4}", _two_digit_year("year")),
    "kk": ("[0-9]{2,4}", _two_digit_year("weekyear")),
    "a": ("AM|PM", _meridiem),
    "u": ("[0-9]{1,9}", _fraction),
    "uu": ("[0-9]{1,2}", _fraction),
    "uuu": ("[0-9]", _fraction),
    "Z": ("[+-][0-9]{1,2}(?::[0-9]{2})?", _offset),
    "ZZ": ("[+-][0-9]{1,2}(?::[0-9]{2})?", _offset),
    "ZZZ": ("[+-][0-9]{1,2}(?:[0-9]{2})?", _offset),
    "z": ("[a-z_+-/]{1,256}?", _zone),
}


def _assemble(parts: dict[str, int], zone: tzinfo | None, now: datetime) -> datetime:
    if "quarter" in parts:
        parts["month"] = (parts["quarter"] - 1) * 3 + 1
    if "hour12" in parts:
        hour, half = parts["hour12"], parts.get("meridiem")
        parts["hour"] = hour + 12 if hour < 12 and half == 1 else 0 if hour == 12 and half == 0 else hour
    here = now if zone is None else now.astimezone(zone)
    clock = {unit: parts.get(unit, 0) for unit in ("hour", "minute", "second")}
    day = _day(parts, here)
    moment = datetime(day.year, day.month, day.day, **clock, tzinfo=here.tzinfo)
    moment += timedelta(milliseconds=parts.get("millisecond", 0))
    return moment if zone is None else moment.astimezone(now.tzinfo)


def _day(parts: dict[str, int], now: datetime) -> date:
    if "weekyear" in parts or "week" in parts:
        return date.fromisocalendar(
            parts.get("weekyear", now.isocalendar().year), parts.get("week", 1), parts.get("weekday", 1)
        )
    if "ordinal" in parts:
        found = date(parts.get("year", now.year), 1, 1) + timedelta(days=parts["ordinal"] - 1)
    elif parts.keys() & {"year", "month", "day"}:
        found = date(
            parts.get("year", now.year),
            parts.get("month", 1 if "year" in parts else now.month),
            parts.get("day", 1),
        )
    else:
        found = now.date()
    if parts.get("weekday", found.isoweekday()) != found.isoweekday():
        raise ValueError("the weekday is another day's")
    return found
