"""Dates and durations: reading them, and calculating with them."""

import re
from datetime import datetime, timedelta

from knapper.vault import moment
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import Date, Duration

_DAY_MS = 86_400_000
_DAYS_A_MONTH = 146_097 / 4_800

_DATE = re.compile(
    r"\d{4}-\d{2}(?P<day>-\d{2})?(?P<time>[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_PART = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", re.ASCII)
_ISO = re.compile(
    r"(?P<sign>-)?P(?:(?P<y>[\d.]+)Y)?(?:(?P<M>[\d.]+)M)?(?:(?P<w>[\d.]+)W)?(?:(?P<d>[\d.]+)D)?"
    r"(?:T(?:(?P<h>[\d.]+)H)?(?:(?P<m>[\d.]+)M)?(?:(?P<s>[\d.]+)S)?)?",
    re.ASCII,
)
_UNITS = {
    "y": Duration(months=12),
    "M": Duration(months=1),
    "w": Duration(days=7),
    "d": Duration(days=1),
    "h": Duration(milliseconds=3_600_000),
    "m": Duration(milliseconds=60_000),
    "s": Duration(milliseconds=1_000),
}
_WORDS = {"year": "y", "month": "M", "week": "w", "day": "d", "hour": "h", "minute": "m", "second": "s"}

FIELDS = {
    "years": 12 * _DAYS_A_MONTH * _DAY_MS,
    "months": _DAYS_A_MONTH * _DAY_MS,
    "weeks": 7 * _DAY_MS,
    "days": _DAY_MS,
    "hours": 3_600_000,
    "minutes": 60_000,
    "seconds": 1_000,
    "milliseconds": 1,
}


def read_date(text: str, run: Run) -> Date | None:
    """Read an ISO-like date, with or without a time, or answer None."""
    text = text.strip()
    found = _DATE.fullmatch(text)
    if found is None or (found["time"] and not found["day"]) or (found["zone"] and not found["time"]):
        return None
    try:
        when = datetime.fromisoformat(text if found["day"] else f"{text}-01")
        if when.tzinfo:
            when = run.local(when.timestamp())
    except (ValueError, OverflowError, OSError):
        return None
    return Date(when, found["time"] is not None)


def read_duration(text: str) -> Duration | None:
    """Read `1d`, `2 weeks`, `1h 30m` or `P1M`, or answer None."""
    text = text.strip()
    iso = _ISO.fullmatch(text) if "P" in text else None
    if iso:
        return _from_iso(iso)
    total, place = Duration(), 0
    while place < len(text):
        found = _PART.match(text, place)
        unit = _unit(found[2]) if found else None
        if found is None or unit is None:
            return None
        total = plus(total, times(unit, float(found[1])))
        place = found.end()
    return total if text else None


def times(length: Duration, factor: float) -> Duration:
    """Multiply a duration."""
    return Duration(length.months * factor, length.days * factor, length.milliseconds * factor)


def plus(one: Duration, other: Duration) -> Duration:
    """Add two durations."""
    return Duration(one.months + other.months, one.days + other.days, one.milliseconds + other.milliseconds)


def total(length: Duration) -> float:
    """Give a duration's length in milliseconds, with months of average length."""
    return length.milliseconds + (length.days + length.months * _DAYS_A_MONTH) * _DAY_MS


def shift(date: Date, length: Duration, sign: int) -> Date:
    """Move a date by calendar months and days, and by exact time; a part of a day makes it a datetime."""
    try:
        when = moment.add_months(date.when, sign * round(length.months))
        when += timedelta(days=sign * length.days, milliseconds=sign * length.milliseconds)
    except (ValueError, OverflowError):
        raise BasesError("The date is out of range") from None
    return Date(when, date.timed or length.milliseconds != 0 or length.days % 1 != 0)


def between(later: Date, earlier: Date, run: Run) -> Duration:
    """Give the time from one date to another."""
    return Duration(milliseconds=round((run.epoch(later.when) - run.epoch(earlier.when)) * 1000))


def humanized(length: Duration) -> str:
    """Say a duration as the app shows it."""
    return moment.humanize(length.milliseconds, length.days, length.months)


def date_text(date: Date) -> str:
    """Write a date as `toString` does."""
    return date.when.isoformat(timespec="seconds") if date.timed else date.when.date().isoformat()


def _from_iso(found: re.Match[str]) -> Duration | None:
    parts = {unit: number for unit, number in found.groupdict().items() if unit != "sign" and number}
    length = Duration()
    try:
        for unit, number in parts.items():
            length = plus(length, times(_UNITS[unit], float(number)))
    except ValueError:
        return None
    return times(length, -1 if found["sign"] else 1) if parts else None


def _unit(name: str) -> Duration | None:
    word = name.lower() if len(name) > 1 else name
    return _UNITS.get(_WORDS.get(word.removesuffix("s") if len(word) > 1 else word, word))
