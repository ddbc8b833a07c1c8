"""The tools of the domain, and the service by which other domains run queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal

from knapper import Context, Doc, NotePath, Record, ToolError
from knapper.bridge import EngineName
from knapper_dataview import live
from knapper_dataview.answers import CheckedQuery, DqlRows, Format, Mistake, rows_of
from knapper_dataview.domain import dataview, settings_of
from knapper_dataview.engine import (
    Budget,
    BudgetExceeded,
    DqlError,
    DqlSyntaxError,
    DqlUnsupported,
    Engine,
    Result,
    parse_query,
    plain,
    query_json,
    type_of,
)
from knapper_dataview.engine.query_parser import refuse_javascript
from knapper_dataview.vault import IndexedVault

SECONDS = 5.0
LONGEST = 20_000


@dataview.tool("read:dataview")
def validate_dql(
    ctx: Context,
    dql: Annotated[str, Doc("A Dataview query.", max_length=LONGEST)],
    engine: EngineName = "auto",
) -> CheckedQuery:
    """Say whether a Dataview query is well formed: its syntax tree, or where it is wrong and what was expected there."""
    try:
        if engine == "obsidian":
            refuse_javascript(dql)
            return live.checked(ctx, dql)
        tree = query_json(parse_query(dql), _now(ctx))
    except DqlSyntaxError as error:
        return _wrong(error.line, error.column, error.problem)
    except DqlUnsupported as error:
        return _wrong(1, 1, str(error))
    return CheckedQuery(valid=True, engine="native", ast=tree)


class FieldValue(Record):
    path: str
    expression: str
    value: Any
    type: str
    engine: Literal["native", "obsidian"]
    incomplete: str | None = None


@dataview.tool("read:dataview", "read:notes")
def eval_dataview_field(
    ctx: Context,
    path: NotePath,
    expression: Annotated[str, Doc("A Dataview expression, such as `rating * 2`.", max_length=LONGEST)],
    engine: EngineName = "auto",
) -> FieldValue:
    """The value of a Dataview expression in a note: its fields by their names, `file` and `this`."""
    with failures():
        if engine == "obsidian":
            refuse_javascript(expression)
            value, kind = live.evaluated(ctx, path, expression)
            return FieldValue(path=path, expression=expression, value=value, type=kind, engine="obsidian")
        budget = Budget(seconds=SECONDS)
        found = _engine(ctx).evaluate_field(expression, path, budget)
        return FieldValue(
            path=path,
            expression=expression,
            value=plain(found, budget),
            type=type_of(found),
            engine="native",
        )


@dataview.service("dql")
def run_dql(ctx: Context, dql: str, format: Format | None = None, engine: EngineName = "auto") -> DqlRows:
    """Run a query over the notes a caller may read: headers, rows, the notes they came from, and which engine answered."""
    with failures():
        if engine == "obsidian":
            refuse_javascript(dql)
            return live.rows(ctx, dql, format)
        budget = Budget(seconds=SECONDS)
        return rows_of(answer(ctx, dql, budget=budget), format, budget)


def answer(ctx: Context, dql: str, origin: str = "", budget: Budget | None = None) -> Result:
    """What the native engine says to a query that stands in the note `origin`."""
    return _engine(ctx).run(dql, origin, budget or Budget(seconds=SECONDS))


@contextmanager
def failures() -> Iterator[None]:
    """Failures of the engine as errors that a caller can act on."""
    try:
        yield
    except BudgetExceeded as error:
        raise ToolError("compute_budget_exceeded", str(error), timeout_ms=int(SECONDS * 1000)) from None
    except DqlSyntaxError as error:
        raise ToolError(
            "dql_error", str(error), line=error.line, col=error.column, expected=[*error.expected]
        ) from None
    except DqlUnsupported as error:
        raise ToolError("dql_error", str(error), line=1, col=1, construct="DataviewJS") from None
    except DqlError as error:
        raise ToolError("dql_error", str(error)) from None
    except RecursionError:
        raise ToolError("dql_error", "the value is nested too deeply") from None


def _engine(ctx: Context) -> Engine:
    return Engine(IndexedVault(ctx), _now(ctx), settings_of(ctx))


def _now(ctx: Context) -> datetime:
    return datetime.fromtimestamp(ctx.now()).astimezone()


def _wrong(line: int, column: int, message: str) -> CheckedQuery:
    return CheckedQuery(valid=False, engine="native", error=Mistake(line=line, col=column, message=message))
