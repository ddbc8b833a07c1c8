"""Words: the names and numbers that dates in English are made of, and their patterns."""

import re
from collections.abc import Iterable

from knapper_tasks.engine.days import MONTHS, WEEKDAYS
from knapper_tasks.engine.wordlist import listed

_MONTH_ABBREVIATIONS = ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")
_WEEKDAY_ABBREVIATIONS = ("sun", "mon", "tue", "wed", "thurs", "thur", "thu", "fri", "sat")
_UNITS_AND_TEENS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)

MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
FULL_MONTHS = frozenset(MONTH_NUMBERS)
MONTH_NUMBERS |= {
    short + dot: next(number for name, number in MONTH_NUMBERS.items() if name.startswith(short[:3]))
    for short in _MONTH_ABBREVIATIONS
    for dot in ("", ".")
}

# From Sunday = 0, as chrono counts.
WEEKDAY_NUMBERS = {name.lower(): (number + 1) % 7 for number, name in enumerate(WEEKDAYS)}
WEEKDAY_NUMBERS |= {
    short + dot: next(number for name, number in WEEKDAY_NUMBERS.items() if name.startswith(short[:3]))
    for short in _WEEKDAY_ABBREVIATIONS
    for dot in ("", ".")
}

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        start=1,
    )
}

ORDINALS = {word: number for number, word in enumerate(_UNITS_AND_TEENS, 1)}
ORDINALS |= {
    f"twenty{dash}{word}": 20 + number for number, word in enumerate(_UNITS_AND_TEENS[:9], 1) for dash in " -"
}
ORDINALS |= {"thirtieth": 30, "thirty first": 31, "thirty-first": 31}

TIME_UNITS = {
    word: unit
    for unit, words in {
        "second": "sec second seconds",
        "minute": "min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "d day days",
        "week": "w week weeks",
        "month": "mo mon mos month months",
        "quarter": "qtr quarter quarters",
        "year": "y yr year years",
    }.items()
    for word in words.split()
}


def any_of(words: Iterable[str]) -> str:
    """A pattern of some words, longest first."""
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"


MONTH = any_of(MONTH_NUMBERS)
WEEKDAY = any_of(WEEKDAY_NUMBERS)
UNIT = any_of(TIME_UNITS)
ORDINAL = f"(?:{any_of(ORDINALS)}|[0-9]{{1,2}}(?:st|nd|rd|th)?)"
YEAR = "(?:[1-2][0-9]{3}|[5-9][0-9])"
NUMBER = (
    rf"(?:{any_of(NUMBER_WORDS)}|[0-9]+\.[0-9]+|[0-9]+|half(?:\s{{0,2}}an?)?|an?\b(?:\s{{0,2}}few)?|few|several"
    r"|the|a?\s{0,2}couple\s{0,2}(?:of)?)"
)
QUANTITY = rf"(?:{NUMBER})\s{{0,3}}{UNIT}"
QUANTITIES = rf"(?:(?:about|around)\s{{0,3}})?{QUANTITY}(?:\s{{0,5}},?(?:\s*and)?\s{{0,5}}{QUANTITY}){{0,5}}"
ONE_QUANTITY = re.compile(rf"({NUMBER})\s{{0,3}}({UNIT})(?![a-z])", re.IGNORECASE)


def ordinal_number(text: str) -> int:
    """1 for `first` and for `1st`."""
    word = text.lower()
    return ORDINALS[word] if word in ORDINALS else int(re.sub(r"\D", "", word))


def amount(text: str) -> float:
    """3 for `three`, for `3` and for `a few`."""
    word = text.lower().strip()
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    for part, number in (("few", 3), ("half", 0.5), ("couple", 2), ("several", 7)):
        if part in word:
            return number
    return 1 if word in ("a", "an", "the") else float(word)


def full_year(text: str) -> int:
    """1999 for `99`, and years of four digits as they are."""
    year = int(text)
    return year if year >= 100 else year + (1900 if year > 50 else 2000)
