"""A parsed query as JSON, in the shape of Dataview's own syntax tree."""

from __future__ import annotations

from datetime import datetime

from knapper_dataview.engine.dates import parse_date_or_word
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.syntax import (
    Binary,
    BinarySource,
    CalendarHeader,
    Call,
    CsvSource,
    DateLiteral,
    Expression,
    Flatten,
    FolderSource,
    GroupBy,
    Header,
    Index,
    Lambda,
    LateFrom,
    Limit,
    LinkSource,
    ListHeader,
    ListOf,
    Literal,
    Named,
    Negated,
    NegatedSource,
    ObjectOf,
    Operation,
    Query,
    Sort,
    SourceNode,
    TableHeader,
    TagSource,
    Variable,
    Where,
)
from knapper_dataview.engine.values import Link

Json = dict[str, object]


def query_json(query: Query, now: datetime) -> Json:
    """Header, source and operations; words such as `today` stand as the date they mean now."""
    return {
        "header": _header(query.header, now),
        "source": source_json(query.source),
        "operations": [_operation(operation, now) for operation in query.operations],
    }


def _header(header: Header, now: datetime) -> Json:
    if isinstance(header, TableHeader):
        return {
            "type": "table",
            "fields": [_named(column, now) for column in header.columns],
            "showId": header.show_id,
        }
    if isinstance(header, ListHeader):
        shown: Json = {"format": expression_json(header.format, now)} if header.format is not None else {}
        return {"type": "list", **shown, "showId": header.show_id}
    if isinstance(header, CalendarHeader):
        return {"type": "calendar", "showId": True, "field": _named(header.field, now)}
    return {"type": "task"}


def _named(named: Named, now: datetime) -> Json:
    return {"name": named.name, "field": expression_json(named.expression, now)}


def source_json(source: SourceNode) -> Json:
    """A source of FROM."""
    match source:
        case TagSource(tag):
            return {"type": "tag", "tag": tag}
        case FolderSource(folder):
            return {"type": "folder", "folder": folder}
        case LinkSource(file, direction):
            return {"type": "link", "file": file, "direction": direction}
        case CsvSource(path):
            return {"type": "csv", "path": path}
        case NegatedSource(child):
            return {"type": "negate", "child": source_json(child)}
        case BinarySource(left, op, right):
            return {"type": "binaryop", "left": source_json(left), "op": op, "right": source_json(right)}


def _operation(operation: Operation, now: datetime) -> Json:
    match operation:
        case Where(condition):
            return {"type": "where", "clause": expression_json(condition, now)}
        case Sort(keys):
            fields = [
                {
                    "field": expression_json(key.expression, now),
                    "direction": "descending" if key.descending else "ascending",
                }
                for key in keys
            ]
            return {"type": "sort", "fields": fields}
        case Limit(amount):
            return {"type": "limit", "amount": expression_json(amount, now)}
        case GroupBy(field):
            return {"type": "group", "field": _named(field, now)}
        case Flatten(field):
            return {"type": "flatten", "field": _named(field, now)}
        case LateFrom(source):
            return source_json(source)


def expression_json(node: Expression, now: datetime) -> Json:
    """An expression."""
    match node:
        case Literal(value):
            return {"type": "literal", "value": _literal(value)}
        case DateLiteral(text):
            moment = parse_date_or_word(text, now)
            return {"type": "literal", "value": moment.isoformat(timespec="milliseconds") if moment else None}
        case Variable(name):
            return {"type": "variable", "name": name}
        case Negated(child):
            return {"type": "negated", "child": expression_json(child, now)}
        case Binary(left, op, right):
            return {
                "type": "binaryop",
                "left": expression_json(left, now),
                "op": op,
                "right": expression_json(right, now),
            }
        case Index(target, index):
            return {
                "type": "index",
                "object": expression_json(target, now),
                "index": expression_json(index, now),
            }
        case Call(function, arguments):
            given = [expression_json(argument, now) for argument in arguments]
            return {"type": "function", "func": expression_json(function, now), "arguments": given}
        case Lambda(names, body):
            return {"type": "lambda", "arguments": [*names], "value": expression_json(body, now)}
        case ListOf(values):
            return {"type": "list", "values": [expression_json(value, now) for value in values]}
        case ObjectOf(pairs):
            return {"type": "object", "values": {key: expression_json(value, now) for key, value in pairs}}


def _literal(value: object) -> object:
    if isinstance(value, Link):
        optional = {"display": value.display, "subpath": value.subpath}
        present = {key: text for key, text in optional.items() if text is not None}
        return {"path": value.path, "embed": value.embed, "type": value.type, **present}
    return _iso_duration(value) if isinstance(value, Duration) else value


def _iso_duration(duration: Duration) -> str:
    years, months, weeks, days, hours, minutes, seconds, milliseconds = duration.amounts
    seconds += milliseconds / 1000
    dated = f"{_unit(years, 'Y')}{_unit(months, 'M')}{_unit(weeks, 'W')}{_unit(days, 'D')}"
    clock = f"{_unit(hours, 'H')}{_unit(minutes, 'M')}{_unit(seconds, 'S')}"
    text = f"P{dated}" + (f"T{clock}" if clock else "")
    return text if text != "P" else "PT0S"


def _unit(amount: float, letter: str) -> str:
    return f"{amount:g}{letter}" if amount else ""
