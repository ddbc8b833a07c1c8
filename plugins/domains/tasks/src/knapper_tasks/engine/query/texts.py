"""Texts: filters that look into a text field, or into each of a task's tags."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from knapper_tasks.engine.errors import QueryError
from knapper_tasks.engine.settings import Settings
from knapper_tasks.row import TaskRow

from .context import Search
from .facts import NOTHING, Facts
from .fields import Getter, text_fields
from .model import Explanation, Filter, Predicate, plain

if TYPE_CHECKING:
    from knapper.script.regexes import JsRegex

_OPERATORS = "includes|does not include|regex matches|regex does not match"
_TAG_OPERATORS = f"{_OPERATORS}|include|do not include"
_NAMES = ["status.name", "path", "folder", "root", "description", "heading", "filename", "recurrence", "id"]
_PATTERNS = {
    name: re.compile(rf"{re.escape(name)} ({_OPERATORS}) (.*)", re.IGNORECASE | re.DOTALL) for name in _NAMES
}
_TAGS = re.compile(rf"tags? ({_TAG_OPERATORS}) (.*)", re.IGNORECASE | re.DOTALL)
_IN_PATH = frozenset({"path", "folder", "root", "filename"})

REGEX_HELP = """See https://publish.obsidian.md/tasks/Queries/Regular+Expressions

Regular expressions must look like this:
    /pattern/
or this:
    /pattern/flags"""


def text_filter(name: str, line: str, settings: Settings) -> Filter | None:
    """A filter on a text field, or None where the line is about something else."""
    found = _PATTERNS[name].match(line)
    if found is None:
        return None
    operator, value = found[1].lower(), found[2]
    getter, negative = text_fields(settings)[name], "not" in operator
    if "include" in operator:
        return plain(
            line, _holds(value.lower(), getter, negative), NOTHING if negative else _facts(name, value)
        )
    return _regex_filter(line, value, lambda row: (getter(row),), negative)


def tags_filter(line: str) -> Filter | None:
    """A filter on tags: some tag matches, or none does."""
    found = _TAGS.match(line)
    if found is None:
        return None
    operator, value = found[1].lower(), found[2]
    negative = "not" in operator
    facts = NOTHING if negative else Facts(tagged=True)
    if "include" in operator:
        return plain(line, _tag_holds(value.lower(), negative), facts)
    return _regex_filter(line, value, lambda row: row.tags, negative, facts)


def _holds(needle: str, getter: Getter, negative: bool) -> Predicate:
    if negative:
        return lambda row: needle not in getter(row).lower()
    return lambda row: needle in getter(row).lower()


def _tag_holds(needle: str, negative: bool) -> Predicate:
    return lambda row: any(needle in tag.lower() for tag in row.tags) != negative


def _regex_filter(
    line: str, value: str, texts: Callable[[TaskRow], tuple[str, ...]], negative: bool, facts: Facts = NOTHING
) -> Filter:
    regex = _regex(line, value)

    def bind(search: Search) -> Predicate:
        def test(row: TaskRow) -> bool:
            # One search may take a while, so the clock is looked at before each.
            search.budget.look()
            return any(map(regex.found_in, texts(row))) != negative

        return test

    return Filter(line, bind, _explained(line, regex), facts)


def _regex(line: str, value: str) -> JsRegex:
    from knapper.script.regexes import literal_regex

    try:
        regex = literal_regex(value)
    except QueryError as error:
        raise QueryError(f"Error: Parsing regular expression.\n{error.reason}\n\n{REGEX_HELP}") from None
    if regex is None:
        raise QueryError(f"Invalid instruction: '{line}'\n\n{REGEX_HELP}")
    return regex


def _explained(line: str, regex: JsRegex) -> Explanation:
    named = {0: "no flags", 1: f"flag '{regex.flags}'"}.get(len(regex.flags), f"flags '{regex.flags}'")
    # Under the regular expression of the instruction, two columns being the explanation's indent.
    intro = "using regex: ".ljust(line.index("/") - 2)
    return Explanation(f"{intro}'{regex.source}' with {named}")


def _facts(name: str, value: str) -> Facts:
    # `/` alone is also the folder and the root of notes whose path has no slash.
    if name not in _IN_PATH or not value.isascii() or not value.strip("/"):
        return NOTHING
    return Facts(path_parts=frozenset({value.lower()}))
