"""Inputs: what QuickAdd would ask a person, answered from what the caller gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from knapper import ToolError

MOST_QUESTIONS = 50


class Inputs:
    """The caller's values by name, whatever their case; and what was asked for and is not among them."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        self.all = dict(args)
        self._folded = {name.casefold(): value for name, value in args.items()}
        self.missing: list[dict[str, Any]] = []

    def given(self, *names: str) -> Any:
        """The value under the first of these names that has one, None where there is none."""
        for name in names:
            value = self.all.get(name, self._folded.get(name.casefold()))
            if value is not None:
                return value
        return None

    def text(self, *names: str) -> str | None:
        """The same as a text."""
        value = self.given(*names)
        return None if value is None else as_text(value)

    def need(
        self, name: str, about: str, options: Sequence[str] | None = None, placeholder: str = "x"
    ) -> str:
        """Note that a value is missing, and go on with a stand-in to learn what else is."""
        question: dict[str, Any] = {"name": name, "about": about}
        if options is not None:
            question["options"] = list(options)[:100]
        if question not in self.missing:
            self.missing.append(question)
        if len(self.missing) >= MOST_QUESTIONS:
            self.check()
        return placeholder

    def check(self) -> None:
        """Raise what lists everything that is missing."""
        if self.missing:
            named = ", ".join(repr(question["name"]) for question in self.missing)
            message = f"the choice asks for {named}: give them in args"
            raise ToolError("invalid_input", message[:1500], field="args", required=self.missing)


def as_text(value: Any) -> str:
    """A value of JSON as QuickAdd writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(as_text(one) for one in value)
    return value if isinstance(value, str) else str(value)


def one_of(answer: str, options: Sequence[str], name: str) -> str:
    """The answer, where it is one of the options."""
    if answer not in options:
        message = f"{answer[:100]!r} is not one of the options of {name[:100]!r}"
        raise ToolError("invalid_input", message, field="args", options=list(options)[:100])
    return answer
