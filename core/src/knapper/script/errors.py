"""What can go wrong in a script, each with the reason and where it stands.

ScriptError
├── ScriptRefused    JavaScript outside the subset that is evaluated
├── ScriptFailed     the script was understood, but failed on its values
└── BudgetExceeded   the script asked for more work than it may have
"""

from __future__ import annotations


class ScriptError(ValueError):
    """A text that is not understood: `reason`, the `line` it is about and its `number` (from 1)."""

    def __init__(self, reason: str, line: str = "", number: int | None = None) -> None:
        super().__init__(reason, line, number)
        self.reason = reason
        self.line = line
        self.number = number

    def __str__(self) -> str:
        return f'{self.reason}\nProblem line: "{self.line}"' if self.line else self.reason

    def at(self, line: str, number: int | None) -> ScriptError:
        """Name the place, unless a deeper one is named already."""
        self.line = self.line or line
        self.number = self.number or number
        return self


class ScriptRefused(ScriptError):
    """JavaScript that is not evaluated here; `construct` names what was met."""

    def __init__(self, construct: str, line: str = "", number: int | None = None) -> None:
        super().__init__(f"JavaScript is not supported here: {construct}", line, number)
        self.construct = construct


class ScriptFailed(ScriptError):
    """A script that fails on the values it meets, as it would in Obsidian."""


class BudgetExceeded(ScriptError):
    """A script that was stopped because it took too much work."""
