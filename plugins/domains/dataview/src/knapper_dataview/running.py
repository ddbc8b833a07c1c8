"""What the tools ask of the engines: a query checked or run, an expression evaluated, failures told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from knapper import Context, ToolError
from knapper.bridge import EngineName
from knapper_dataview import live
from knapper_dataview.answers import CheckedQuery, DqlRows, Format, Mistake
from knapper_dataview.engine import (
    Budget,
    BudgetExceeded,
    DqlError,
    DqlSyntaxError,
    DqlUnsupported,
    Engine,
    Result,
    Settings,
    parse_query,
    plain,
    query_json,
    type_of,
)
from knapper_dataview.engine.query_parser import refuse_javascript
from knapper_dataview.tables import rows_of
from knapper_dataview.vault import IndexedVault

SECONDS = 5.0


def checked(ctx: Context, dql: str, engine: EngineName) -> CheckedQuery:
    """Whether a query is well formed, and where not."""
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


def evaluated(ctx: Context, path: str, expression: str, engine: EngineName) -> tuple[Any, str]:
    """The value of an expression in a note, and its type."""
    with failures():
        if engine == "obsidian":
            refuse_javascript(expression)
            return live.evaluated(ctx, path, expression)
        budget = Budget(seconds=SECONDS, look=ctx.check_cancelled)
        found = _engine(ctx).evaluate_field(expression, path, budget)
        return plain(found, budget), type_of(found)


def rows(ctx: Context, dql: str, format: Format | None, engine: EngineName) -> DqlRows:
    """The rows of a query."""
    with failures():
        if engine == "obsidian":
            refuse_javascript(dql)
            return live.rows(ctx, dql, format)
        budget = Budget(seconds=SECONDS, look=ctx.check_cancelled)
        return rows_of(answer(ctx, dql, budget=budget), format, budget)


def answer(ctx: Context, dql: str, origin: str = "", budget: Budget | None = None) -> Result:
    """What the native engine says to a query that stands in the note `origin`."""
    return _engine(ctx).run(dql, origin, budget or Budget(seconds=SECONDS, look=ctx.check_cancelled))


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
    return Engine(IndexedVault(ctx), _now(ctx), _settings(ctx))


def _settings(ctx: Context) -> Settings:
    """The vault's own settings of Dataview; its defaults where it is not installed."""
    data: dict[str, Any] = ctx.vault.settings("plugins/dataview/data")
    return Settings.from_plugin(data)


def _now(ctx: Context) -> datetime:
    return datetime.fromtimestamp(ctx.now()).astimezone()


def _wrong(line: int, column: int, message: str) -> CheckedQuery:
    return CheckedQuery(valid=False, engine="native", error=Mistake(line=line, col=column, message=message))
