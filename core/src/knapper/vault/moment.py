"""Dates as moment.js writes and reads them, because Obsidian's formats are moment formats."""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from knapper.vault.moment_locale import Locale, Week, locale_named

__all__ = ["Week", "format", "humanize", "parse", "relative"]


def format(when: datetime, fmt: str, locale: str = "en", week: Week | None = None) -> str:
    """Write a moment in a moment.js format; `week` overrides the locale's first day and first week."""
    spoken = locale_named(locale)
    moment = Moment(when, spoken, week or spoken.week)
    return "".join(_written(token, moment) for token in tokens(fmt, spoken))


def parse(
    text: str,
    fmt: str,
    locale: str = "en",
    week: Week | None = None,
    *,
    strict: bool = True,
    today: date | None = None,
) -> datetime | None:
    """Read a text by a moment.js format, or None where it does not fit; missing parts come from `today`."""
    # Reading is the rarer need, and its tables cost as much to build as all of the writing.
    from knapper.vault.moment_parse import read

    spoken = locale_named(locale)
    return read(text, tokens(fmt, spoken), spoken, week or spoken.week, strict, today)


def humanize(milliseconds: float, days: float = 0, months: float = 0) -> str:
    """Say a duration the way moment's humanize does, without a direction."""
    milliseconds, days, months = abs(milliseconds), abs(days), abs(months)
    length = days + _round(months * DAYS_A_MONTH) + milliseconds / 86_400_000
    in_months = months + (days + milliseconds / 86_400_000) / DAYS_A_MONTH
    seconds, minutes, hours = (_round(length * 86_400 / size) for size in (1, 60, 3600))
    if seconds < 45:
        return "a few seconds"
    for unit, count, below in (("minute", minutes, 45), ("hour", hours, 22), ("day", _round(length), 26)):
        if count < below:
            return _counted(count, unit)
    if (count := _round(in_months)) < 11:
        return _counted(count, "month")
    return _counted(_round(in_months / 12), "year")


def relative(then: datetime, now: datetime) -> str:
    """Say how far `then` is from `now`: "in 3 days", "a month ago"."""
    months, rest = _calendar_distance(*sorted((then, now)))
    said = humanize(rest / timedelta(milliseconds=1), 0, months)
    return f"in {said}" if then > now else f"{said} ago"


DAYS_A_MONTH = 146_097 / 4_800

_TOKEN = re.compile(
    r"(\[[^\[]*\])|(\\)?([Hh]mm(ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|w[o|w]?|W[o|W]?|Qo?|N{1,5}|YYYYYY|YYYYY"
    r"|YYYY|YY|y{2,4}|yo?|gg(ggg?)?|GG(GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?|[^\n\r\u2028\u2029])"
)
_LONG_TOKEN = re.compile(r"(\[[^\[]*\])|(\\)?(LTS|LT|LL?L?L?|l{1,4})")


class WeekDate(NamedTuple):
    """A week and the year that counts it, which may differ from the calendar year."""

    year: int
    week: int


class Moment(NamedTuple):
    """What a token is written from."""

    when: datetime
    locale: Locale
    week: Week


def tokens(fmt: str, locale: Locale) -> list[str]:
    """Cut a format into moment's tokens, with the locale's long forms (`LL`, `lt`) spelled out."""
    for _ in range(6):
        spelled = _LONG_TOKEN.sub(lambda found: _long_form(found[0], locale), fmt)
        if spelled == fmt:
            break
        fmt = spelled
    return [found[0] for found in _TOKEN.finditer(fmt)]


def literal(token: str) -> str:
    """Give the text that a bracketed or escaped token stands for."""
    if re.search(r"\[.", token, re.DOTALL):
        return re.sub(r"^\[|\]$", "", token)
    return token.replace("\\", "")


def week_date(day: date, week: Week) -> WeekDate:
    """Give the week of a day under the given rules."""
    number = (day.timetuple().tm_yday - first_week_offset(day.year, week) - 1) // 7 + 1
    if number < 1:
        return WeekDate(day.year - 1, number + weeks_in_year(day.year - 1, week))
    count = weeks_in_year(day.year, week)
    return WeekDate(day.year + 1, number - count) if number > count else WeekDate(day.year, number)


def weeks_in_year(year: int, week: Week) -> int:
    """Count the weeks that belong to a year."""
    days = 366 if (year % 4 == 0 and year % 100 != 0) or year % 400 == 0 else 365
    return (days - first_week_offset(year, week) + first_week_offset(year + 1, week)) // 7


def first_week_offset(year: int, week: Week) -> int:
    """Count the days from 1 January to the start of the first week, negative when it starts before."""
    forward = 7 + week.first_day - week.first_week
    # Weekdays repeat every 400 years; so years 0 and 10000, neighbours of what Python knows, work too.
    weekday = (date(2000 + year % 400, 1, 1).weekday() + forward) % 7
    return -((7 + weekday - week.first_day) % 7) + forward - 1


def _long_form(token: str, locale: Locale) -> str:
    if token in locale.long:
        return locale.long[token]
    upper = locale.long.get(token.upper()) if token.islower() else None
    if upper is None:
        return token
    shorter = {"MMMM", "MM", "DD", "dddd"}
    return "".join(part[0][1:] if part[0] in shorter else part[0] for part in _TOKEN.finditer(upper))


def _written(token: str, moment: Moment) -> str:
    writer = WRITERS.get(token)
    return writer(moment) if writer else literal(token)


def _round(number: float) -> int:
    return int(number + 0.5)


def _counted(count: int, unit: str) -> str:
    return f"{'an' if unit == 'hour' else 'a'} {unit}" if count <= 1 else f"{count} {unit}s"


def _calendar_distance(start: datetime, end: datetime) -> tuple[int, timedelta]:
    months = (end.year - start.year) * 12 + end.month - start.month
    if add_months(start, months) > end:
        months -= 1
    return months, _instant(end) - _instant(add_months(start, months))


def _instant(when: datetime) -> datetime:
    return when.astimezone(UTC) if when.tzinfo else when


def add_months(when: datetime, months: int) -> datetime:
    """Move by calendar months; a day that the month lacks becomes its last day."""
    year, month = divmod(when.year * 12 + when.month - 1 + months, 12)
    last = monthrange(2000 + year % 400, month + 1)[1]
    return when.replace(year=year, month=month + 1, day=min(when.day, last))


def _offset(moment: Moment, separator: str) -> str:
    shift = moment.when.utcoffset() or timedelta()
    minutes = int(abs(shift).total_seconds()) // 60
    sign = "-" if shift < timedelta() else "+"
    return f"{sign}{minutes // 60:02}{separator}{minutes % 60:02}"


def _epoch_ms(moment: Moment) -> int:
    when = moment.when if moment.when.tzinfo else moment.when.replace(tzinfo=UTC)
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _zone(moment: Moment, name: str) -> str:
    return name if moment.when.tzinfo is UTC else ""


def _sunday_first(moment: Moment) -> int:
    return moment.when.isoweekday() % 7


def _year(moment: Moment) -> str:
    year = moment.when.year
    return f"{year:04}" if year <= 9999 else f"+{year}"


ISO_WEEK = Week(1, 4)

_NUMBERS: dict[str, Callable[[Moment], int]] = {
    "M": lambda m: m.when.month,
    "Q": lambda m: (m.when.month + 2) // 3,
    "D": lambda m: m.when.day,
    "DDD": lambda m: m.when.timetuple().tm_yday,
    "d": _sunday_first,
    "e": lambda m: (_sunday_first(m) + 7 - m.week.first_day) % 7,
    "E": lambda m: m.when.isoweekday(),
    "w": lambda m: week_date(m.when.date(), m.week).week,
    "W": lambda m: week_date(m.when.date(), ISO_WEEK).week,
    "y": lambda m: m.when.year,
    "H": lambda m: m.when.hour,
    "h": lambda m: m.when.hour % 12 or 12,
    "k": lambda m: m.when.hour or 24,
    "m": lambda m: m.when.minute,
    "s": lambda m: m.when.second,
    "gggg": lambda m: week_date(m.when.date(), m.week).year,
    "GGGG": lambda m: week_date(m.when.date(), ISO_WEEK).year,
}


def _padded(number: Callable[[Moment], int], width: int) -> Callable[[Moment], str]:
    return lambda m: f"{number(m):0{width}}"


def _ordinal(number: Callable[[Moment], int]) -> Callable[[Moment], str]:
    return lambda m: m.locale.ordinal(number(m))


def _fraction(digits: int) -> Callable[[Moment], str]:
    return lambda m: f"{m.when.microsecond // 1000:03}{'0' * 6}"[:digits]


WRITERS: dict[str, Callable[[Moment], str]] = {
    **{token: _padded(number, 1) for token, number in _NUMBERS.items() if len(token) == 1 or token == "DDD"},
    **{token * 2: _padded(_NUMBERS[token], 2) for token in "MDwWHhkms"},
    **{f"{token}o": _ordinal(_NUMBERS[token]) for token in ("M", "Q", "D", "DDD", "d", "w", "W", "y")},
    **{"S" * digits: _fraction(digits) for digits in range(1, 10)},
    "DDDD": _padded(_NUMBERS["DDD"], 3),
    "MMM": lambda m: m.locale.months[m.when.month - 1][:3],
    "MMMM": lambda m: m.locale.months[m.when.month - 1],
    "dd": lambda m: m.locale.weekdays[_sunday_first(m)][:2],
    "ddd": lambda m: m.locale.weekdays[_sunday_first(m)][:3],
    "dddd": lambda m: m.locale.weekdays[_sunday_first(m)],
    "Y": _year,
    "YY": lambda m: f"{m.when.year % 100:02}",
    "YYYY": lambda m: f"{m.when.year:04}",
    "YYYYY": lambda m: f"{m.when.year:05}",
    "YYYYYY": lambda m: f"+{m.when.year:06}",
    **{"y" * width: _padded(_NUMBERS["y"], width) for width in (2, 3, 4)},
    **{"N" * width: (lambda m: "AD") for width in (1, 2, 3, 5)},
    "NNNN": lambda m: "Anno Domini",
    "gg": lambda m: f"{_NUMBERS['gggg'](m) % 100:02}",
    "GG": lambda m: f"{_NUMBERS['GGGG'](m) % 100:02}",
    **{"g" * width: _padded(_NUMBERS["gggg"], width) for width in (4, 5)},
    **{"G" * width: _padded(_NUMBERS["GGGG"], width) for width in (4, 5)},
    "a": lambda m: "am" if m.when.hour < 12 else "pm",
    "A": lambda m: "AM" if m.when.hour < 12 else "PM",
    "hmm": lambda m: f"{_NUMBERS['h'](m)}{m.when.minute:02}",
    "hmmss": lambda m: f"{_NUMBERS['h'](m)}{m.when.minute:02}{m.when.second:02}",
    "Hmm": lambda m: f"{m.when.hour}{m.when.minute:02}",
    "Hmmss": lambda m: f"{m.when.hour}{m.when.minute:02}{m.when.second:02}",
    "X": lambda m: str(_epoch_ms(m) // 1000),
    "x": lambda m: str(_epoch_ms(m)),
    "Z": lambda m: _offset(m, ":"),
    "ZZ": lambda m: _offset(m, ""),
    "z": lambda m: _zone(m, "UTC"),
    "zz": lambda m: _zone(m, "Coordinated Universal Time"),
}
