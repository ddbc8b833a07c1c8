"""What can go wrong in a query, each with the instruction and the reason.

QueryError
├── ScriptRefused    JavaScript outside the subset that is evaluated
├── SearchFailed     the query was understood, but an expression failed on a task
└── BudgetExceeded   the query asked for more work than it may have
"""


class QueryError(ValueError):
    """A query that is not understood: `reason`, the `line` it is about and its `number` (from 1)."""

    def __init__(self, reason: str, line: str = "", number: int | None = None) -> None:
        super().__init__(reason, line, number)
        self.reason = reason
        self.line = line
        self.number = number

    def __str__(self) -> str:
        return f'{self.reason}\nProblem line: "{self.line}"' if self.line else self.reason

    def at(self, line: str, number: int | None) -> "QueryError":
        """Name the instruction, unless a deeper one is named already."""
        self.line = self.line or line
        self.number = self.number or number
        return self


class ScriptRefused(QueryError):
    """JavaScript that is not evaluated here; `construct` names what was met."""

    def __init__(self, construct: str, line: str = "", number: int | None = None) -> None:
        super().__init__(f"JavaScript is not supported here: {construct}", line, number)
        self.construct = construct


class SearchFailed(QueryError):
    """An expression that fails on some task, as the plugin's 'Search failed' errors."""


class BudgetExceeded(QueryError):
    """A query that was stopped because it took too much work."""
