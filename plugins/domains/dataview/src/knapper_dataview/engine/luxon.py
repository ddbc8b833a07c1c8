"""Writing dates with Luxon's format tokens, in English as Dataview's default locale has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from knapper_dataview.engine.dates import FixedZone

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_RUN = re.compile(r"'([^']*)'|'([^']*)$|((.)\4*)", re.DOTALL)


@lru_cache(maxsize=256)
def tokens(pattern: str) -> tuple[tuple[bool, str], ...]:
    """Cut a pattern into (literal, text) pieces: quoted text, and runs of one character."""
    pieces: list[tuple[bool, str]] = []
    for run in _RUN.finditer(pattern):
        quoted, rest, same = run[1], run[2], run[3]
        pieces.append((same.isspace(), same) if same is not None else (True, quoted or rest or ""))
    return tuple(pieces)


def format_date(moment: datetime, pattern: str) -> str:
    """Write a date; a token Luxon does not know stands for itself."""
    return "".join(text if literal else _token(moment, text) for literal, text in tokens(pattern))


def _token(moment: datetime, token: str) -> str:
    writer = _TOKENS.get(token)
    if writer is not None:
        return writer(moment)
    macro = _MACROS.get(token)
    return macro(moment) if macro else token


def _hour12(moment: datetime) -> int:
    return moment.hour % 12 or 12


def meridiem(moment: datetime) -> str:
    """AM before noon, PM from then on."""
    return "AM" if moment.hour < 12 else "PM"


def _offset_minutes(moment: datetime) -> int:
    offset = moment.utcoffset()
    return round(offset.total_seconds() / 60) if offset is not None else 0


def _offset(moment: datetime, style: str) -> str:
    minutes = _offset_minutes(moment)
    sign = "+" if minutes >= 0 else "-"
    hours, rest = divmod(abs(minutes), 60)
    if style == "narrow":
        return f"{sign}{hours}" + (f":{rest}" if rest else "")
    return f"{sign}{hours:02}{':' if style == 'short' else ''}{rest:02}"


def _zone_short(moment: datetime) -> str:
    name = moment.tzname() or ""
    if name.isalpha() and name.isupper():
        return name
    minutes = _offset_minutes(moment)
    hours, rest = divmod(abs(minutes), 60)
    return (
        "UTC" if not minutes else f"GMT{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
    )


def _zone_long(moment: datetime) -> str:
    short = _zone_short(moment)
    return "Coordinated Universal Time" if short == "UTC" else short


def _zone_name(moment: datetime) -> str:
    zone = moment.tzinfo
    return zone.key if isinstance(zone, ZoneInfo) else moment.tzname() or "UTC"


def timestamp(moment: datetime) -> int:
    """Milliseconds since 1970, exact where a float would not be."""
    since = moment - datetime(1970, 1, 1, tzinfo=FixedZone(0))
    return since // timedelta(milliseconds=1)


_TOKENS: dict[str, Callable[[datetime], str]] = {
    "S": lambda t: str(t.microsecond // 1000),
    "SSS": lambda t: f"{t.microsecond // 1000:03}",
    "u": lambda t: f"{t.microsecond // 1000:03}",
    "uu": lambda t: f"{t.microsecond // 10_000:02}",
    "uuu": lambda t: str(t.microsecond // 100_000),
    "s": lambda t: str(t.second),
    "ss": lambda t: f"{t.second:02}",
    "m": lambda t: str(t.minute),
    "mm": lambda t: f"{t.minute:02}",
    "h": lambda t: str(_hour12(t)),
    "hh": lambda t: f"{_hour12(t):02}",
    "H": lambda t: str(t.hour),
    "HH": lambda t: f"{t.hour:02}",
    "Z": lambda t: _offset(t, "narrow"),
    "ZZ": lambda t: _offset(t, "short"),
    "ZZZ": lambda t: _offset(t, "techie"),
    "ZZZZ": _zone_short,
    "ZZZZZ": _zone_long,
    "z": _zone_name,
    "a": meridiem,
    "d": lambda t: str(t.day),
    "dd": lambda t: f"{t.day:02}",
    **dict.fromkeys(("c", "E"), lambda t: str(t.isoweekday())),
    **dict.fromkeys(("ccc", "EEE"), lambda t: WEEKDAYS[t.weekday()][:3]),
    **dict.fromkeys(("cccc", "EEEE"), lambda t: WEEKDAYS[t.weekday()]),
    **dict.fromkeys(("ccccc", "EEEEE"), lambda t: WEEKDAYS[t.weekday()][0]),
    **dict.fromkeys(("L", "M"), lambda t: str(t.month)),
    **dict.fromkeys(("LL", "MM"), lambda t: f"{t.month:02}"),
    **dict.fromkeys(("LLL", "MMM"), lambda t: MONTHS[t.month - 1][:3]),
    **dict.fromkeys(("LLLL", "MMMM"), lambda t: MONTHS[t.month - 1]),
    **dict.fromkeys(("LLLLL", "MMMMM"), lambda t: MONTHS[t.month - 1][0]),
    "y": lambda t: str(t.year),
    "yy": lambda t: f"{t.year % 100:02}",
    "yyyy": lambda t: f"{t.year:04}",
    "yyyyyy": lambda t: f"{t.year:06}",
    "G": lambda t: "AD",
    "GG": lambda t: "Anno Domini",
    "GGGGG": lambda t: "A",
    **dict.fromkeys(("kk", "ii"), lambda t: f"{t.isocalendar().year % 100:02}"),
    **dict.fromkeys(("kkkk", "iiii"), lambda t: f"{t.isocalendar().year:04}"),
    **dict.fromkeys(("W", "n"), lambda t: str(t.isocalendar().week)),
    **dict.fromkeys(("WW", "nn"), lambda t: f"{t.isocalendar().week:02}"),
    "o": lambda t: str(t.timetuple().tm_yday),
    "ooo": lambda t: f"{t.timetuple().tm_yday:03}",
    "q": lambda t: str((t.month + 2) // 3),
    "qq": lambda t: f"{(t.month + 2) // 3:02}",
    "X": lambda t: str(timestamp(t) // 1000),
    "x": lambda t: str(timestamp(t)),
}

_DATE_STYLES = {
    "short": "M/d/yyyy",
    "medium": "MMM d, yyyy",
    "full": "MMMM d, yyyy",
    "huge": "EEEE, MMMM d, yyyy",
}
_CLOCK_STYLES = ("h:mm a", "h:mm:ss a", "h:mm:ss a ZZZZ", "h:mm:ss a ZZZZZ")


def _macro(pattern: str) -> Callable[[datetime], str]:
    return lambda moment: format_date(moment, pattern)


def _with_clock(style: str, joint: str, clock: str) -> Callable[[datetime], str]:
    return _macro(f"{_DATE_STYLES[style]}'{joint}'{clock}")


_MACROS: dict[str, Callable[[datetime], str]] = {
    **{
        "D" * n: _macro(_DATE_STYLES[style]) for n, style in enumerate(("short", "medium", "full", "huge"), 1)
    },
    **{"t" * n: _macro(style) for n, style in enumerate(_CLOCK_STYLES, 1)},
    **{
        "T" * n: _macro(style)
        for n, style in enumerate(("HH:mm", "HH:mm:ss", "HH:mm:ss ZZZZ", "HH:mm:ss ZZZZZ"), 1)
    },
    "f": _with_clock("short", ", ", "h:mm a"),
    "ff": _with_clock("medium", ", ", "h:mm a"),
    "fff": _with_clock("full", " at ", "h:mm a ZZZZ"),
    "ffff": _with_clock("huge", " at ", "h:mm a ZZZZZ"),
    "F": _with_clock("short", ", ", "h:mm:ss a"),
    "FF": _with_clock("medium", ", ", "h:mm:ss a"),
    "FFF": _with_clock("full", " at ", "h:mm:ss a ZZZZ"),
    "FFFF": _with_clock("huge", " at ", "h:mm:ss a ZZZZZ"),
}
