"""Running a view over a vault."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from knapper_bases.engine.base import Base, Sort, View
from knapper_bases.engine.budget import Budget
from knapper_bases.engine.columns import cell, column
from knapper_bases.engine.compare import empty, identity, sort_key
from knapper_bases.engine.errors import BasesError, BudgetExceeded
from knapper_bases.engine.evaluate import compile_formulas
from knapper_bases.engine.filters import Predicate, both, compile_filter
from knapper_bases.engine.plan import FilterTree, plan
from knapper_bases.engine.row import Evaluate, Row
from knapper_bases.engine.run import Run
from knapper_bases.engine.source import Source
from knapper_bases.engine.summaries import summarize
from knapper_bases.engine.text import plain
from knapper_bases.engine.values import File

_DEFAULT_VIEW = View("Table", "table", order=("file.name",))


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that kept files out of the result: the error, the first such file, and how many there are."""

    error: BasesError
    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one value of the grouping property; a missing value is None."""

    key: object
    rows: list[Row]
    summaries: dict[str, object]


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a view in their order; cells are evaluated only for the rows that are asked for."""

    view: View
    columns: dict[str, Evaluate]
    rows: list[Row]
    matched: int
    groups: list[Group] | None = None
    summaries: dict[str, object] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def cells(self, row: Row) -> dict[str, object]:
        """Give a row's values by property id; a value that failed is a BasesError."""
        return {name: cell(evaluate, row) for name, evaluate in self.columns.items()}

    def plain_cells(self, row: Row) -> dict[str, object]:
        """Give a row's values as JSON."""
        return {name: _plain(value, row) for name, value in self.cells(row).items()}


def query(
    base: Base,
    source: Source,
    view: str | None = None,
    *,
    filters: FilterTree | None = None,
    this: str | None = None,
    now: datetime | None = None,
    budget: Budget | None = None,
) -> Result:
    """Run a view, by default the first one; `filters` takes the place of the base's and the view's own."""
    chosen = _view(base, view)
    tree = filters if filters is not None else both(base.filters, chosen.filters)
    run = Run(source, budget or Budget(), now, this)
    try:
        return _result(base, chosen, tree, run)
    except RecursionError:
        raise BasesError("A value is nested too deeply") from None


def _result(base: Base, chosen: View, tree: FilterTree | None, run: Run) -> Result:
    rows, faults = _matching(base, tree, run)
    matched = len(rows)
    for sort in reversed(chosen.sort):
        rows = _sorted(rows, sort, run)
    if chosen.group_by:
        rows = _sorted(rows, chosen.group_by, run)
    rows = rows[: chosen.limit]
    columns = {
        name: column(name, run) for name in (chosen.order if chosen.order is not None else ("file.name",))
    }
    groups = _grouped(rows, chosen, base, run) if chosen.group_by else None
    return Result(chosen, columns, rows, matched, groups, _summaries(rows, chosen, base, run), faults)


def _view(base: Base, name: str | None) -> View:
    if name is None:
        return base.views[0] if base.views else _DEFAULT_VIEW
    for view in base.views:
        if view.name == name:
            return view
    known = ", ".join(repr(view.name) for view in base.views) or "none"
    raise BasesError(f"There is no view {name!r}; there are: {known}")


def _matching(base: Base, tree: FilterTree | None, run: Run) -> tuple[list[Row], list[Fault]]:
    holds = compile_filter(tree, run)
    narrowing = plan(tree, run.this.path if run.this else None)
    formulas = compile_formulas(base.formulas, run)
    rows = (Row(run, File(entry), formulas) for entry in run.source.files(narrowing))
    return _kept(rows, holds, run)


def _kept(rows: Iterable[Row], holds: Predicate, run: Run) -> tuple[list[Row], list[Fault]]:
    kept: list[Row] = []
    counts: Counter[tuple[str, str]] = Counter()
    firsts: dict[tuple[str, str], tuple[BasesError, str]] = {}
    spend = run.budget.spend
    for row in rows:
        spend(1)
        try:
            if holds(row):
                kept.append(row)
        except BudgetExceeded:
            raise
        except BasesError as wrong:
            key = (wrong.message, wrong.expression)
            counts[key] += 1
            firsts.setdefault(key, (wrong.with_traceback(None), row.file.path))
    return kept, [Fault(*firsts[key], count) for key, count in counts.most_common()]


def _sorted(rows: list[Row], sort: Sort, run: Run) -> list[Row]:
    """Sort by one property, keeping the order of equals; what is empty comes last in either direction."""
    evaluate = column(sort.property, run)
    checkbox = run.types.get(sort.property.removeprefix("note.").casefold()) == "checkbox"
    present, missing = [], []
    run.budget.spend(len(rows))
    for row in rows:
        value = cell(evaluate, row)
        if checkbox and value is None:
            value = False
        if empty(value) or isinstance(value, BasesError):
            missing.append(row)
        else:
            present.append((sort_key(value, run), row))
    present.sort(key=lambda pair: pair[0], reverse=sort.descending)
    return [row for _, row in present] + missing


def _grouped(rows: list[Row], view: View, base: Base, run: Run) -> list[Group]:
    evaluate = column(view.group_by.property, run) if view.group_by else _nothing
    found: dict[tuple[str, str], tuple[object, list[Row]]] = {}
    for row in rows:
        value = cell(evaluate, row)
        key = None if empty(value) or isinstance(value, BasesError) else value
        found.setdefault(identity(key, run), (key, []))[1].append(row)
    return [Group(key, members, _summaries(members, view, base, run)) for key, members in found.values()]


def _summaries(rows: list[Row], view: View, base: Base, run: Run) -> dict[str, object]:
    made = {}
    for name, summary in view.summaries.items():
        evaluate = column(name, run)
        values = [cell(evaluate, row) for row in rows]
        made[name] = summarize(summary, values, base.summaries, run, rows[0] if rows else None)
    return made


def _plain(value: object, row: Row) -> object:
    try:
        return plain(value, row.run.budget)
    except RecursionError:
        return {"error": "The value is nested too deeply"}


def _nothing(row: Row) -> object:
    return None
