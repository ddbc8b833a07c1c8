"""Placeholders: {{query.file.…}} and {{preset.…}} in instructions."""

import re
from datetime import date

from knapper.script.budget import Budget
from knapper_tasks.engine.errors import QueryError, ScriptRefused
from knapper_tasks.engine.settings import Settings

from .context import QueryFile, Search

# A placeholder may expand to text with placeholders, so many times.
_ROUNDS = 10
_LONGEST = 100_000
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_SIMPLE = re.compile(
    r"\s*(?:query\.file\.\w+|preset\.\w+|query\.file\.(?:property|hasProperty)\(\s*(?:'[^']*'|\"[^\"]*\")\s*\))\s*"
)


def expand(text: str, file: QueryFile | None, settings: Settings, today: date, functions: bool) -> str:
    """The text with its placeholders filled in."""
    for _ in range(_ROUNDS):
        if "{{" not in text or not _PLACEHOLDER.search(text):
            break
        if file is None:
            raise QueryError(
                'The query looks like it contains a placeholder, with "{{" and "}}"\n'
                "but no file path has been supplied, so cannot expand placeholder values.\n"
                f"The query is:\n{text}"
            )
        text = _filled(text, Search(settings, today, file=file, budget=Budget(100_000, 1.0)), functions)
        if len(text) > _LONGEST:
            raise QueryError("the placeholders expand to too much text")
    return text


def _filled(text: str, search: Search, functions: bool) -> str:
    return _PLACEHOLDER.sub(lambda found: _value(found[1], search, functions), text)


def _value(expression: str, search: Search, functions: bool) -> str:
    if not functions and not _SIMPLE.fullmatch(expression):
        raise ScriptRefused(f"the placeholder {{{{{expression}}}}}")
    # Most queries hold no placeholder, and none of them needs the interpreter.
    from knapper.script.compile import compile_script
    from knapper.script.values import UNDEFINED, Host, to_text
    from knapper_tasks.engine.objects import PresetsObject, QueryObject

    names = {"query": QueryObject(search), "preset": PresetsObject(search)}
    try:
        value = compile_script(expression).run(names, search.budget, search.clock)
    except ScriptRefused:
        raise
    except QueryError as error:
        raise _problem(error.reason, expression) from None
    if value is UNDEFINED or isinstance(value, Host):
        raise _problem(f"Unknown property: {expression.strip()}", expression)
    return to_text(value)


def _problem(reason: str, expression: str) -> QueryError:
    return QueryError(
        "There was an error expanding one or more placeholders.\n\n"
        f"The error message was:\n    {reason}\n\nThe problem is in:\n    {{{{{expression}}}}}"
    )
