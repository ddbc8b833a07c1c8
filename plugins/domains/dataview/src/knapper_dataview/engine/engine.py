"""The engine's front: run a query, evaluate an expression."""

from __future__ import annotations

from datetime import datetime

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.compiler import compile_expression
from knapper_dataview.engine.context import Context
from knapper_dataview.engine.errors import EvaluationError, QueryFailed
from knapper_dataview.engine.execution import Grouping, Progress, page_entries, row_paths, run, task_entries
from knapper_dataview.engine.query_parser import parse_expression, parse_query
from knapper_dataview.engine.results import (
    CalendarEntry,
    CalendarResult,
    ListResult,
    Result,
    TableResult,
    TaskEntry,
    TaskGroup,
    TaskResult,
)
from knapper_dataview.engine.rows import Overlay, PageRow, TaskRow
from knapper_dataview.engine.settings import Settings
from knapper_dataview.engine.source import Source
from knapper_dataview.engine.syntax import (
    CalendarHeader,
    Index,
    ListHeader,
    Literal,
    Query,
    TableHeader,
    Variable,
)
from knapper_dataview.engine.values import Link, ListPair, Record


class Engine:
    """Dataview's query language over one vault; `now` carries the local zone."""

    def __init__(self, source: Source, now: datetime, settings: Settings | None = None) -> None:
        self._source = source
        self._now = now if now.tzinfo is not None else now.astimezone()
        self._settings = settings or Settings()

    def run(self, query: str | Query, origin: str = "", budget: Budget | None = None) -> Result:
        """Answer a query that stands in the note `origin`."""
        parsed = parse_query(query) if isinstance(query, str) else query
        context = self._context(origin, budget)
        try:
            return _answer(parsed, context)
        except RecursionError:
            raise QueryFailed("the query is nested too deeply") from None

    def evaluate(
        self,
        expression: str,
        origin: str = "",
        variables: dict[str, object] | None = None,
        budget: Budget | None = None,
    ) -> object:
        """The value of an expression that stands in the note `origin`, which it sees as `this`."""
        context = self._context(origin, budget)
        try:
            return compile_expression(parse_expression(expression), context)(Record(variables or {}))
        except RecursionError:
            raise EvaluationError("the expression is nested too deeply") from None

    def evaluate_field(self, expression: str, path: str, budget: Budget | None = None) -> object:
        """The value of an expression for a note, whose fields it sees by their names and as `this`."""
        context = self._context(path, budget)
        try:
            return compile_expression(parse_expression(expression), context)(context.row(path) or Record())
        except RecursionError:
            raise EvaluationError("the expression is nested too deeply") from None

    def _context(self, origin: str, budget: Budget | None) -> Context:
        return Context(self._source, origin, self._now, self._settings, budget)


def _answer(query: Query, context: Context) -> Result:
    header = query.header
    if isinstance(header, ListHeader):
        return _list(header, run(page_entries, query.source, query.operations, context))
    if isinstance(header, TableHeader):
        return _table(header, run(page_entries, query.source, query.operations, context))
    if isinstance(header, CalendarHeader):
        return _calendar(header, run(page_entries, query.source, query.operations, context))
    return _tasks(run(task_entries, query.source, query.operations, context))


def _id(value: object) -> object:
    return Link(value.page.path) if isinstance(value, PageRow) else value


def _paths(rows: list[Record]) -> list[str]:
    return list(dict.fromkeys(path for row in rows for path in row_paths(row)))


def _list(header: ListHeader, progress: Progress) -> ListResult:
    if header.format is None:
        ids = [_id(entry.id) for entry in progress.entries]
        return ListResult(ids, _paths([entry.row for entry in progress.entries]))
    answered = progress.answers("LIST", compile_expression(header.format, progress.context))
    paths = _paths([entry.row for entry, _ in answered])
    if header.show_id:
        return ListResult([ListPair(_id(entry.id), value) for entry, value in answered], paths)
    return ListResult([value for _, value in answered], paths)


def _table(header: TableHeader, progress: Progress) -> TableResult:
    context = progress.context
    # Two columns of one name are one to Dataview: both show what the last of them says.
    by_name = {column.name: compile_expression(column.expression, context) for column in header.columns}
    columns = [by_name[column.name] for column in header.columns]
    answered = progress.answers("TABLE", lambda row: [column(row) for column in columns])
    names = [column.name for column in header.columns]
    rows = [cells for _, cells in answered if isinstance(cells, list)]
    if header.show_id:
        names.insert(0, progress.grouping.name if progress.grouping else context.settings.id_column)
        rows = [[_id(entry.id), *cells] for (entry, _), cells in zip(answered, rows, strict=True)]
    return TableResult(names, rows, _paths([entry.row for entry, _ in answered]))


_FILE_LINK = Index(Index(Variable("row"), Literal("file")), Literal("link"))


def _calendar(header: CalendarHeader, progress: Progress) -> CalendarResult:
    date = compile_expression(header.field.expression, progress.context)
    link = compile_expression(_FILE_LINK, progress.context)
    answered = progress.answers("CALENDAR", lambda row: CalendarEntry(date(row), link(row)))
    entries = [found for _, found in answered if isinstance(found, CalendarEntry)]
    return CalendarResult(entries, _paths([entry.row for entry, _ in answered]))


def _tasks(progress: Progress) -> TaskResult:
    rows: list[object] = [entry.row for entry in progress.entries]
    return TaskResult(_grouped(rows, progress.grouping), _paths([entry.row for entry in progress.entries]))


def _grouped(rows: list[object], grouping: Grouping | None) -> list[TaskEntry]:
    if grouping is None:
        return [task for row in rows if (task := _task(row)) is not None]
    return [
        TaskGroup(row[grouping.name], _grouped(inner, grouping.before))
        for row in rows
        if isinstance(row, Record) and isinstance(inner := row["rows"], list)
    ]


def _task(row: object) -> TaskRow | None:
    while isinstance(row, Overlay):
        row = row.below
    return row if isinstance(row, TaskRow) else None
