"""Scope: the names a script can see, and the budget it spends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from knapper_tasks.engine.budget import Budget
from knapper_tasks.engine.errors import SearchFailed

from .values import Value


class Scope:
    """Names in nested blocks; the outermost holds what the host hands in."""

    __slots__ = ("_names", "_outer", "budget", "today")

    def __init__(
        self, names: Mapping[str, Value], budget: Budget, today: date, outer: Scope | None = None
    ) -> None:
        self._names = dict(names)
        self._outer = outer
        self.budget = budget
        self.today = today

    def inner(self, names: Mapping[str, Value]) -> Scope:
        """A block within this one."""
        return Scope(names, self.budget, self.today, self)

    def declare(self, name: str, value: Value) -> None:
        """Name a value in this block, once."""
        if name in self._names:
            raise SearchFailed(f"Identifier '{name}' has already been declared")
        self._names[name] = value

    def look_up(self, name: str) -> Value:
        """The value of a name, or SearchFailed with JavaScript's words."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._names:
                return scope._names[name]
            scope = scope._outer
        raise SearchFailed(f"{name} is not defined")
