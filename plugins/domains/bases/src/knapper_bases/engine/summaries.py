"""Summaries of a column: the built-in ones, and those that a base defines."""

from collections.abc import Callable, Mapping
from statistics import median, pstdev

from knapper_bases.engine.columns import cell
from knapper_bases.engine.compare import empty, identity
from knapper_bases.engine.dates import between
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.evaluate import compile_leniently
from knapper_bases.engine.list_methods import mean, numbers
from knapper_bases.engine.row import Row
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import Date

Summary = Callable[[list[object], Run], object]


def summarize(
    name: str, values: list[object], custom: Mapping[str, str], run: Run, row: Row | None
) -> object:
    """Apply a summary by name to a column's values; `row` is any row, for the expressions of custom ones."""
    run.budget.spend(len(values) + 1)
    known = [None if isinstance(value, BasesError) else value for value in values]
    if name in custom:
        return _custom(custom[name], known, row) if row else None
    summary = SUMMARIES.get(name.casefold())
    if summary is None:
        names = ", ".join(sorted(key.capitalize() for key in SUMMARIES))
        return BasesError(f'Cannot find summary "{name}"; there are {names}')
    if summary is _empty:
        return _empty(known, run)
    return summary([value for value in known if not empty(value)], run)


def _custom(expression: str, values: list[object], row: Row) -> object:
    row.values = values
    return cell(compile_leniently(expression, row.run, frozenset(("values",))), row)


def _empty(values: list[object], run: Run) -> int:
    return sum(empty(value) for value in values)


def _of_numbers(summary: Callable[[list[float]], float]) -> Summary:
    def apply(values: list[object], run: Run) -> object:
        found = numbers(values)
        return summary(found) if found else None

    return apply


def _dates(values: list[object]) -> list[Date]:
    return [value for value in values if isinstance(value, Date)]


def _range(values: list[object], run: Run) -> object:
    if found := numbers(values):
        return max(found) - min(found)
    dates = sorted(_dates(values), key=lambda date: date.when)
    return between(dates[-1], dates[0], run) if dates else None


SUMMARIES: dict[str, Summary] = {
    "average": lambda values, run: mean(values),
    "min": _of_numbers(min),
    "max": _of_numbers(max),
    "sum": _of_numbers(sum),
    "range": _range,
    "median": _of_numbers(median),
    "stddev": _of_numbers(pstdev),
    "earliest": lambda values, run: min(_dates(values), key=lambda date: date.when, default=None),
    "latest": lambda values, run: max(_dates(values), key=lambda date: date.when, default=None),
    "checked": lambda values, run: sum(value is True for value in values),
    "unchecked": lambda values, run: sum(value is False for value in values),
    "empty": _empty,
    "filled": lambda values, run: len(values),
    "unique": lambda values, run: len({identity(value, run) for value in values}),
}
