"""Days: ISO strings checked and counted once, since tasks repeat few dates often."""

from calendar import monthrange
from datetime import date, timedelta
from functools import lru_cache

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@lru_cache(maxsize=65536)
def ordinal(iso: str) -> int:
    """The number of a day, or 0 for a string such as 2024-02-30 that names none."""
    try:
        return date.fromisoformat(iso).toordinal()
    except ValueError:
        return 0


def valid(iso: str | None) -> bool:
    """Whether a string names a day that exists."""
    return iso is not None and ordinal(iso) > 0


def shifted(iso: str, days: int) -> str | None:
    """The day so many days later, or None past the calendar's ends."""
    number = ordinal(iso) + days
    return date.fromordinal(number).isoformat() if 0 < number <= date.max.toordinal() else None


def add_months(day: date, months: int) -> date:
    """The same day some months later, or the month's last where that day is missing."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def monday_of(day: date) -> date:
    """The Monday of a day's ISO week."""
    return day - timedelta(days=day.weekday())


@lru_cache(maxsize=4096)
def titled(iso: str) -> str:
    """A day as group headings show it: 2024-03-15 Friday."""
    return f"{iso} {WEEKDAYS[date.fromisoformat(iso).weekday()]}"


def earliest(*dates: str | None) -> str | None:
    """The first of the days that exist."""
    return min((iso for iso in dates if iso is not None and ordinal(iso)), default=None)
