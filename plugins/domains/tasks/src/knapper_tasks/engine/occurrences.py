"""Occurrences: the first day of a recurrence rule after a given day."""

from calendar import isleap, monthrange
from collections.abc import Iterator
from datetime import date, timedelta

from .days import add_months, monday_of
from .rule_text import described
from .rules import Rule

# Rules such as "every February on the 30th" never come true; nobody waits longer than this for one.
_PERIODS = {"day": 4000, "week": 1000, "month": 500, "year": 120}
_CLAMPING_DAYS = 400


def next_day(rule: Rule, reference: date | None, today: date) -> date | None:
    """The day that follows `reference`, or that follows today where the rule says `when done`."""
    after = today if rule.when_done or reference is None else reference
    try:
        return _unskipped(rule, after, _first_after(rule, after, after))
    except (OverflowError, ValueError):
        # Past the end of the calendar.
        return None


def _unskipped(rule: Rule, after: date, found: date | None) -> date | None:
    """Step back day by day where a month or year would be skipped: 31 January leads to 28 February."""
    if found is None:
        return None
    unit = _clamped_unit(rule)
    day = after
    for _ in range(_CLAMPING_DAYS):
        if unit is None or _distance(unit, day, found) <= rule.interval:
            return found
        day -= timedelta(days=1)
        following = _first_after(rule, day, day)
        if following is None:
            return found
        found = following
    return found


def _clamped_unit(rule: Rule) -> str | None:
    text = described(rule)
    if rule.unit == "month" and not rule.months and " on " not in text:
        return "month"
    return "year" if rule.unit == "year" and not rule.months else None


def _distance(unit: str, start: date, end: date) -> int:
    years = end.year - start.year
    return years if unit == "year" else years * 12 + end.month - start.month


def _first_after(rule: Rule, start: date, after: date) -> date | None:
    if rule.unit in ("hour", "minute"):
        return _after_whole_day(rule, start)
    found = 0
    for days in _periods(rule, start):
        for day in sorted(days):
            if day < start or (rule.until is not None and day > rule.until):
                continue
            found += 1
            if rule.count is not None and found > rule.count:
                return None
            if day > after:
                return day
    return None


def _after_whole_day(rule: Rule, start: date) -> date:
    steps_a_day = 24 if rule.unit == "hour" else 24 * 60
    steps = -(-steps_a_day // rule.interval) * rule.interval
    return start + timedelta(days=steps // steps_a_day)


def _periods(rule: Rule, start: date) -> Iterator[set[date]]:
    days_of = {"day": _of_day, "week": _of_week, "month": _of_month, "year": _of_year}[rule.unit]
    for number in range(_PERIODS[rule.unit]):
        yield {day for day in days_of(rule, start, number * rule.interval) if _allowed(rule, day)}


def _allowed(rule: Rule, day: date) -> bool:
    if rule.months and day.month not in rule.months:
        return False
    if rule.month_days:
        length = monthrange(day.year, day.month)[1]
        return day.day in rule.month_days or day.day - length - 1 in rule.month_days
    return True


def _of_day(rule: Rule, start: date, steps: int) -> set[date]:
    day = start + timedelta(days=steps)
    return {day} if not rule.weekdays or day.weekday() in _weekdays(rule) else set()


def _of_week(rule: Rule, start: date, steps: int) -> set[date]:
    monday = monday_of(start) + timedelta(weeks=steps)
    weekdays = _weekdays(rule)
    if not weekdays and not rule.month_days:
        weekdays = {start.weekday()}
    return {monday + timedelta(days=weekday) for weekday in weekdays or range(7)}


def _of_month(rule: Rule, start: date, steps: int) -> set[date]:
    first = add_months(start.replace(day=1), steps)
    days = _month(first)
    if rule.weekdays:
        return _picked(rule, days)
    return days if rule.month_days else {day for day in days if day.day == start.day}


def _of_year(rule: Rule, start: date, steps: int) -> set[date]:
    year = start.year + steps
    days = {date(year, 1, 1) + timedelta(days=number) for number in range(366 if isleap(year) else 365)}
    if rule.week_numbers:
        days = {day for day in days if day.isocalendar().week in rule.week_numbers}
    if rule.weekdays and rule.months:
        return set().union(*(_picked(rule, _month(date(year, month, 1))) & days for month in rule.months))
    if rule.weekdays:
        return _picked(rule, days)
    if rule.month_days or rule.week_numbers:
        return days
    months = rule.months or [start.month]
    return {day for day in days if day.month in months and day.day == start.day}


def _month(first: date) -> set[date]:
    return {first.replace(day=day) for day in range(1, monthrange(first.year, first.month)[1] + 1)}


def _weekdays(rule: Rule) -> set[int]:
    return {weekday for weekday, _ in rule.weekdays}


def _picked(rule: Rule, days: set[date]) -> set[date]:
    """The days on the rule's weekdays, `nth` counted within the days given."""
    picked: set[date] = set()
    for weekday, nth in rule.weekdays:
        same = sorted(day for day in days if day.weekday() == weekday)
        if not nth:
            picked.update(same)
        elif abs(nth) <= len(same):
            picked.add(same[nth - 1 if nth > 0 else nth])
    return picked
