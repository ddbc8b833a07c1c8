"""Scripted: filters, sorters and groupers whose values JavaScript expressions give."""

import math
from functools import cmp_to_key
from typing import Any

from knapper.script import collate
from knapper.script.compile import Script, compile_script
from knapper.script.moments import JsMoment
from knapper.script.values import UNDEFINED, Host, Value, to_number, to_text, type_name
from knapper_tasks.engine.errors import QueryError, ScriptRefused, SearchFailed
from knapper_tasks.engine.objects import QueryObject, TaskDate, TaskObject
from knapper_tasks.row import TaskRow

from .context import Search
from .facts import Facts
from .model import Explanation, Filter, Grouper, Predicate, Sorter


def filter_of(line: str, source: str, functions: bool) -> Filter:
    """A filter whose expression must give true or false."""
    script = _compiled(source, functions)

    def bind(search: Search) -> Predicate:
        query = QueryObject(search)
        return lambda row: _boolean(_value(script, row, query), line)

    return Filter(
        line, bind, Explanation(line), Facts(every_task="allTasks" in source or "isBlock" in source)
    )


def sorter_of(line: str, source: str, reverse: bool, functions: bool) -> Sorter:
    """A sorter whose expression gives each task's sort key."""
    script = _compiled(source, functions)

    def bind(search: Search) -> Any:
        query = QueryObject(search)
        key = cmp_to_key(_compare)
        return lambda row: key(_sort_key(_value(script, row, query), line))

    return Sorter(line, bind, reverse)


def grouper_of(line: str, source: str, reverse: bool, functions: bool) -> Grouper:
    """A grouper whose expression names the groups of each task."""
    script = _compiled(source, functions)

    def bind(search: Search) -> Any:
        query = QueryObject(search)
        return lambda row: _names(script, row, query)

    return Grouper(line, bind, reverse)


def _compiled(source: str, functions: bool) -> Script:
    if not functions:
        raise ScriptRefused("by function (evaluation of JavaScript is switched off)")
    try:
        return compile_script(source)
    except ScriptRefused:
        raise
    except QueryError as error:
        error.reason = (
            f'Error: Failed parsing expression "{source}".\nThe error message was:\n    "{error.reason}"'
        )
        raise


def _value(script: Script, row: TaskRow, query: QueryObject) -> Value:
    names = {"task": TaskObject(row, query.search), "query": query}
    return script.run(names, query.search.budget, query.search.clock)


def _boolean(value: Value, line: str) -> bool:
    if isinstance(value, bool):
        return value
    raise SearchFailed(
        f'filtering function must return true or false. This returned "{to_text(value)}".', line
    )


def _names(script: Script, row: TaskRow, query: QueryObject) -> tuple[str, ...]:
    try:
        value = _value(script, row, query)
        if value is None:
            return ()
        return tuple(map(_name, value)) if isinstance(value, list) else (_name(value),)
    except SearchFailed as error:
        # The plugin shows a failure as the name of a group, so that the other tasks are still found.
        return (
            f'Error: Failed calculating expression "{script.source}". The error message was: {error.reason}',
        )


def _name(value: Value) -> str:
    if value is None or value is UNDEFINED:
        raise SearchFailed(f"Cannot read properties of {to_text(value)} (reading 'toString')")
    return to_text(value)


def _sort_key(value: Value, line: str) -> Value:
    named = None
    if value is UNDEFINED:
        named = "undefined"
    elif isinstance(value, float) and math.isnan(value):
        named = "NaN (Not a Number)"
    elif isinstance(value, list):
        named = "array"
    if named is not None:
        raise SearchFailed(
            f"\"{named}\" is not a valid sort key: while evaluating instruction '{line}'", line
        )
    return value


def _compare(left: Value, right: Value) -> int:
    if isinstance(left, JsMoment) or isinstance(right, JsMoment):
        return _ordered(_moment_key(left), _moment_key(right))
    if left is None or right is None:
        return _ordered(left is not None, right is not None)
    if _kind(left) != _kind(right):
        raise SearchFailed(
            f"Unable to compare two different sort key types '{_kind(left)}' and '{_kind(right)}' order"
        )
    if isinstance(left, str):
        return _ordered(collate.key(left), collate.key(right))
    if isinstance(left, TaskDate):
        return _ordered(_moment_key(left.moment()), _moment_key(right.moment()))
    if isinstance(left, bool):
        return _ordered(right, left)
    return _ordered(_number(left), _number(right))


def _number(value: Value) -> float:
    number = float(to_number(value))
    if math.isnan(number):
        raise SearchFailed(f"Unable to determine sort order for sort key types '{_kind(value)}'")
    return number


def _moment_key(value: Value) -> tuple[int, float]:
    """Invalid moments first, then in order, then those that are missing."""
    if not isinstance(value, JsMoment):
        return (2, 0)
    return (0, 0) if value.when is None else (1, value.number())


def _ordered(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _kind(value: Value) -> str:
    return value.kind if isinstance(value, Host) else type_name(value)
