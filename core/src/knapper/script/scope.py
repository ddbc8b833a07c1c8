"""Scope: the names a script can see, the budget it spends, and the clock it reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from knapper.script.budget import Budget
from knapper.script.errors import ScriptFailed
from knapper.script.values import Value
from knapper.vault.moment_locale import Week


class Clock(NamedTuple):
    """What `moment()` is for a script, and how its weeks are counted where that is not the locale's way."""

    now: datetime
    week: Week | None = None


class Scope:
    """Names in nested blocks; the outermost holds what the host hands in."""

    __slots__ = ("_fixed", "_names", "_outer", "budget", "clock")

    def __init__(
        self, names: Mapping[str, Value], budget: Budget, clock: Clock, outer: Scope | None = None
    ) -> None:
        self._names = dict(names)
        self._fixed: set[str] = set()
        self._outer = outer
        self.budget = budget
        self.clock = clock

    def inner(self, names: Mapping[str, Value]) -> Scope:
        """A block within this one."""
        return Scope(names, self.budget, self.clock, self)

    def declare(self, name: str, value: Value, fixed: bool = False) -> None:
        """Name a value in this block, once; a fixed one is not assigned to later."""
        if name in self._names:
            raise ScriptFailed(f"Identifier '{name}' has already been declared")
        self._names[name] = value
        if fixed:
            self._fixed.add(name)

    def look_up(self, name: str) -> Value:
        """The value of a name, or ScriptFailed with JavaScript's words."""
        return self._holder(name)._names[name]

    def assign(self, name: str, value: Value) -> None:
        """Give another value to a name that is there."""
        holder = self._holder(name)
        if name in holder._fixed:
            raise ScriptFailed("Assignment to constant variable.")
        holder._names[name] = value

    def _holder(self, name: str) -> Scope:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._names:
                return scope
            scope = scope._outer
        raise ScriptFailed(f"{name} is not defined")
