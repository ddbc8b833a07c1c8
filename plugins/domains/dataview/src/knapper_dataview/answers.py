"""What the domain answers: a query's rows as JSON, whatever kind of query it was, and what is wrong with one."""

from __future__ import annotations

from typing import Any, Literal

from knapper import Record

Format = Literal["table", "list", "task", "calendar"]


class DqlRows(Record):
    """What a query found: its rows, and the notes they came from."""

    rows: list[list[Any]]
    note_paths: list[str]
    engine: Literal["native", "obsidian"]
    headers: list[str] | None = None


class Mistake(Record):
    """Where a query is wrong, and how."""

    line: int
    col: int
    message: str


class CheckedQuery(Record):
    """Whether a query is well formed."""

    valid: bool
    engine: Literal["native", "obsidian"]
    ast: dict[str, Any] | None = None
    error: Mistake | None = None
