"""Dates: the literal grammar, the words relative to now, and Luxon's calendar arithmetic on datetimes."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.errors import EvaluationError


class FixedZone(tzinfo):
    """An offset written in a date; never equal to the local zone, as in Luxon."""

    def __init__(self, minutes: int) -> None:
        self.minutes = minutes

    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta(minutes=self.minutes)

    def dst(self, moment: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, moment: datetime | None) -> str:
        hours, minutes = divmod(abs(self.minutes), 60)
        sign = "-" if self.minutes < 0 else "+"
        return "UTC" if not self.minutes else f"UTC{sign}{hours}" + (f":{minutes:02}" if minutes else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FixedZone) and other.minutes == self.minutes

    def __hash__(self) -> int:
        return hash(self.minutes)

    def __reduce__(self) -> tuple[type[FixedZone], tuple[int]]:
        return FixedZone, (self.minutes,)


_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2})(?::([0-9]{2})"
    r"(?::([0-9]{2})(?:\.([0-9]{3}))?(Z|[+-][0-9]{1,2}(?::[0-9]{2})?|\[[0-9A-Za-z+-/]+\])?)?)?)?)?"
)


def match_date(text: str, start: int = 0, zone: tzinfo | None = None) -> tuple[datetime, int] | None:
    """Read `YYYY-MM[-DD[THH[:mm[:ss[.SSS]]]]][zone]`; a date without a zone is in `zone` (naive where that is None)."""
    found = _DATE.match(text, start)
    if found is None:
        return None
    year, month, day, hour, minute, second, millisecond = (
        int(part) if part else None for part in found.groups()[:7]
    )
    if not year or not month or month > 12:
        return None
    # Only the month is checked: Luxon lets a day or an hour run over into the next, so February 30 is March 1 or 2.
    beyond = timedelta(
        days=(1 if day is None else day) - 1,
        hours=hour or 0,
        minutes=minute or 0,
        seconds=second or 0,
        milliseconds=millisecond or 0,
    )
    try:
        moment = datetime(year, month, 1, tzinfo=zone) + beyond
        return (moment.replace(tzinfo=_named_zone(found[8])) if found[8] else moment), found.end()
    except (OverflowError, ValueError, OSError):
        return None


def parse_date(text: str, zone: tzinfo | None = None) -> datetime | None:
    """Read a text that is a date and nothing else."""
    found = match_date(text, 0, zone)
    return found[0] if found and found[1] == len(text) else None


def _named_zone(text: str) -> tzinfo:
    if text == "Z":
        return FixedZone(0)
    if text[0] == "[":
        # zoneinfo answers an unknown name with a KeyError that is a ValueError's cousin only by meaning.
        try:
            return ZoneInfo(text[1:-1])
        except KeyError as unknown:
            raise ValueError(text) from unknown
    hours, _, minutes = text[1:].partition(":")
    offset = int(hours) * 60 + int(minutes or 0)
    return FixedZone(-offset if text[0] == "-" else offset)


_IN_NAME = (re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})"), re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})"))


def find_date(text: str) -> datetime | None:
    """The first `YYYY-MM-DD`, else the first `YYYYMMDD`, anywhere in a text; naive."""
    for pattern in _IN_NAME:
        if found := pattern.search(text):
            try:
                return datetime(int(found[1]), int(found[2]), int(found[3]))
            except ValueError:
                return None
    return None


def midnight(moment: datetime) -> datetime:
    """The start of the day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _last_moment(next_start: datetime) -> datetime:
    return next_start - timedelta(milliseconds=1)


def _week_start(now: datetime) -> datetime:
    return midnight(now) - timedelta(days=now.weekday())


def _next_month(now: datetime) -> datetime:
    return midnight(now).replace(year=now.year + now.month // 12, month=now.month % 12 + 1, day=1)


_WORDS: dict[str, Callable[[datetime], datetime]] = {
    "now": lambda now: now,
    "today": midnight,
    "yesterday": lambda now: midnight(now) - timedelta(days=1),
    "tomorrow": lambda now: midnight(now) + timedelta(days=1),
    "sow": _week_start,
    "eow": lambda now: _last_moment(_week_start(now) + timedelta(days=7)),
    "som": lambda now: midnight(now).replace(day=1),
    "eom": lambda now: _last_moment(_next_month(now)),
    "soy": lambda now: midnight(now).replace(month=1, day=1),
    "eoy": lambda now: _last_moment(midnight(now).replace(year=now.year + 1, month=1, day=1)),
}
_LONG_WORDS = {
    f"{edge}-of-{span}": edge[0] + "o" + span[0]
    for edge in ("start", "end")
    for span in ("week", "month", "year")
}
DATE_WORD = re.compile("|".join(sorted([*_WORDS, *_LONG_WORDS], key=len, reverse=True)))


def date_word(word: str, now: datetime) -> datetime:
    """What a word such as `today` or `end-of-month` means now."""
    return _WORDS[_LONG_WORDS.get(word, word)](now)


def parse_date_or_word(text: str, now: datetime) -> datetime | None:
    """Read a date literal or a word relative to now."""
    if (word := DATE_WORD.match(text)) is not None:
        return date_word(word[0], now) if word.end() == len(text) else None
    return parse_date(text, now.tzinfo)


def add(moment: datetime, duration: Duration) -> datetime:
    """Add a duration: years to days on the calendar (a day past the month's end is its last), the rest on the clock."""
    years, months, weeks, days, *clock = duration.amounts
    whole = [math.trunc(amount) for amount in (years, months, weeks, days)]
    rest = Duration([years - whole[0], months - whole[1], weeks - whole[2], days - whole[3], *clock])
    try:
        month = moment.year * 12 + moment.month - 1 + whole[0] * 12 + whole[1]
        year, index = divmod(month, 12)
        day = min(moment.day, monthrange(year, index + 1)[1]) if 0 < year < 10_000 else 1
        dated = moment.replace(year=year, month=index + 1, day=day) + timedelta(days=whole[2] * 7 + whole[3])
        return on_clock(dated, timedelta(milliseconds=rest.milliseconds))
    except (OverflowError, ValueError) as beyond:
        raise EvaluationError("the date is out of range") from beyond


def on_clock(moment: datetime, elapsed: timedelta) -> datetime:
    """Move by elapsed time, which a change of the clocks does not shorten."""
    if moment.tzinfo is None or isinstance(moment.tzinfo, (FixedZone, timezone)):
        return moment + elapsed
    return (moment.astimezone(UTC) + elapsed).astimezone(moment.tzinfo)


def difference(later: datetime, earlier: datetime) -> Duration:
    """The duration from `earlier` to `later` in years, months, days and clock units; negative where they are swapped."""
    if later < earlier:
        return difference(earlier, later).times(-1)
    there = later.astimezone(earlier.tzinfo)
    counts = {"years": 0, "months": 0, "days": 0}
    cursor = earlier
    for unit in counts:
        counts[unit] = _calendar_steps(unit, cursor, there)
        while (reached := add(earlier, Duration.of(**counts))) > later:
            counts[unit] -= 1
        cursor = reached
    rest = (later - cursor) / timedelta(milliseconds=1)
    hours, rest = divmod(rest, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds, rest = divmod(rest, 1_000)
    return Duration.of(**counts, hours=hours, minutes=minutes, seconds=seconds, milliseconds=rest)


def _calendar_steps(unit: str, start: datetime, end: datetime) -> int:
    if unit == "years":
        return end.year - start.year
    if unit == "months":
        return (end.year - start.year) * 12 + end.month - start.month
    return (end.date() - start.date()).days


DATE_FIELDS: dict[str, Callable[[datetime], int]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "day": lambda moment: moment.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "millisecond": lambda moment: moment.microsecond // 1000,
    "weekday": lambda moment: moment.isoweekday(),
    # Dataview's own meanings: the week of the month, and the ISO week under the name of its year.
    "week": lambda moment: moment.day // 7 + 1,
    "weekyear": lambda moment: moment.isocalendar().week,
}


def same_zone(first: datetime, second: datetime) -> bool:
    """Whether two dates are kept in one zone, which equality asks for."""
    return first.tzinfo is second.tzinfo or first.tzinfo == second.tzinfo


def iso(moment: datetime) -> str:
    """ISO 8601 with milliseconds only where there are any, and Z only where the date was written in UTC."""
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond >= 1000 else "seconds")
    return text[:-6] + "Z" if moment.tzinfo == FixedZone(0) and text.endswith("+00:00") else text
