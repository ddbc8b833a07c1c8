"""Rules: recurrence in English ("every month on the last Friday when done") read and written.

The grammar is the one of rrule.js, whose habits show in every vault: the longest token wins, and what
follows a complete rule is dropped without a word.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache

import msgspec

from .days import MONTHS, WEEKDAYS
from .rule_text import described

WORKING_DAYS = ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0))


class Rule(msgspec.Struct):
    """A recurrence: its unit, how many of it, and the days of it that count.

    `weekdays` holds (weekday from Monday = 0, nth in the month or 0 for each).
    """

    unit: str = ""
    interval: int = 1
    months: list[int] = []
    month_days: list[int] = []
    weekdays: list[tuple[int, int]] = []
    week_numbers: list[int] = []
    hours: list[int] = []
    count: int | None = None
    until: date | None = None
    when_done: bool = False


@lru_cache(maxsize=4096)
def parse_rule(text: str) -> Rule | None:
    """Read a rule, or None where it is not one; callers must not change the answer."""
    matched = re.fullmatch(r"([a-zA-Z0-9, !]+?)( when done)?", text, re.IGNORECASE)
    if matched is None:
        return None
    try:
        rule = _Reader(matched[1].strip()).rule()
    except _NotARule:
        return None
    rule.when_done = matched[2] is not None
    return rule


@lru_cache(maxsize=4096)
def canonical_rule(text: str) -> str | None:
    """A rule as the plugin rewrites it: `every Monday` becomes `every week on Monday`."""
    rule = parse_rule(text)
    return None if rule is None else rule_text(rule)


def rule_text(rule: Rule) -> str:
    """A rule in the plugin's words."""
    return described(rule) + (" when done" if rule.when_done else "")


# Past any calendar, and short enough for every conversion.
_MOST_DIGITS = 9


class _NotARule(Exception):
    pass


_UNITS = {"day", "weekday", "week", "hour", "minute", "month", "year"}
_WORDS = {
    "skip": r"[ \r\n\t]+|\.$",
    "number": r"[1-9][0-9]*",
    "few": r"one|two|three",
    "every": "every",
    "day": "days?",
    "weekday": "weekdays?",
    "week": "weeks?",
    "hour": "hours?",
    "minute": "minutes?",
    "month": "months?",
    "year": "years?",
    "on": "on|in",
    "at": "at",
    "the": "the",
    "first": "first",
    "second": "second",
    "third": "third",
    "nth": r"([1-9][0-9]*)(\.|th|nd|rd|st)",
    "last": "last",
    "for": "for",
    "times": "times?",
    "until": "(un)?til",
    "Monday": "mo(n(day)?)?",
    "Tuesday": "tu(e(s(day)?)?)?",
    "Wednesday": "we(d(n(esday)?)?)?",
    "Thursday": "th(u(r(sday)?)?)?",
    "Friday": "fr(i(day)?)?",
    "Saturday": "sa(t(urday)?)?",
    "Sunday": "su(n(day)?)?",
    "January": "jan(uary)?",
    "February": "feb(ruary)?",
    "March": "mar(ch)?",
    "April": "apr(il)?",
    "May": "may",
    "June": "june?",
    "July": "july?",
    "August": "aug(ust)?",
    "September": "sep(t(ember)?)?",
    "October": "oct(ober)?",
    "November": "nov(ember)?",
    "December": "dec(ember)?",
    "comma": r"(,\s*|(and|or)\s*)+",
}
_TOKENS = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _WORDS.items()]


class _Reader:
    def __init__(self, text: str) -> None:
        self.rest = text
        self.symbol: str | None = None
        self.value = ""
        self._step()

    def rule(self) -> Rule:
        rule = Rule(months=[], month_days=[], weekdays=[], week_numbers=[], hours=[])
        self._expect("every")
        if self.symbol == "number":
            rule.interval = self._number()
        self._unit(rule)
        rule.weekdays = list(dict.fromkeys(rule.weekdays))
        rule.months = list(dict.fromkeys(rule.months))
        return rule

    def _step(self) -> None:
        while True:
            matches = [(name, found) for name, pattern in _TOKENS if (found := pattern.match(self.rest))]
            if not matches:
                self.symbol, self.value = None, ""
                return
            name, found = max(matches, key=lambda match: len(match[1][0]))
            self.rest = self.rest[found.end() :]
            if name != "skip":
                self.symbol, self.value = name, found[1] if name == "nth" else found[0]
                return

    def _accept(self, name: str) -> bool:
        if self.symbol != name:
            return False
        self._step()
        return True

    def _expect(self, name: str) -> None:
        if not self._accept(name):
            raise _NotARule

    def _number(self) -> int:
        if self.symbol != "number" or len(self.value) > _MOST_DIGITS:
            raise _NotARule
        number = int(self.value)
        self._step()
        return number

    def _unit(self, rule: Rule) -> None:
        symbol = self.symbol
        if symbol in _UNITS:
            rule.unit = "week" if symbol == "weekday" else symbol
            self._step()
            self._after_unit(rule, symbol)
        elif symbol in WEEKDAYS:
            rule.unit = "week"
            rule.weekdays = [(weekday, 0) for weekday in self._listed(self._weekday)]
            self._at(rule)
            self._days_of_month(rule)
        elif symbol in MONTHS:
            rule.unit = "year"
            rule.months = self._listed(self._month)
            self._on(rule)
        else:
            raise _NotARule
        self._end(rule)

    def _after_unit(self, rule: Rule, symbol: str) -> None:
        if symbol == "day":
            if self._accept("on") and self.symbol in MONTHS:
                rule.months = [self._month()]
            self._at(rule)
            return
        if symbol == "weekday":
            rule.weekdays = list(WORKING_DAYS)
        else:
            self._on(rule)
        if rule.unit == "week":
            self._at(rule)

    def _listed(self, read: Callable[[], int]) -> list[int]:
        values = [read()]
        while self._accept("comma"):
            values.append(read())
        return values

    def _weekday(self) -> int:
        if self.symbol not in WEEKDAYS:
            raise _NotARule
        weekday = WEEKDAYS.index(self.symbol)
        self._step()
        return weekday

    def _month(self) -> int:
        if self.symbol not in MONTHS:
            raise _NotARule
        month = MONTHS.index(self.symbol) + 1
        self._step()
        return month

    def _on(self, rule: Rule) -> None:
        on, the = self._accept("on"), self._accept("the")
        if not (on or the):
            return
        while self._selection(rule):
            if not (self._accept("comma") or self._accept("the") or self._accept("on")):
                return

    def _selection(self, rule: Rule) -> bool:
        nth = self._nth()
        if nth and self.symbol in WEEKDAYS:
            rule.weekdays.append((self._weekday(), nth))
        elif nth:
            rule.month_days.append(nth)
            self._accept("day")
        elif self.symbol in WEEKDAYS:
            rule.weekdays.append((self._weekday(), 0))
        elif self._accept("weekday"):
            rule.weekdays = rule.weekdays or list(WORKING_DAYS)
        elif self._accept("week"):
            rule.week_numbers = self._listed(self._number)
        elif self.symbol in MONTHS:
            rule.months.append(self._month())
        else:
            return False
        return True

    def _nth(self) -> int:
        symbol = self.symbol
        if symbol == "last":
            self._step()
            return -1
        if symbol == "first":
            self._step()
            return 1
        if symbol not in ("second", "third", "nth"):
            return 0
        if symbol == "nth" and (len(self.value) > 3 or int(self.value) > 366):
            raise _NotARule
        number = {"second": 2, "third": 3}.get(symbol) or int(self.value)
        self._step()
        return -number if self._accept("last") else number

    def _at(self, rule: Rule) -> None:
        while self._accept("at"):
            rule.hours = self._listed(self._number)

    def _days_of_month(self, rule: Rule) -> None:
        self._accept("on")
        self._accept("the")
        if not (nth := self._nth()):
            return
        rule.month_days = [nth]
        while self._accept("comma"):
            if not (nth := self._nth()):
                raise _NotARule
            rule.month_days.append(nth)

    def _end(self, rule: Rule) -> None:
        if self.symbol == "until":
            rule.until = _day(self.rest)
        elif self._accept("for"):
            rule.count = self._number()


def _day(text: str) -> date:
    words = " ".join(re.findall(r"[A-Za-z]+|[0-9]+", text))
    for form in ("%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y"):
        try:
            return datetime.strptime(words, form).date()
        except ValueError:
            continue
    raise _NotARule
