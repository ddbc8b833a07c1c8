"""Functions and fields of dates and durations."""

from datetime import datetime

from knapper.vault import moment
from knapper_bases.engine.arguments import Method, string
from knapper_bases.engine.dates import FIELDS, total
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import Date, Duration, RelativeDate


def _strip(run: Run, date: Date, args: list[object]) -> Date:
    return Date(datetime(date.when.year, date.when.month, date.when.day), False)


def _format(run: Run, date: Date, args: list[object]) -> str:
    fmt = string(args[0], run)
    run.budget.check_length(len(fmt) * 30)
    run.budget.spend(len(fmt) // 8 + 1)
    return moment.format(run.placed(date.when), fmt)


def _relative(run: Run, date: Date, args: list[object]) -> RelativeDate:
    said = moment.relative(run.placed(date.when), run.placed(run.now))
    return RelativeDate(date.when, date.timed, said)


DATE_METHODS: dict[str, Method] = {
    "date": Method(_strip),
    "format": Method(_format, 1, 1),
    "time": Method(lambda run, date, args: date.when.strftime("%H:%M:%S")),
    "relative": Method(_relative),
}

DATE_FIELDS = frozenset(("year", "month", "day", "hour", "minute", "second"))


def date_field(date: Date, name: str) -> int | None:
    """Give a part of a date, or None where it has no such part."""
    if name == "millisecond":
        return date.when.microsecond // 1000
    return int(getattr(date.when, name)) if name in DATE_FIELDS else None


def duration_field(length: Duration, name: str) -> float | None:
    """Give the whole duration in a unit, with fractions, or None where it has no such unit."""
    unit = FIELDS.get(name)
    if unit is None:
        return None
    amount = total(length) / unit
    # An exact number of months or years must not suffer from their average length.
    if name in ("months", "years") and not (length.days or length.milliseconds):
        amount = length.months / (12 if name == "years" else 1)
    return int(amount) if amount.is_integer() else amount
