"""What can go wrong in a base.

BasesError               an expression that cannot be read or evaluated
├── UnreadableExpression the text is not in the language
├── UnknownFunction      the text calls a function that this engine does not have
└── BudgetExceeded       it costs more than the caller allowed
BasesSyntaxError         a .base file whose YAML or shape is wrong
"""

from typing import NamedTuple


class BasesError(Exception):
    """An expression failed: what happened, in which expression, and at which character of it."""

    def __init__(self, message: str, expression: str = "", position: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.expression = expression
        self.position = position

    def within(self, expression: str, position: int | None = None) -> "BasesError":
        """Name the expression and place, unless a place nearer to the fault is known already."""
        if not self.expression:
            self.expression = expression
        if self.position is None:
            self.position = position
        return self

    def __str__(self) -> str:
        if not self.expression:
            return self.message
        place = "" if self.position is None else f" at character {self.position}"
        return f"{self.message} (in {self.expression!r}{place})"


class UnreadableExpression(BasesError):
    """The text is not an expression of the Bases language."""


class UnknownFunction(BasesError):
    """The expression calls a function that no version known here has."""

    def __init__(self, name: str) -> None:
        super().__init__(f'Cannot find function "{name}"')


class BudgetExceeded(BasesError):
    """The evaluation cost more than its budget allows."""


class Issue(NamedTuple):
    """One fault of a .base file: where it is, such as `views[0].filters`, and what it is."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class BasesSyntaxError(Exception):
    """A .base file that is no YAML, or not of the shape of a base."""

    def __init__(self, issues: list[Issue]) -> None:
        super().__init__("; ".join(map(str, issues)))
        self.issues = issues
