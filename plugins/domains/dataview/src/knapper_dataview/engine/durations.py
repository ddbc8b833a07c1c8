"""Durations as Luxon keeps them: amounts per unit, converted with its casual calendar (a month is 30 days)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

UNITS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds")

_DAY = 86_400_000
_MILLISECONDS = (365 * _DAY, 30 * _DAY, 7 * _DAY, _DAY, 3_600_000, 60_000, 1_000, 1)
# A year is 12 months, 52 weeks or 365 days; a month 4 weeks or 30 days: the calendar does not add up, on purpose.
_ODD_RATIOS = {(0, 1): 12, (0, 2): 52, (1, 2): 4}

_UNIT_NAMES = {
    **dict.fromkeys(("year", "years", "yr", "yrs"), 0),
    **dict.fromkeys(("month", "months", "mo", "mos"), 1),
    **dict.fromkeys(("week", "weeks", "wk", "wks", "w"), 2),
    **dict.fromkeys(("day", "days", "d"), 3),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), 4),
    **dict.fromkeys(("minute", "minutes", "min", "mins", "m"), 5),
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), 6),
}
_LONGEST_FIRST = "|".join(sorted(_UNIT_NAMES, key=len, reverse=True))
_PART = re.compile(rf"(-?[0-9]+(?:\.[0-9]+)?)\s*({_LONGEST_FIRST})")
_SEPARATOR = re.compile(r"\s*,\s*|\s*")


def _ratio(larger: int, smaller: int) -> float:
    return _ODD_RATIOS.get((larger, smaller)) or _MILLISECONDS[larger] / _MILLISECONDS[smaller]


class Duration:
    """An amount of time per unit; two are equal only when each unit is."""

    def __init__(self, amounts: Iterable[float]) -> None:
        self.amounts = tuple(amounts)

    @classmethod
    def of(cls, **amounts: float) -> Duration:
        """Build from named units, as in `Duration.of(hours=2)`."""
        return cls(amounts.get(unit, 0) for unit in UNITS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.amounts == other.amounts

    def __hash__(self) -> int:
        return hash(self.amounts)

    def __repr__(self) -> str:
        return f"Duration({', '.join(f'{unit}={amount}' for unit, amount in self.parts())})"

    @cached_property
    def milliseconds(self) -> float:
        """The whole duration in milliseconds."""
        return sum(amount * size for amount, size in zip(self.amounts, _MILLISECONDS, strict=True))

    def parts(self) -> Iterator[tuple[str, float]]:
        """The units that are not zero, largest first."""
        return ((unit, whole(amount)) for unit, amount in zip(UNITS, self.amounts, strict=True) if amount)

    def plus(self, other: Duration) -> Duration:
        """Add unit by unit."""
        return Duration(a + b for a, b in zip(self.amounts, other.amounts, strict=True))

    def times(self, factor: float) -> Duration:
        """Scale every unit."""
        return Duration(amount * factor for amount in self.amounts)

    def normalized(self) -> Duration:
        """Spread over all units, each below the next larger one."""
        return Duration(self._shift(range(len(UNITS))).values())

    def shifted(self, units: Iterable[str]) -> dict[str, float]:
        """Express in these units alone; the smallest takes the fraction."""
        wanted = sorted({UNITS.index(unit) for unit in units})
        return {UNITS[unit]: amount for unit, amount in self._shift(wanted).items()}

    def total(self, unit: str) -> float:
        """The whole duration in one unit."""
        return whole(self.shifted((unit,))[unit])

    def _shift(self, wanted: Iterable[int]) -> dict[int, float]:
        targets = set(wanted)
        last = max(targets)
        left = dict(enumerate(self.amounts))
        built: dict[int, float] = {}
        waiting: dict[int, float] = {}
        for unit in left:
            if unit not in targets:
                waiting[unit] = left[unit]
                continue
            own = left[unit] + sum(_ratio(kept, unit) * rest for kept, rest in waiting.items())
            built[unit] = math.trunc(own)
            waiting = {unit: (own * 1000 - built[unit] * 1000) / 1000}
            for smaller in range(unit + 1, len(UNITS)):
                _roll(left, smaller, built, unit)
        for unit, rest in waiting.items():
            if rest:
                built[last] += rest if unit == last else rest / _ratio(last, unit)
        for larger, smaller in reversed([*pairwise(built)]):
            _roll(built, smaller, built, larger)
        return built

    def human(self) -> str:
        """Read as text, such as `1 month, 5 days`."""
        return ", ".join(_counted(unit, amount) for unit, amount in self.normalized().parts())


def _roll(source: dict[int, float], smaller: int, target: dict[int, float], larger: int) -> None:
    """Move whole larger units out of a smaller one, one more where that takes back an opposite sign."""
    ratio = _ratio(larger, smaller)
    raw = source[smaller] / ratio
    opposed = target[larger] != 0 and (raw > 0) != (target[larger] > 0)
    rolled = (
        (math.floor(raw) if raw < 0 else math.ceil(raw)) if opposed and abs(raw) <= 1 else math.trunc(raw)
    )
    target[larger] += rolled
    source[smaller] -= rolled * ratio


def _counted(unit: str, amount: float) -> str:
    rounded = round(amount, 3)
    number = f"{rounded:,.3f}".rstrip("0").rstrip(".")
    return f"{number} {unit[:-1] if rounded == 1 else unit}"


def whole(number: float) -> float:
    """The same number, as an int where it has no fraction."""
    return int(number) if float(number).is_integer() else number


def match_duration(text: str, start: int = 0) -> tuple[Duration, int] | None:
    """Read a duration such as `4hr2min` or `1 day, 3 hours`; answer it and where it ends."""
    amounts = [0.0] * len(UNITS)
    end = start
    position = start
    while part := _PART.match(text, position):
        amounts[_UNIT_NAMES[part[2]]] += float(part[1])
        end = part.end()
        separator = _SEPARATOR.match(text, end)
        position = separator.end() if separator else end
    return (Duration(whole(amount) for amount in amounts), end) if end > start else None


def parse_duration(text: str) -> Duration | None:
    """Read a text that is a duration and nothing else."""
    found = match_duration(text)
    return found[0] if found and found[1] == len(text) else None


_TOKEN = re.compile(r"'([^']*)'|((.)\3*)", re.DOTALL)
_TOKEN_UNITS = {
    "S": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours",
    "d": "days", "w": "weeks", "M": "months", "y": "years",
}  # fmt: skip


def format_duration(duration: Duration, pattern: str) -> str:
    """Write with Luxon's duration tokens, each floored and padded to its length."""
    tokens = [(match[1], match[2]) for match in _TOKEN.finditer(pattern)]
    units = {_TOKEN_UNITS[run[0]] for _, run in tokens if run and run[0] in _TOKEN_UNITS}
    amounts = duration.shifted(units) if units else {}
    return "".join(quoted if run is None else _token(run, amounts) for quoted, run in tokens)


def _token(run: str, amounts: dict[str, float]) -> str:
    unit = _TOKEN_UNITS.get(run[0])
    if unit is None:
        return run
    amount = math.floor(amounts[unit])
    return f"-{-amount:0{len(run)}d}" if amount < 0 else f"{amount:0{len(run)}d}"
