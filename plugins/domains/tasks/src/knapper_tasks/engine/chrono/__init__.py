"""Chrono: dates in English text, found the way chrono-node finds them in its casual mode.

Each form of a date (forms.py) is looked for on its own; then overlaps go to the longer match, neighbours
that say one thing ("Friday, 5 May", "5 May to 8 May", "5 May at 10:00") are merged, and days that do not
exist are dropped last, so that no shorter form inside them is taken for a date.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from .forms import FORMS, Form, Reading

__all__ = ["dates_in"]

_RANGE = re.compile(r"\s*(?:to|-|–|until|through|till)\s*", re.IGNORECASE)
_TIME = re.compile(r"\s*(?:T|at|after|before|on|of|,|-)?\s*", re.IGNORECASE)
_WEEKDAY = re.compile(r",?\s*")


class _Found(NamedTuple):
    start: int
    end: int
    reading: Reading


def dates_in(text: str, today: date) -> list[date]:
    """The day of each date in a text, in order; a range counts with its first day."""
    found = [match for form in FORMS for match in _matches(form, text, today)]
    found.sort(key=lambda match: match.start)
    merged = _merged(_without_overlaps(found), text)
    return [match.reading.day for match in merged if match.reading.day is not None]


def _matches(form: Form, text: str, today: date) -> Iterator[_Found]:
    position = 0
    while matched := form.pattern.search(text, position):
        reading = form.read(matched, today)
        if reading is None:
            position = matched.start() + 1
            continue
        yield _Found(matched.start(), matched.end(), reading)
        position = max(matched.end(), position + 1)


def _without_overlaps(found: list[_Found]) -> list[_Found]:
    kept: list[_Found] = []
    for match in found:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
        elif match.end - match.start > kept[-1].end - kept[-1].start:
            kept[-1] = match
    return kept


def _merged(found: list[_Found], text: str) -> list[_Found]:
    for merge in (_weekday_and_date, _date_and_time, _range):
        kept: list[_Found] = []
        for match in found:
            if kept and (reading := merge(kept[-1].reading, match.reading, text[kept[-1].end : match.start])):
                kept[-1] = _Found(kept[-1].start, match.end, reading)
            else:
                kept.append(match)
        found = kept
    return found


def _weekday_and_date(first: Reading, second: Reading, between: str) -> Reading | None:
    if first.kind == "weekday" and second.kind == "date" and _WEEKDAY.fullmatch(between):
        return second
    return None


def _date_and_time(first: Reading, second: Reading, between: str) -> Reading | None:
    if (first.kind == "time") == (second.kind == "time") or not _TIME.fullmatch(between):
        return None
    return second if first.kind == "time" else first


def _range(first: Reading, second: Reading, between: str) -> Reading | None:
    if first.spans or second.spans or not _RANGE.fullmatch(between):
        return None
    if first.day is None or second.day is None:
        return first._replace(day=None)
    start, end = first.day, second.day
    if not first.year_given and second.year_given and second.kind == "date" and first.kind == "date":
        start = start.replace(year=end.year)
    if start > end and first.kind == "weekday" and start - timedelta(days=7) < end:
        start -= timedelta(days=7)
    elif start > end and not (second.kind == "weekday" and end + timedelta(days=7) > start):
        start = end
    return first._replace(day=start, spans=True)
