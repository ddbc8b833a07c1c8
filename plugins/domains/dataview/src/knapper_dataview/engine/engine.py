"""The engine's front: run a query, evaluate an expression."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from knapper.collector import collector_paused
from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.compiler import compile_expression
from knapper_dataview.engine.context import Context
from knapper_dataview.engine.errors import EvaluationError, QueryFailed
from knapper_dataview.engine.execution import (
    Entry,
    Grouping,
    Progress,
    page_entries,
    row_paths,
    run,
    task_entries,
)
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
            with collector_paused():
                return _answer(parsed, context)
        except RecursionError:
            raise QueryFailed("the query is nested too deeply") from None
        finally:
            context.release()

    def evaluate(
        self,
        expression: str,
        origin: str = "",
        variables: dict[str, object] | None = None,
        budget: Budget | None = None,
    ) -> object:
        """The value of an expression that stands in the note `origin`, which it sees as `this`."""
        return _value(expression, self._context(origin, budget), Record(variables or {}))

    def evaluate_field(self, expression: str, path: str, budget: Budget | None = None) -> object:
        """The value of an expression for a note, whose fields it sees by their names and as `this`."""
        context = self._context(path, budget)
        row = context.row(path)
        return _value(expression, context, Record() if row is None else row)

    def _context(self, origin: str, budget: Budget | None) -> Context:
        return Context(self._source, origin, self._now, self._settings, budget)


def _value(expression: str, context: Context, row: Record) -> object:
    try:
        return compile_expression(parse_expression(expression), context)(row)
    except RecursionError:
        raise EvaluationError("the expression is nested too deeply") from None


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


def _paths(entries: list[Entry]) -> list[str]:
    """The notes behind the rows, each once."""
    found: dict[str, None] = {}
    for _, row in entries:
        if isinstance(row, PageRow | TaskRow):
            found[row.page.path] = None
        else:
            found.update(dict.fromkeys(row_paths(row)))
    return [*found]


def _list(header: ListHeader, progress: Progress) -> ListResult:
    if header.format is None:
        return ListResult([_id(entry[0]) for entry in progress.entries], _paths(progress.entries))
    entries, values = progress.answers("LIST", compile_expression(header.format, progress.context))
    if header.show_id:
        pairs = zip(entries, values, strict=True)
        return ListResult([ListPair(_id(entry[0]), value) for entry, value in pairs], _paths(entries))
    return ListResult(values, _paths(entries))


def _table(header: TableHeader, progress: Progress) -> TableResult:
    context = progress.context
    # Two columns of one name are one to Dataview: both show what the last of them says.
    by_name = {column.name: compile_expression(column.expression, context) for column in header.columns}
    columns = [by_name[column.name] for column in header.columns]
    entries, answers = progress.answers("TABLE", lambda row: [column(row) for column in columns])
    names = [column.name for column in header.columns]
    rows = [cells for cells in answers if isinstance(cells, list)]
    if header.show_id:
        names.insert(0, progress.grouping.name if progress.grouping else context.settings.id_column)
        for entry, cells in zip(entries, rows, strict=True):
            cells.insert(0, _id(entry[0]))
    return TableResult(names, rows, _paths(entries))


_FILE_LINK = Index(Variable("file"), Literal("link"))


def _calendar(header: CalendarHeader, progress: Progress) -> CalendarResult:
    date = compile_expression(header.field.expression, progress.context)
    link = compile_expression(_FILE_LINK, progress.context)
    entries, answers = progress.answers("CALENDAR", lambda row: CalendarEntry(date(row), link(row)))
    return CalendarResult([found for found in answers if isinstance(found, CalendarEntry)], _paths(entries))


def _tasks(progress: Progress) -> TaskResult:
    return TaskResult(
        _grouped([row for _, row in progress.entries], progress.grouping), _paths(progress.entries)
    )


def _grouped(rows: Iterable[object], grouping: Grouping | None) -> list[TaskEntry]:
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
