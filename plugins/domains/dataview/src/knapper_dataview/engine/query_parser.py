"""Sources and whole queries."""

from __future__ import annotations

from collections.abc import Callable

import regex

from knapper_dataview.engine.cursor import Cursor
from knapper_dataview.engine.errors import DqlSyntaxError, DqlUnsupported
from knapper_dataview.engine.expression_parser import expression, identifier, link, separated, string
from knapper_dataview.engine.syntax import (
    BinarySource,
    CalendarHeader,
    CsvSource,
    Expression,
    Flatten,
    FolderSource,
    GroupBy,
    Header,
    LateFrom,
    Limit,
    LinkSource,
    ListHeader,
    Named,
    NegatedSource,
    Operation,
    Query,
    Sort,
    SortKey,
    SourceNode,
    TableHeader,
    TagSource,
    TaskHeader,
    Where,
)

TAG = r"#[^\u2000-\u206F\u2E00-\u2E7F'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]*"

_TAG = regex.compile(TAG)
_CSV = regex.compile(r"csv\(\s*")
_OUTGOING = regex.compile(r"outgoing\(\s*")
_EITHER = regex.compile(r"\s*(and|or|&|\|)\s*", regex.IGNORECASE)
_TYPE = regex.compile(r"TABLE|LIST|TASK|CALENDAR", regex.IGNORECASE)
_WITHOUT_ID = regex.compile(r"WITHOUT\s+ID\s*", regex.IGNORECASE)
_AS = regex.compile(r"\s+AS\s+", regex.IGNORECASE)
_DIRECTION = regex.compile(r"ASCENDING|DESCENDING|ASC|DESC", regex.IGNORECASE)
_BETWEEN = regex.compile(r"(?:\s+|//[^\n]*)*")
_JAVASCRIPT = regex.compile(r"\s*(?:```+\s*dataviewjs|\$=|dv\.)")


def parse_query(text: str) -> Query:
    """Parse a query, or say where it stops being one."""
    refuse_javascript(text)
    cursor = Cursor(text)
    try:
        query = _query(cursor)
    except RecursionError:
        raise cursor.error("the query is nested too deeply") from None
    if query is None or not cursor.at_end():
        raise _unfinished(cursor, query is not None)
    return query


def parse_expression(text: str) -> Expression:
    """Parse a single expression, such as an inline query has."""
    refuse_javascript(text)
    cursor = Cursor(text)
    try:
        found = expression(cursor)
    except RecursionError:
        raise cursor.error("the expression is nested too deeply") from None
    if found is None or not cursor.at_end():
        raise _unfinished(cursor, found is not None)
    return found


def _unfinished(cursor: Cursor, complete: bool) -> DqlSyntaxError:
    if complete:
        cursor.missing("the end")
    return cursor.error()


def refuse_javascript(text: str) -> None:
    """DataviewJS is a program, not a query."""
    if _JAVASCRIPT.match(text):
        raise DqlUnsupported("DataviewJS (dataviewjs blocks and $= inline scripts) runs only inside Obsidian")


def validate(text: str) -> DqlSyntaxError | DqlUnsupported | None:
    """What is wrong with a query's text, or None."""
    try:
        parse_query(text)
    except (DqlSyntaxError, DqlUnsupported) as problem:
        return problem
    return None


def _query(cursor: Cursor) -> Query | None:
    _skip(cursor)
    header = _header(cursor)
    if header is None:
        return None
    _skip(cursor)
    source = _from(cursor)
    operations: list[Operation] = []
    _skip(cursor)
    while (operation := _operation(cursor)) is not None:
        operations.append(operation)
        _skip(cursor)
    return Query(header, source or FolderSource(""), tuple(operations))


def _skip(cursor: Cursor) -> None:
    found = _BETWEEN.match(cursor.text, cursor.at)
    if found:
        cursor.at = found.end()


def _header(cursor: Cursor) -> Header | None:
    found = cursor.take(_TYPE, "TABLE, LIST, TASK or CALENDAR")
    kind = found[0].upper() if found else ""
    if kind == "TASK":
        return TaskHeader()
    if kind in ("TABLE", "LIST") and cursor.at_end():
        return TableHeader() if kind == "TABLE" else ListHeader()
    if not kind or not cursor.spaces():
        return None
    if kind == "CALENDAR":
        field = _named(cursor)
        return CalendarHeader(field) if field else None
    show_id = cursor.take(_WITHOUT_ID, "WITHOUT ID") is None
    if kind == "LIST":
        return ListHeader(expression(cursor), show_id)
    return TableHeader(tuple(separated(cursor, _named)), show_id)


def _named(cursor: Cursor) -> Named | None:
    start = cursor.at
    found = expression(cursor)
    if found is None:
        return None
    end = cursor.at
    if cursor.take(_AS, "AS"):
        name = identifier(cursor)
        if name is None:
            name = string(cursor)
        if name is not None:
            return Named(name, found)
        cursor.at = end
    lines = regex.split(r"[\r\n]+", cursor.text[start:end])
    return Named("".join(line.strip() for line in lines), found)


def _keyword(cursor: Cursor, word: str) -> bool:
    start = cursor.at
    if cursor.text[start : start + len(word)].upper() == word:
        cursor.at += len(word)
        if cursor.spaces():
            return True
        cursor.at = start
    else:
        cursor.missing(word)
    return False


def _from(cursor: Cursor) -> SourceNode | None:
    start = cursor.at
    if _keyword(cursor, "FROM") and (found := source(cursor)) is not None:
        return found
    cursor.at = start
    return None


def _operation(cursor: Cursor) -> Operation | None:
    late = _from(cursor)
    if late is not None:
        return LateFrom(late)
    start = cursor.at
    for word, clause in _CLAUSES.items():
        if _keyword(cursor, word):
            operation = clause(cursor)
            if operation is not None:
                return operation
            cursor.at = start
    return None


def _where(cursor: Cursor) -> Operation | None:
    found = expression(cursor)
    return Where(found) if found else None


def _limit(cursor: Cursor) -> Operation | None:
    found = expression(cursor)
    return Limit(found) if found else None


def _group(cursor: Cursor) -> Operation | None:
    found = _named(cursor)
    return GroupBy(found) if found else None


def _flatten(cursor: Cursor) -> Operation | None:
    found = _named(cursor)
    return Flatten(found) if found else None


def _sort(cursor: Cursor) -> Operation | None:
    keys = separated(cursor, _sort_key)
    return Sort(tuple(keys)) if keys else None


def _sort_key(cursor: Cursor) -> SortKey | None:
    found = expression(cursor)
    if found is None:
        return None
    cursor.space()
    direction = cursor.take(_DIRECTION, "ASC or DESC")
    return SortKey(found, direction is not None and direction[0].upper().startswith("D"))


_CLAUSES: dict[str, Callable[[Cursor], Operation | None]] = {
    "WHERE": _where,
    "SORT": _sort,
    "LIMIT": _limit,
    "GROUP BY": _group,
    "FLATTEN": _flatten,
}


def source(cursor: Cursor) -> SourceNode | None:
    """What FROM names, joined by and/or from the left."""
    left = _source_atom(cursor)
    while left is not None:
        start = cursor.at
        joint = cursor.take(_EITHER, "and/or")
        if joint is None:
            return left
        right = _source_atom(cursor)
        if right is None:
            cursor.at = start
            return left
        left = BinarySource(left, "&" if joint[1].lower() in ("and", "&") else "|", right)
    return None


def _source_atom(cursor: Cursor) -> SourceNode | None:
    start = cursor.at
    for parser in (_source_group, _source_negated, _outgoing, _incoming, _folder, _tag, _csv):
        found = parser(cursor)
        if found is not None:
            return found
        cursor.at = start
    return None


def _source_group(cursor: Cursor) -> SourceNode | None:
    if not cursor.sign("("):
        return None
    cursor.space()
    inner = source(cursor)
    cursor.space()
    return inner if inner is not None and cursor.sign(")") else None


def _source_negated(cursor: Cursor) -> SourceNode | None:
    if cursor.sign("-") or cursor.sign("!"):
        child = _source_atom(cursor)
        return NegatedSource(child) if child is not None else None
    return None


def _outgoing(cursor: Cursor) -> SourceNode | None:
    if cursor.take(_OUTGOING, "outgoing([[link]])"):
        target = link(cursor, embeddable=False)
        if target is not None and cursor.sign(")"):
            return LinkSource(target.path, "outgoing")
    return None


def _incoming(cursor: Cursor) -> SourceNode | None:
    target = link(cursor, embeddable=False)
    return LinkSource(target.path, "incoming") if target is not None else None


def _folder(cursor: Cursor) -> SourceNode | None:
    folder = string(cursor)
    return FolderSource(folder) if folder is not None else None


def _tag(cursor: Cursor) -> SourceNode | None:
    found = cursor.take(_TAG, "a #tag")
    return TagSource(found[0]) if found else None


def _csv(cursor: Cursor) -> SourceNode | None:
    if cursor.take(_CSV, 'csv("path")'):
        path = string(cursor)
        if path is not None and cursor.sign(")"):
            return CsvSource(path)
    return None
