"""System: `tp.system`, whose questions are answered from what the caller gave instead of by a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knapper import ToolError
from knapper.script.errors import ScriptFailed
from knapper.script.scope import Scope
from knapper.script.texts import argument
from knapper.script.values import Value, from_data, nullish, to_text
from knapper_templater.modules import Module, flag, text_or

IN_ORDER = "answers"
CLIPBOARD = "clipboard"
# A template that asks more often than this has lost its way without answers.
MOST_QUESTIONS = 50
_NONE = object()


class Answers:
    """What the caller answers: by the text of a question, and the others one after the other; and what is still asked."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        queue = args.get(IN_ORDER, [])
        if not isinstance(queue, list):
            raise ToolError("invalid_input", f"args.{IN_ORDER} is a list", field="args")
        self._queue = list(queue)
        self._named = {key: value for key, value in args.items() if key != IN_ORDER}
        self.missing: list[dict[str, Any]] = []

    def take(self, question: dict[str, Any], *, in_order: bool = True) -> Any:
        """The answer, or a mark that there is none, which is noted."""
        name = question.get("prompt")
        if name in self._named:
            return self._named[name]
        if in_order and self._queue:
            return self._queue.pop(0)
        self._note(question)
        return _NONE

    def _note(self, question: dict[str, Any]) -> None:
        if question not in self.missing:
            self.missing.append(question)
        if len(self.missing) >= MOST_QUESTIONS:
            raise self.required()

    def required(self) -> ToolError:
        """The error that lists every question nobody has answered."""
        names = ", ".join(repr(question.get("prompt") or question["type"]) for question in self.missing)
        message = f"the template asks for {names}: give args with the texts of the questions as names, or answers in order"
        return ToolError("invalid_input", message[:1500], field="args", required=self.missing)


class System(Module):
    """`tp.system`."""

    name = "tp.system"

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        functions = {
            "clipboard": self._clipboard,
            "prompt": self._prompt,
            "suggester": self._suggester,
            "multi_suggester": self._multi_suggester,
        }
        super().__init__({}, functions)

    def _clipboard(self, arguments: list[Value], scope: Scope) -> Value:
        answer = self._answers.take({"type": "clipboard", "prompt": CLIPBOARD}, in_order=False)
        return "" if answer is _NONE else to_text(from_data(answer))

    def _prompt(self, arguments: list[Value], scope: Scope) -> Value:
        default = argument(arguments, 1)
        question = {"type": "prompt", "prompt": text_or(arguments, 0, "")}
        if not nullish(default):
            question["default"] = to_text(default)
        answer = self._answers.take(question)
        if answer is _NONE:
            return question.get("default", "")
        if answer is None:
            return _cancelled(flag(arguments, 2))
        return to_text(from_data(answer))

    def _suggester(self, arguments: list[Value], scope: Scope) -> Value:
        choices = Choices(arguments)
        answer = self._answers.take(choices.question("suggester"))
        if answer is _NONE:
            return choices.items[0] if choices.items else None
        return _cancelled(flag(arguments, 2)) if answer is None else choices.pick(answer)

    def _multi_suggester(self, arguments: list[Value], scope: Scope) -> Value:
        choices = Choices(arguments)
        answer = self._answers.take(choices.question("multi_suggester"))
        if answer is _NONE:
            return []
        if answer is None:
            return _cancelled(flag(arguments, 2))
        return [choices.pick(one) for one in (answer if isinstance(answer, list) else [answer])]


class Choices:
    """What a suggester offers: labels for people, and an item behind each."""

    def __init__(self, arguments: list[Value]) -> None:
        shown, items = argument(arguments, 0), argument(arguments, 1)
        if not isinstance(items, list):
            raise ScriptFailed("a suggester needs an array of items")
        self.items = items
        self.labels = [to_text(label) for label in _labels(shown, items)]
        self.placeholder = text_or(arguments, 3, "")

    def question(self, type: str) -> dict[str, Any]:
        """What a caller is told of it."""
        question: dict[str, Any] = {"type": type, "options": self.labels[:100]}
        return {**question, "prompt": self.placeholder} if self.placeholder else question

    def pick(self, answer: Any) -> Value:
        """The item that an answer names by its label or by itself."""
        wanted = to_text(from_data(answer))
        for texts in (self.labels, [to_text(item) for item in self.items]):
            if wanted in texts:
                return self.items[texts.index(wanted)]
        message = f"{wanted[:100]!r} is not one of the options"
        raise ToolError("invalid_input", message, field="args", options=self.labels[:100])


def _labels(shown: Value, items: list[Value]) -> list[Value]:
    labels = [shown([item]) for item in items] if callable(shown) else shown
    if not isinstance(labels, list) or len(labels) != len(items):
        raise ScriptFailed("a suggester needs as many labels as items")
    return labels


def _cancelled(throws: bool) -> None:
    if throws:
        raise ScriptFailed("Cancelled prompt")
