"""The locales that moment formats can be written in."""

from typing import NamedTuple


class Week(NamedTuple):
    """Which weekday starts a week (0 is Sunday), and which day of January is always in week one's reach."""

    first_day: int = 0
    first_week: int = 6


class Locale(NamedTuple):
    """The words and habits of one language."""

    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    long: dict[str, str]
    week: Week

    def ordinal(self, number: int) -> str:
        """Write a number with its English ending."""
        if number % 100 // 10 == 1:
            return f"{number}th"
        return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number % 10, 'th')}"


def locale_named(name: str) -> Locale:
    """Find a locale; an unknown one is an error, since its file names could only be guessed."""
    found = _LOCALES.get(name.lower())
    if found is None:
        raise ValueError(f"no moment locale {name!r}; known are {', '.join(sorted(_LOCALES))}")
    return found


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

_LOCALES = {
    "en": Locale(
        _MONTHS,
        _WEEKDAYS,
        {
            "LT": "h:mm A",
            "LTS": "h:mm:ss A",
            "L": "MM/DD/YYYY",
            "LL": "MMMM D, YYYY",
            "LLL": "MMMM D, YYYY h:mm A",
            "LLLL": "dddd, MMMM D, YYYY h:mm A",
        },
        Week(0, 6),
    ),
    "en-gb": Locale(
        _MONTHS,
        _WEEKDAYS,
        {
            "LT": "HH:mm",
            "LTS": "HH:mm:ss",
            "L": "DD/MM/YYYY",
            "LL": "D MMMM YYYY",
            "LLL": "D MMMM YYYY HH:mm",
            "LLLL": "dddd, D MMMM YYYY HH:mm",
        },
        Week(1, 4),
    ),
}
