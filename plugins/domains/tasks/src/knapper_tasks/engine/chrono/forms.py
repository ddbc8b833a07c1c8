"""Forms: each way to write a date, as a pattern and the function that reads what it matched."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from knapper_tasks.engine.days import add_months

from .words import (
    FULL_MONTHS,
    MONTH,
    MONTH_NUMBERS,
    ONE_QUANTITY,
    ORDINAL,
    QUANTITIES,
    TIME_UNITS,
    UNIT,
    WEEKDAY,
    WEEKDAY_NUMBERS,
    YEAR,
    amount,
    full_year,
    ordinal_number,
)


class Reading(NamedTuple):
    """What a match says: a day (None if it does not exist), and how much of it was said."""

    day: date | None
    kind: str = "date"
    year_given: bool = True
    spans: bool = False


class Form(NamedTuple):
    """One way to write a date."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date], Reading | None]


def _form(pattern: str, read: Callable[[re.Match[str], date], Reading | None]) -> Form:
    return Form(re.compile(rf"(?<!\w){pattern}", re.IGNORECASE | re.ASCII), read)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _nearest_year(month: int, day: int, today: date) -> int:
    """The year in which a day and month lie nearest to today."""

    def distance(year: int) -> int:
        return abs((date(year, month, 1) + timedelta(days=day - 1) - today).days)

    nearest = today.year
    for year in (today.year + 1, today.year - 1):
        if distance(year) < distance(nearest):
            nearest = year
    return nearest


def _in_year(month: int, day: int, year: str | None, today: date, spans: bool = False) -> Reading:
    number = full_year(year) if year else _nearest_year(month, day, today)
    return Reading(_day(number, month, day), year_given=bool(year), spans=spans)


def _later(today: date, units: dict[str, float], sign: int) -> date:
    months = round(units.get("month", 0) + 3 * units.get("quarter", 0) + 12 * units.get("year", 0))
    # Only the day is known of the present moment, so of shorter units whole days alone count.
    hours = units.get("hour", 0) + units.get("minute", 0) / 60 + units.get("second", 0) / 3600
    days = round(units.get("day", 0) + 7 * units.get("week", 0)) + int(hours // 24)
    return add_months(today, sign * months) + timedelta(days=sign * days)


def _units(text: str) -> dict[str, float]:
    return {TIME_UNITS[unit.lower()]: amount(number) for number, unit in ONE_QUANTITY.findall(text)}


def _iso(match: re.Match[str], today: date) -> Reading:
    return Reading(_day(int(match[1]), int(match[2]), int(match[3])))


def _casual(match: re.Match[str], today: date) -> Reading:
    word = match[1].lower()
    shift = {"tomorrow": 1, "tmr": 1, "tmrw": 1, "yesterday": -1}.get(word, -1 if "last" in word else 0)
    return Reading(today + timedelta(days=shift))


def _casual_time(match: re.Match[str], today: date) -> Reading:
    return Reading(today + timedelta(days=match[1].lower() == "midnight"), kind="time")


def _time(match: re.Match[str], today: date) -> Reading:
    return Reading(today, kind="time")


def _month(match: re.Match[str], today: date) -> Reading | None:
    name = match[1].lower()
    if len(match[0]) <= 3 and name not in FULL_MONTHS:
        return None
    return _in_year(MONTH_NUMBERS[name], 1, match[2], today)


def _relative(match: re.Match[str], today: date) -> Reading:
    modifier, unit = match[1].lower(), TIME_UNITS[match[2].lower()]
    if modifier == "this":
        return Reading(_start_of_this(unit, today))
    return Reading(_later(today, {unit: 1}, -1 if modifier in ("last", "past") else 1))


def _start_of_this(unit: str, today: date) -> date:
    if unit == "week":
        return today - timedelta(days=today.isoweekday() % 7)
    if unit == "month":
        return today.replace(day=1)
    return today.replace(month=1, day=1) if unit == "year" else today


def _casual_relative(match: re.Match[str], today: date) -> Reading:
    back = match[1].lower() in ("last", "past", "-")
    return Reading(_later(today, _units(match[2]), -1 if back else 1))


def _within(match: re.Match[str], today: date) -> Reading:
    return Reading(_later(today, _units(match[1]), 1))


def _ago(match: re.Match[str], today: date) -> Reading:
    return Reading(_later(today, _units(match[1]), -1))


def _little_endian(match: re.Match[str], today: date) -> Reading | None:
    day = ordinal_number(match[1])
    if day > 31:
        return None
    return _in_year(MONTH_NUMBERS[match[3].lower()], day, match[4], today, spans=bool(match[2]))


def _middle_endian(match: re.Match[str], today: date) -> Reading | None:
    day = ordinal_number(match[2])
    if day > 31:
        return None
    return _in_year(MONTH_NUMBERS[match[1].lower()], day, match[4], today, spans=bool(match[3]))


def _weekday(match: re.Match[str], today: date) -> Reading:
    target, current = WEEKDAY_NUMBERS[match[2].lower()], today.isoweekday() % 7
    modifier = (match[1] or match[3] or "").lower()
    if modifier:
        week = {"this": 0, "next": 7, "last": -7, "past": -7}[modifier]
        return Reading(today + timedelta(days=target + week - current), kind="weekday")
    distance = min((target, target - 7, target + 7), key=lambda offset: abs(offset - current)) - current
    return Reading(today + timedelta(days=distance), kind="weekday")


def _year_first(match: re.Match[str], today: date) -> Reading | None:
    month = MONTH_NUMBERS[match[2].lower()] if match[2] else int(match[3])
    return Reading(_day(int(match[1]), month, int(match[4]))) if 1 <= month <= 12 else None


def _slash_month(match: re.Match[str], today: date) -> Reading:
    return Reading(_day(int(match[2]), int(match[1]), 1))


def _slash(match: re.Match[str], today: date) -> Reading | None:
    text, month, day = match[0], int(match[1]), int(match[2])
    # Version numbers look like this; and without a year only slashes make a date.
    if re.fullmatch(r"\d\.\d(?:\d?\.\d{1,2})?", text) or (not match[3] and "/" not in text):
        return None
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return _in_year(month, day, match[3], today)


_END = r"(?=\W|$)"

FORMS = (
    _form(rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?{_END}", _iso),
    _form(rf"(now|today|tonight|tomorrow|tmrw|tmr|yesterday|last\s*night){_END}", _casual),
    _form(rf"(?:this\s{{0,3}})?(morning|afternoon|evening|night|midnight|noon){_END}", _casual_time),
    _form(rf"({MONTH})\s*(?:[,-]?\s*({YEAR})?)?(?=[^\s\w]|\s+[^0-9]|\s+$|$)", _month),
    _form(rf"(this|last|past|next|after\s*this)\s*({UNIT}){_END}", _relative),
    Form(
        re.compile(
            rf"(?<!\w)(this|last|past|next|after|\+|-)\s*({QUANTITIES}){_END}", re.IGNORECASE | re.ASCII
        ),
        _casual_relative,
    ),
    _form(
        r"(?:within|in|for)\s*(?:(?:about|around|roughly|approximately|just)\s*(?:~\s*)?)?"
        rf"({QUANTITIES}){_END}",
        _within,
    ),
    _form(
        rf"(?:on\s*)?({ORDINAL})(?:\s*(?:to|-|–|until|through|till)?\s*({ORDINAL}))?(?:-|/|\s*(?:of)?\s*)"
        rf"({MONTH})(?:(?:-|/|,?\s*)({YEAR}(?!\w)))?{_END}",
        _little_endian,
    ),
    _form(
        rf"({MONTH})(?:-|/|\s*,?\s*)({ORDINAL})(?!\s*(?:am|pm))\s*(?:(?:to|-)\s*({ORDINAL})\s*)?"
        rf"(?:(?:-|/|\s*,?\s*)({YEAR}))?{_END}(?!:\d)",
        _middle_endian,
    ),
    _form(
        rf"(?:on\s*)?(?:(this|last|past|next)\s*)?({WEEKDAY})(?:\s*,)?(?:\s*(this|last|past|next)\s*week)?{_END}",
        _weekday,
    ),
    _form(rf"([0-9]{{4}})[./\s](?:({MONTH})|([0-9]{{1,2}}))[./\s]([0-9]{{1,2}}){_END}", _year_first),
    _form(rf"([0-9]|0[1-9]|1[012])/([0-9]{{4}}){_END}", _slash_month),
    _form(rf"(?:at\s*)?\d{{1,2}}(?::\d{{2}}){{1,2}}(?:\s*[ap]\.?m\.?)?{_END}", _time),
    _form(rf"(?:at\s*)?\d{{1,2}}\s*[ap]\.?m\.?{_END}", _time),
    _form(rf"({QUANTITIES})\s{{0,5}}(?:ago|before|earlier){_END}", _ago),
    _form(rf"({QUANTITIES})\s{{0,5}}(?:later|after|from now|henceforth|forward|out){_END}", _within),
    Form(
        re.compile(
            r"(?<![\d/])([0-3]?[0-9])[/.-]([0-3]?[0-9])(?:[/.-]([0-9]{4}|[0-9]{2}))?(?![\w/])", re.ASCII
        ),
        _slash,
    ),
)
