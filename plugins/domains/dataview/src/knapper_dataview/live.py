"""The live engine: Dataview itself, inside a running Obsidian, behind a bridge.

Native answers every query of the language, so the live engine answers only where a caller asks for it. Dataview there
knows nothing of folder rules, and a query may look at any note: under such rules it is refused.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as, refuse_restricted
from knapper_dataview.answers import CheckedQuery, DqlRows, Format, Mistake

KEY = "dataview"


class LiveDataview(Protocol):
    """What a bridge with the key `dataview` connects to; a query that is wrong is a ToolError dql_error."""

    def dql(self, dql: str, format: str | None) -> Any:
        """An object with rows[][], note_paths[] and headers[]."""

    def validate(self, dql: str) -> Any:
        """An object with valid, and where it is not an error with message and perhaps line and col."""

    def eval(self, path: str, expression: str) -> Any:
        """An object with value and type."""


class _Rows(msgspec.Struct):
    rows: list[list[Any]]
    note_paths: list[str] = []
    headers: list[str] | None = None


class _Mistake(msgspec.Struct):
    message: str
    line: int = 1
    col: int = 1


class _Checked(msgspec.Struct):
    valid: bool
    error: _Mistake | None = None


class _Value(msgspec.Struct):
    value: Any
    type: str


def rows(ctx: Context, dql: str, format: Format | None) -> DqlRows:
    refuse_restricted(ctx, KEY, "a query")
    engine: LiveDataview = ctx.bridge(KEY)
    found = answer_as(engine.dql(dql, format), _Rows, KEY)
    headers = found.headers or None  # a list has none, which the live engine says with an empty one
    return DqlRows(rows=found.rows, note_paths=found.note_paths, headers=headers, engine="obsidian")


def checked(ctx: Context, dql: str) -> CheckedQuery:
    engine: LiveDataview = ctx.bridge(KEY)
    found = answer_as(engine.validate(dql), _Checked, KEY)
    wrong = found.error
    error = None if wrong is None else Mistake(line=wrong.line, col=wrong.col, message=wrong.message)
    return CheckedQuery(valid=found.valid, engine="obsidian", error=error)


def evaluated(ctx: Context, path: str, expression: str) -> tuple[Any, str]:
    refuse_restricted(ctx, KEY, "an expression")
    engine: LiveDataview = ctx.bridge(KEY)
    found = answer_as(engine.eval(path, expression), _Value, KEY)
    return found.value, found.type
