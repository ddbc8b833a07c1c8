"""Reading a text by a moment format, token by token, as moment does."""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone

from knapper.vault.moment import ISO_WEEK, WRITERS, first_week_offset, literal, week_date, weeks_in_year
from knapper.vault.moment_locale import Locale, Week


def read(
    text: str, tokens: list[str], locale: Locale, week: Week, strict: bool, today: date | None
) -> datetime | None:
    """Read the text with the given tokens, or answer None where moment would call the result invalid."""
    parts = Parts(locale)
    rest, used, missed = text, 0, False
    for token in tokens:
        found = _pattern(token, locale, strict).search(rest)
        if found is None or not found[0]:
            missed = missed or token in WRITERS or strict
            continue
        rest = rest[found.end() :]
        used += len(found[0])
        if reader := READERS.get(token):
            reader(parts, found[0])
    if strict and (missed or used != len(text)):
        return None
    return parts.moment(week, strict, today or date.today())


@dataclass
class Parts:
    """What the tokens have told so far."""

    locale: Locale
    fields: dict[str, int] = field(default_factory=dict)
    weeks: dict[str, int] = field(default_factory=dict)
    afternoon: bool | None = None
    twelve_hour: bool = False
    offset: timedelta | None = None
    instant: datetime | None = None

    def moment(self, week: Week, strict: bool, today: date) -> datetime | None:
        """Put the parts together, or answer None where they contradict each other or the calendar."""
        if self.instant:
            return self.instant
        hour = self._hour(strict)
        day = self._day(week, today)
        if not (self.fields or self.weeks) or day is None or hour is None:
            return None
        if "d" in self.weeks and day.isoweekday() % 7 != self.weeks["d"]:
            return None
        return self._at(day, hour)

    def _at(self, day: date, hour: int) -> datetime | None:
        minute, second = self.fields.get("minute", 0), self.fields.get("second", 0)
        micro = self.fields.get("micro", 0)
        zone = None if self.offset is None else timezone(self.offset)
        midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
        if hour == 24 and minute == second == micro == 0:
            return midnight + timedelta(days=1)
        if hour > 23 or minute > 59 or second > 59:
            return None
        return midnight.replace(hour=hour, minute=minute, second=second, microsecond=micro)

    def _hour(self, strict: bool) -> int | None:
        hour = self.fields.get("hour", 0)
        if strict and self.twelve_hour and not 0 < hour <= 12:
            return None
        if self.afternoon and hour < 12:
            return hour + 12
        return 0 if self.afternoon is False and hour == 12 else hour

    def _day(self, week: Week, today: date) -> date | None:
        parts = self.fields
        if self.weeks and "month" not in parts and "day" not in parts:
            return self._week_day(week, today)
        if "year_day" in parts:
            return _day_of_year(parts.get("year", today.year), parts["year_day"])
        year = parts.get("year", today.year)
        month = parts.get("month", today.month if "year" not in parts else 1)
        dated = "year" in parts or "month" in parts
        day = parts.get("day", 1 if dated else today.day)
        if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
            return None
        return date(year, month, day)

    def _week_day(self, week: Week, today: date) -> date | None:
        given = self.weeks
        iso = not given.keys().isdisjoint(("GG", "W", "E"))
        rules = ISO_WEEK if iso else week
        year = given.get("GG" if iso else "gg", self.fields.get("year", week_date(today, rules).year))
        number = given.get("W" if iso else "w", 1)
        if not 1 <= number <= weeks_in_year(year, rules):
            return None
        shift = self._weekday_shift(rules, iso)
        return (
            None
            if shift is None
            else _day_of_year(year, 1 + 7 * (number - 1) + shift + first_week_offset(year, rules))
        )

    def _weekday_shift(self, rules: Week, iso: bool) -> int | None:
        given = self.weeks
        if iso:
            shift = given.get("E", 1) - 1
        elif "d" in given:
            shift = (given["d"] - rules.first_day) % 7 if given["d"] <= 6 else 7
        else:
            shift = given.get("e", 0)
        return shift if 0 <= shift <= 6 else None


def _day_of_year(year: int, number: int) -> date | None:
    try:
        return date(year, 1, 1) + timedelta(days=number - 1)
    except (ValueError, OverflowError):
        return None


Reader = Callable[[Parts, str], None]


def _into(name: str) -> Reader:
    return lambda parts, text: parts.fields.__setitem__(name, int(text))


def _into_week(name: str) -> Reader:
    return lambda parts, text: parts.weeks.__setitem__(name, int(text))


def _two_digit_year(text: str) -> int:
    return int(text) + (1900 if int(text) > 68 else 2000)


def _year(parts: Parts, text: str) -> None:
    parts.fields["year"] = _two_digit_year(text) if len(text) == 2 else int(text)


def _quarter(parts: Parts, text: str) -> None:
    parts.fields["month"] = (int(text) - 1) * 3 + 1


def _month_name(parts: Parts, text: str) -> None:
    parts.fields["month"] = _named(parts.locale.months, text) + 1


def _weekday_name(parts: Parts, text: str) -> None:
    parts.weeks["d"] = _named(parts.locale.weekdays, text)


def _named(names: tuple[str, ...], text: str) -> int:
    return next(place for place, name in enumerate(names) if name.lower().startswith(text.lower()))


def _ordinal_day(parts: Parts, text: str) -> None:
    parts.fields["day"] = int("".join(filter(str.isdigit, text)))


def _hour_of_twelve(parts: Parts, text: str) -> None:
    parts.fields["hour"] = int(text)
    parts.twelve_hour = True


def _hour_of_24(parts: Parts, text: str) -> None:
    parts.fields["hour"] = int(text) % 24 if int(text) == 24 else int(text)


def _half(parts: Parts, text: str) -> None:
    parts.afternoon = text[0] in "pP"


def _fraction(parts: Parts, text: str) -> None:
    parts.fields["micro"] = int(float(f"0.{text}") * 1000) * 1000


def _shift(parts: Parts, text: str) -> None:
    digits = re.sub(r"\D", "", text)
    length = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    parts.offset = -length if text[0] == "-" else length


def _seconds(parts: Parts, text: str) -> None:
    parts.instant = datetime.fromtimestamp(float(text), UTC)


def _milliseconds(parts: Parts, text: str) -> None:
    parts.instant = datetime.fromtimestamp(int(text) / 1000, UTC)


def _glued(hour: Reader, seconds: bool) -> Reader:
    def reader(parts: Parts, text: str) -> None:
        tail = 4 if seconds else 2
        hour(parts, text[:-tail])
        parts.fields["minute"] = int(text[-tail : len(text) - tail + 2])
        if seconds:
            parts.fields["second"] = int(text[-2:])

    return reader


READERS: dict[str, Reader] = {
    **dict.fromkeys(("YYYY", "YYYYY", "YYYYYY", "Y", "y", "yy", "yyy", "yyyy"), _into("year")),
    **dict.fromkeys(("M", "MM"), _into("month")),
    **dict.fromkeys(("MMM", "MMMM"), _month_name),
    **dict.fromkeys(("D", "DD"), _into("day")),
    **dict.fromkeys(("DDD", "DDDD"), _into("year_day")),
    **dict.fromkeys(("dd", "ddd", "dddd"), _weekday_name),
    **dict.fromkeys(("w", "ww"), _into_week("w")),
    **dict.fromkeys(("W", "WW"), _into_week("W")),
    **dict.fromkeys(("gggg", "ggggg"), _into_week("gg")),
    **dict.fromkeys(("GGGG", "GGGGG"), _into_week("GG")),
    **dict.fromkeys(("H", "HH"), _into("hour")),
    **dict.fromkeys(("h", "hh"), _hour_of_twelve),
    **dict.fromkeys(("k", "kk"), _hour_of_24),
    **dict.fromkeys(("m", "mm"), _into("minute")),
    **dict.fromkeys(("s", "ss"), _into("second")),
    **dict.fromkeys(("a", "A"), _half),
    **dict.fromkeys(("Z", "ZZ"), _shift),
    **dict.fromkeys(("S" * digits for digits in range(1, 10)), _fraction),
    "YYYY": _year,
    "YY": lambda parts, text: parts.fields.__setitem__("year", _two_digit_year(text)),
    "gg": lambda parts, text: parts.weeks.__setitem__("gg", _two_digit_year(text)),
    "GG": lambda parts, text: parts.weeks.__setitem__("GG", _two_digit_year(text)),
    "Q": _quarter,
    "Do": _ordinal_day,
    "d": _into_week("d"),
    "e": _into_week("e"),
    "E": _into_week("E"),
    "hmm": _glued(_hour_of_twelve, False),
    "hmmss": _glued(_hour_of_twelve, True),
    "Hmm": _glued(_into("hour"), False),
    "Hmmss": _glued(_into("hour"), True),
    "X": _seconds,
    "x": _milliseconds,
}

_ONE_OR_TWO, _NO_ZERO, _HAS_ZERO, _TWO = r"\d\d?", r"[1-9]\d?", r"[1-9]\d|\d", r"\d\d"
_SIGNED, _OFFSET = r"[+-]?\d+", r"Z|[+-]\d\d(?::?\d\d)?"

# Each token's forgiving and strict pattern.
_PATTERNS: dict[str, tuple[str, str]] = {
    **dict.fromkeys("MDhkwW", (_ONE_OR_TWO, _NO_ZERO)),
    **dict.fromkeys("Hms", (_ONE_OR_TWO, _HAS_ZERO)),
    **dict.fromkeys("deE", (_ONE_OR_TWO, _ONE_OR_TWO)),
    **{letter * 2: (_ONE_OR_TWO, _TWO) for letter in "MDHhkmswWYgG"},
    **dict.fromkeys(("YYYY", "gggg", "GGGG"), (r"\d{1,4}", r"\d{4}")),
    **dict.fromkeys(("YYYYY", "YYYYYY", "ggggg", "GGGGG"), (r"[+-]?\d{1,6}", r"[+-]?\d{6}")),
    **dict.fromkeys(("Y", "x"), (_SIGNED, _SIGNED)),
    **{"y" * width: (r"\d+", r"\d+") for width in range(1, 5)},
    **dict.fromkeys(("A", "a"), (r"(?i:[ap]\.?m?\.?)",) * 2),
    **dict.fromkeys(("Z", "ZZ"), (_OFFSET, _OFFSET)),
    **{"S" * digits: (r"\d{1,3}", rf"\d{{{digits}}}") for digits in range(1, 4)},
    **{"S" * digits: (r"\d+", r"\d+") for digits in range(4, 10)},
    **dict.fromkeys(("hmm", "Hmm"), (r"\d{3,4}",) * 2),
    **dict.fromkeys(("hmmss", "Hmmss"), (r"\d{5,6}",) * 2),
    "Q": (r"\d", r"\d"),
    "DDD": (r"\d{1,3}", r"\d{1,3}"),
    "DDDD": (r"\d{3}", r"\d{3}"),
    "Do": (r"\d{1,2}(?:th|st|nd|rd)|\d{1,2}", r"\d{1,2}(?:th|st|nd|rd)"),
    "X": (r"[+-]?\d+(?:\.\d{1,3})?",) * 2,
}


def _pattern(token: str, locale: Locale, strict: bool) -> re.Pattern[str]:
    if token in _PATTERNS:
        return re.compile(_PATTERNS[token][strict])
    if token in ("MMM", "MMMM"):
        return _names(locale.months, 3 if token == "MMM" else None, 3, strict)
    if token in ("dd", "ddd", "dddd"):
        return _names(locale.weekdays, {"dd": 2, "ddd": 3}.get(token), 2, strict)
    return re.compile(re.escape(literal(token)))


def _names(names: tuple[str, ...], length: int | None, shortest: int, strict: bool) -> re.Pattern[str]:
    wanted = [name[:length] for name in names]
    if not strict:
        wanted = [name[:size] for size in (None, 3, shortest) for name in names]
    return re.compile("|".join(sorted(wanted, key=len, reverse=True)), re.IGNORECASE)
