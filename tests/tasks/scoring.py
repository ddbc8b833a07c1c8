"""Scores the tasks engine against recordings of the real plugin: exact answers out of all, per file."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from knapper_tasks.engine import (
    QueryError,
    QueryFile,
    Settings,
    Statuses,
    TaskRow,
    parse_line,
    parse_query,
    parse_range,
    serialize,
    settings_from_data,
    toggle_line,
    urgency,
)
from knapper_tasks.engine.days import earliest, valid
from knapper_tasks.engine.statuses import DEFAULT_STATUSES, status_from_entry

Case = dict[str, Any]

# What the engine answers differently on purpose, and why.
DIFFERENT = {
    "tasks-toggle-0190": "The plugin writes the words `Invalid date` over a day that does not exist, and drops the "
    "rule. Here nothing that a user wrote is lost."
}
FOLDER = Path(__file__).parents[2].parent / "shared" / "conformance"


def score(folder: Path = FOLDER) -> dict[str, tuple[int, int]]:
    """Exact answers and cases of each recording in a folder."""
    return {
        name: (total - len(wrong), total) for name in ANSWERS for wrong, total in [differences(name, folder)]
    }


def differences(name: str, folder: Path = FOLDER) -> tuple[dict[str, Any], int]:
    """What the engine answers differently, by case, and how many cases there are."""
    recording = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    answer = ANSWERS[name](recording)
    wrong: dict[str, Any] = {}
    for case in recording["cases"]:
        given = answer(case)
        if given != case["expected"]:
            wrong[case["id"]] = given
    return wrong, len(recording["cases"])


def _today(recording: Case, case: Case) -> date:
    now: str = case["now"] if "now" in case else recording["default_now"]
    return date.fromisoformat(now[:10])


def _settings(case: Case) -> Settings:
    data = dict(case.get("settings", {}))
    if "globalFilter" in case:
        data["globalFilter"] = case["globalFilter"]
    settings = settings_from_data(data)
    added = [status for entry in case.get("statuses", ()) if (status := status_from_entry(entry))]
    return msgspec.structs.replace(settings, statuses=Statuses([*DEFAULT_STATUSES, *added]))


def _parses(recording: Case) -> Callable[[Case], Any]:
    def answer(case: Case) -> Any:
        settings = _settings(case)
        row = parse_line(case["input"], settings)
        return None if row is None else _recorded(row, settings, _today(recording, case))

    return answer


def _recorded(row: TaskRow, settings: Settings, today: date) -> dict[str, Any]:
    def day(iso: str | None) -> str | None:
        return iso if iso is None or valid(iso) else "Invalid date"

    return {
        "indentation": row.indent,
        "listMarker": row.marker,
        "status": row.symbol,
        "statusName": row.status_name,
        "statusType": row.status_type,
        "description": row.description,
        "tags": list(row.tags),
        "priority": row.priority_name,
        "created": day(row.created),
        "start": day(row.start),
        "scheduled": day(row.scheduled),
        "due": day(row.due),
        "done": day(row.done),
        "cancelled": day(row.cancelled),
        "happens": earliest(row.start, row.scheduled, row.due),
        "recurrence": row.recurrence,
        "onCompletion": row.on_completion,
        "id": row.id,
        "dependsOn": list(row.depends_on),
        "blockLink": f" {row.block_link}" if row.block_link else "",
        "isDone": row.closed,
        "urgency": round(urgency(row, today.toordinal()), 6),
        "scheduledIsInferred": row.scheduled_inferred,
        "line": serialize(row, settings),
    }


def _toggles(recording: Case) -> Callable[[Case], Any]:
    return lambda case: toggle_line(case["input"], _settings(case), _today(recording, case), case.get("to"))


def _phrases(recording: Case) -> Callable[[Case], Any]:
    def answer(case: Case) -> Any:
        days = parse_range(case["input"], _today(recording, case))
        return None if days is None else {"start": days.start.isoformat(), "end": days.end.isoformat()}

    return answer


def _queries(recording: Case) -> Callable[[Case], Any]:
    settings = Settings()
    rows = [_listed(task, settings) for task in recording["tasks"]]
    index = {id(row): number for number, row in enumerate(rows)}

    def answer(case: Case) -> Any:
        file = QueryFile(case["queryPath"]) if "queryPath" in case else None
        try:
            # The recorded plugin had JavaScript switched off, as it comes.
            query = parse_query(case["input"], settings, _today(recording, case), file=file, functions=False)
        except QueryError:
            return {"$error": "parse"}
        result = query.run(rows)
        return {
            "total": result.total,
            "beforeLimit": result.before_limit,
            "groups": [
                {
                    "names": list(group.names),
                    "headings": [{"level": head.level, "text": head.text} for head in group.headings],
                    "tasks": [index[id(row)] for row in group.rows],
                }
                for group in result.groups
            ],
        }

    return answer


def _listed(task: Case, settings: Settings) -> TaskRow:
    row = parse_line(task["line"], settings, path=task["path"], line=task["index"], heading=task["heading"])
    assert row is not None
    return row


ANSWERS: dict[str, Callable[[Case], Callable[[Case], Any]]] = {
    "tasks-parse-lines": _parses,
    "tasks-toggle-recurrence": _toggles,
    "tasks-date-phrases": _phrases,
    "tasks-queries": _queries,
}
