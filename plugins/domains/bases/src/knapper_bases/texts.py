"""The text of a .base file read, made and changed; what is wrong with one becomes an error for the caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from knapper import ToolError
from knapper_bases import engine
from knapper_bases.engine import Base, BasesSyntaxError


def read(text: str, path: str) -> Base:
    with faults(path):
        return engine.read(text)


def created(base: dict[str, Any], path: str) -> str:
    with faults(path):
        return engine.create(base)


def updated(text: str, patch: dict[str, Any], path: str) -> str:
    with faults(path):
        return engine.update(text, patch)


@contextmanager
def faults(path: str) -> Iterator[None]:
    """What is wrong with a base, place by place."""
    try:
        yield
    except BasesSyntaxError as error:
        issues = [{"field": issue.place, "message": issue.message} for issue in error.issues]
        raise ToolError("bases_syntax_error", str(error), path=path, issues=issues) from None
