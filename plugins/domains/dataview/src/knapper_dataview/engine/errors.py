"""What can go wrong with a query, told apart by what a caller can do about it.

DqlError
├── DqlSyntaxError     the text is not DQL: where, and what was expected there
├── DqlUnsupported     the text is a language this engine does not run (DataviewJS)
├── EvaluationError    an expression has no value for this row; a query drops the row
├── QueryFailed        the query as a whole has no answer
└── BudgetExceeded     the query asked for more work or time than it was given
"""

from __future__ import annotations


class DqlError(Exception):
    """Any failure of parsing or running a query."""


class DqlSyntaxError(DqlError):
    """The text does not parse; `line` and `column` count from 1."""

    def __init__(self, text: str, offset: int, expected: tuple[str, ...], reason: str = "") -> None:
        self.offset = offset
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        self.expected = expected
        found = (
            repr(text[offset : offset + 20].split("\n", 1)[0])
            if offset < len(text)
            else "the end of the text"
        )
        self.problem = reason or f"expected {_either(expected)}, found {found}"
        super().__init__(f"line {self.line}, column {self.column}: {self.problem}")


class DqlUnsupported(DqlError):
    """The text needs JavaScript, which only a running Obsidian can execute."""


class EvaluationError(DqlError):
    """An expression could not be evaluated for one row."""


class QueryFailed(DqlError):
    """A step of the query failed for every row, or cannot run at all."""


class BudgetExceeded(DqlError):
    """The query was stopped: it used up its operations, its time or its memory."""


def _either(options: tuple[str, ...]) -> str:
    if len(options) < 2:
        return options[0] if options else "something else"
    return ", ".join(options[:-1]) + " or " + options[-1]
