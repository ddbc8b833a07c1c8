"""Running a query: rows from its source, through its steps in written order, into its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.comparison import equal, ranked
from knapper_dataview.engine.compiler import Evaluate, compile_expression
from knapper_dataview.engine.context import Context
from knapper_dataview.engine.csv_rows import csv_rows
from knapper_dataview.engine.errors import EvaluationError, QueryFailed
from knapper_dataview.engine.rows import Overlay, PageRow, TaskRow, task_rows
from knapper_dataview.engine.selection import select
from knapper_dataview.engine.syntax import (
    Flatten,
    GroupBy,
    LateFrom,
    Limit,
    Named,
    Operation,
    Sort,
    SourceNode,
    Where,
)
from knapper_dataview.engine.text import index_of
from knapper_dataview.engine.values import Record, truthy, type_of

# Rows that a query makes itself stay in memory together: they cost more than rows that it only looks at.
_FLAT_ROW = 4

# What identifies a row (its note's row, a group's key, a CSV line's name), and the row. A bare tuple: there are many.
Entry = tuple[object, Record]


class Grouping(NamedTuple):
    """The name a GROUP BY gave to its key, and the grouping before it."""

    name: str
    before: Grouping | None


class Progress:
    """The rows of a query between two steps."""

    def __init__(self, entries: list[Entry], context: Context) -> None:
        self.entries = entries
        self.context = context
        self.grouping: Grouping | None = None

    def apply(self, operation: Operation) -> None:
        """Take one step."""
        match operation:
            case Where(condition):
                self._where(compile_expression(condition, self.context))
            case Sort(keys):
                self._sort(
                    [(compile_expression(key.expression, self.context), key.descending) for key in keys]
                )
            case Limit(amount):
                self._limit(compile_expression(amount, self.context))
            case GroupBy(field):
                self._group(field)
            case Flatten(field):
                self._flatten(field)
            case LateFrom():
                raise QueryFailed("FROM has to be the first clause of a query")

    def _where(self, holds: Evaluate) -> None:
        entries, answers = self.answers("WHERE", holds)
        pairs = zip(entries, answers, strict=True)
        self.entries = [
            entry for entry, answer in pairs if answer is True or (answer is not False and truthy(answer))
        ]

    def _sort(self, keys: list[tuple[Evaluate, bool]]) -> None:
        entries, columns = self._sort_keys([evaluate for evaluate, _ in keys])
        order = list(range(len(entries)))
        for column, (_, descending) in reversed([*zip(columns, keys, strict=True)]):
            turn = ranked([column[at] for at in order], self.context.normalize, descending)
            order = [order[at] for at in turn]
        self.entries = [entries[at] for at in order]

    def _sort_keys(self, keys: list[Evaluate]) -> tuple[list[Entry], list[list[object]]]:
        if len(keys) == 1:
            entries, answers = self.answers("SORT", keys[0])
            return entries, [answers]
        entries, answers = self.answers("SORT", lambda row: [evaluate(row) for evaluate in keys])
        rows = [answer for answer in answers if isinstance(answer, list)]
        return entries, [[row[at] for row in rows] for at in range(len(keys))]

    def _limit(self, amount: Evaluate) -> None:
        try:
            limit = amount(Record())
        except EvaluationError as problem:
            raise QueryFailed(f"LIMIT failed: {problem}") from problem
        if type_of(limit) != "number" or not isinstance(limit, (int, float)):
            raise QueryFailed(f"LIMIT should be a number, but is a {type_of(limit)}")
        self.entries = self.entries[: index_of(limit)]

    def _group(self, field: Named) -> None:
        entries, keys = self.answers("GROUP BY", compile_expression(field.expression, self.context))
        groups: list[tuple[object, list[object]]] = []
        for at in ranked(keys, self.context.normalize):
            if groups and equal(groups[-1][0], keys[at], self.context.normalize):
                groups[-1][1].append(entries[at][1])
            else:
                groups.append((keys[at], [entries[at][1]]))
        self.entries = [(key, Record({"key": key, "rows": rows, field.name: key})) for key, rows in groups]
        self.grouping = Grouping(field.name, self.grouping)

    def _flatten(self, field: Named) -> None:
        entries, answers = self.answers("FLATTEN", compile_expression(field.expression, self.context))
        flat: list[Entry] = []
        for (id, row), value in zip(entries, answers, strict=True):
            elements = value if isinstance(value, list) else [value]
            self.context.budget.spend(_FLAT_ROW * len(elements))
            flat.extend((id, Overlay(row, field.name, element)) for element in elements)
        self.entries = flat
        if self.grouping is not None and self.grouping.name == field.name:
            self.grouping = self.grouping.before

    def answers(self, step: str, evaluate: Evaluate) -> tuple[list[Entry], list[object]]:
        """The rows that have a value, and the values; a step that fails for every row fails the query."""
        entries: list[Entry] = []
        answers: list[object] = []
        failed: list[str] = []
        for entry in paced(self.entries, self.context.budget):
            try:
                answers.append(evaluate(entry[1]))
                entries.append(entry)
            except EvaluationError as problem:
                failed.append(str(problem))
        if failed and not answers:
            reasons = "; ".join(dict.fromkeys(failed[:3]))
            raise QueryFailed(f"every row failed in {step}: {reasons}")
        return entries, answers


_PACE = 128


def paced(entries: list[Entry], budget: Budget) -> Iterator[Entry]:
    """The rows, paid for as they are taken."""
    for start in range(0, len(entries), _PACE):
        part = entries[start : start + _PACE]
        budget.spend(len(part))
        yield from part


def page_entries(source: SourceNode, context: Context) -> list[Entry]:
    """A row for each note of a source, and for each line of its CSV files."""
    paths = select(source, context)
    rows = context.rows(paths)
    entries: list[Entry] = [(row, row) for row in rows]
    if len(rows) < len(paths):
        for path in paths:
            if path.lower().endswith(".csv"):
                entries.extend(_csv_entries(path, context))
    return entries


def _csv_entries(path: str, context: Context) -> Iterable[Entry]:
    text = context.source.text(path)
    if text is None:
        raise QueryFailed(f"no CSV file at {path!r}")
    for number, row in enumerate(csv_rows(text)):
        yield f"{path}#{number}", Record({key: context.hydrate(value, path) for key, value in row.items()})


def task_entries(source: SourceNode, context: Context) -> list[Entry]:
    """A row for each task in the notes of a source."""
    rows = context.rows(select(source, context), lambda page: bool(page.tasks))
    return [(row, task) for row in rows for task in task_rows(row)]


Start = Callable[[SourceNode, Context], list[Entry]]


def run(start: Start, source: SourceNode, operations: tuple[Operation, ...], context: Context) -> Progress:
    """Take all steps of a query."""
    progress = Progress(start(source, context), context)
    for operation in operations:
        progress.apply(operation)
    return progress


def row_paths(row: object) -> Iterator[str]:
    """The notes a row came from; a group has many."""
    if isinstance(row, PageRow):
        yield row.page.path
    elif isinstance(row, Overlay):
        yield from row_paths(row.below)
    elif isinstance(row, TaskRow):
        yield row.page.path
    elif isinstance(row, Record) and isinstance(rows := row.get("rows"), list):
        for inner in rows:
            yield from row_paths(inner)
