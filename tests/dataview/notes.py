"""A small vault for tests, and the engine over it."""

from __future__ import annotations

from datetime import UTC, datetime

from knapper_dataview.engine import Engine, ListResult, TableResult, TaskResult, plain
from tests.dataview.vault_source import VaultSource

NOW = datetime(2024, 3, 15, 10, 30, tzinfo=UTC)


def engine(**notes: str) -> Engine:
    """An engine over notes named by their keys, `__` for a slash."""
    return Engine(VaultSource({f"{name.replace('__', '/')}.md": text for name, text in notes.items()}), NOW)


def value(expression: str, **variables: object) -> object:
    """What an expression is worth in an empty vault, as plain JSON."""
    return plain(Engine(VaultSource({}), NOW).evaluate(expression, variables=variables))


def listed(engine: Engine, query: str, origin: str = "") -> list[object]:
    """The values of a LIST."""
    result = engine.run(query, origin)
    assert isinstance(result, ListResult)
    return [plain(element) for element in result.values]


def table(engine: Engine, query: str, origin: str = "") -> list[list[object]]:
    """The rows of a TABLE, its headers first."""
    result = engine.run(query, origin)
    assert isinstance(result, TableResult)
    return [[*result.headers], *([plain(cell) for cell in row] for row in result.rows)]


def task_texts(engine: Engine, query: str) -> list[object]:
    """The texts of a TASK without groups."""
    result = engine.run(query)
    assert isinstance(result, TaskResult)
    return [task["text"] for task in result.tasks if isinstance(task, dict)]
