"""Model: the parts of a parsed query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from knapper_tasks.engine.errors import BudgetExceeded, QueryError
from knapper_tasks.row import TaskRow

from .context import Search
from .facts import NOTHING, Facts

Predicate = Callable[[TaskRow], bool]


@dataclass(frozen=True)
class Explanation:
    """How an instruction was understood; `symbol` is the operator that joins its parts."""

    text: str
    parts: tuple[Explanation, ...] = ()
    symbol: str = ""

    def written(self, indent: str = "") -> str:
        """The explanation, each level of parts further to the right."""
        if self.symbol:
            title = f"{self.symbol} ({self.text}):" if len(self.parts) > 1 else f"{self.symbol}:"
        else:
            title = self.text
        return "\n".join([indent + title, *(part.written(indent + "  ") for part in self.parts)])


@dataclass(frozen=True)
class Filter:
    """One condition: `bind` makes its test for a search."""

    text: str
    bind: Callable[[Search], Predicate]
    explanation: Explanation
    facts: Facts = NOTHING
    number: int | None = None

    def explained(self) -> Explanation:
        """The condition, followed by how it was understood where that says more."""
        if self.explanation.written() == self.text:
            return self.explanation
        return Explanation(f"{self.text} =>", (self.explanation,))


def plain(
    text: str, test: Predicate, facts: Facts = NOTHING, explanation: Explanation | None = None
) -> Filter:
    """A filter that looks at nothing but the task."""
    return Filter(text, lambda search: test, explanation or Explanation(text), facts)


@dataclass(frozen=True)
class Sorter:
    """One `sort by`: `bind` makes the function that gives each task's sort key."""

    text: str
    bind: Callable[[Search], Callable[[TaskRow], Any]]
    reverse: bool = False
    number: int | None = None


@dataclass(frozen=True)
class Grouper:
    """One `group by`: `bind` makes the function that names the groups of a task."""

    text: str
    bind: Callable[[Search], Callable[[TaskRow], tuple[str, ...]]]
    reverse: bool = False
    number: int | None = None


@contextmanager
def naming(instruction: Filter | Sorter | Grouper) -> Iterator[None]:
    """Let errors within name the instruction they arise from."""
    try:
        yield
    except QueryError as error:
        raise error.at(instruction.text, instruction.number) from None
    except RecursionError:
        reason = "the instruction is nested too deeply"
        raise BudgetExceeded(reason, instruction.text, instruction.number) from None


@dataclass
class Layout:
    """How the plugin would show the results: kept, because others may show them too."""

    shown: dict[str, bool] = field(default_factory=dict)
    short_mode: bool = False
    explain: bool = False
    view: str = "list"
