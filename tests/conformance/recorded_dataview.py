"""Recorded answers of Dataview as the companion sends them: plain JSON, with links as Markdown and dates in ISO 8601."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

from knapper.testing_http import Reply
from tests.dataview.conformance import RECORDED
from tests.live_obsidian import failed

Json = Any
UNITS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds")
SMALLER = (("days", "hours", 24), ("hours", "minutes", 60), ("minutes", "seconds", 60))
KINDS = {"$date": "date", "$dur": "duration", "$link": "link", "$widget": "widget", "$function": "function"}


def cases(name: str) -> list[dict[str, Any]]:
    """The recorded cases of a file."""
    found: list[dict[str, Any]] = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["cases"]
    return found


def rows(expected: Json) -> Json | Reply:
    """A query's result as `/dataview/dql` gives it, but for the notes that rows came from."""
    if "$error" in expected:
        return failed("dql_error", "Dataview does not understand it")
    kind = expected["type"]
    if kind == "table":
        return {"headers": expected["headers"], "rows": plain(expected["rows"])}
    if kind == "list":
        return {"headers": [], "rows": [_row(value) for value in expected["values"]]}
    if kind == "calendar":
        entries = [[plain(one["date"]), plain(one["link"])] for one in expected["entries"]]
        return {"headers": ["date", "note"], "rows": entries}
    depth = _depth(expected["tasks"])
    groups = ["group"] if depth == 1 else [f"group {number + 1}" for number in range(depth)]
    return {"headers": [*groups, "text", "status", "path", "line"], "rows": _tasks(expected["tasks"], [])}


def value(expected: Json) -> Json | Reply:
    """A value as `/dataview/eval` gives it."""
    if isinstance(expected, dict) and "$error" in expected:
        return failed("dql_error", "Dataview does not understand it")
    return {"value": plain(expected), "type": kind_of(expected)}


def plain(value: Json) -> Json:
    """A recorded value as JSON for readers."""
    if isinstance(value, list):
        return [plain(element) for element in value]
    if not isinstance(value, dict):
        return value
    if "$date" in value:
        day, _, rest = value["$date"].partition("T")
        return day if rest.startswith("00:00:00") and "." not in rest else value["$date"]
    if "$dur" in value:
        return ", ".join(_counted(unit, amount) for unit, amount in _carried(value["$dur"]).items())
    if "$link" in value:
        return _link(value["$link"])
    if "$number" in value:
        return value["$number"]
    if "$function" in value:
        return "<function>"
    if value.get("$widget") == "dataview:list-pair":
        return [plain(value["key"]), plain(value["value"])]
    if "$widget" in value:
        return f"[{value['display']}]({value['url']})"
    return {key: plain(element) for key, element in value.items()}


def kind_of(value: Json) -> str:
    """The name that Dataview has for the type of a recorded value."""
    if isinstance(value, dict):
        if "$number" in value:
            return "number"
        return next((kind for key, kind in KINDS.items() if key in value), "object")
    names = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        list: "array",
        type(None): "null",
    }
    return names[type(value)]


def _row(value: Json) -> list[Json]:
    pair = isinstance(value, dict) and value.get("$widget") == "dataview:list-pair"
    return [plain(value["key"]), plain(value["value"])] if pair else [plain(value)]


def _tasks(entries: list[Json], keys: list[Json]) -> list[list[Json]]:
    found: list[list[Json]] = []
    for one in entries:
        if "rows" in one:
            found += _tasks(one["rows"], [*keys, plain(one["key"])])
        else:
            found.append([*keys, one["text"], one["status"], one["path"], one["line"] + 1])
    return found


def _depth(entries: list[Json]) -> int:
    return 1 + _depth(entries[0]["rows"]) if entries and "rows" in entries[0] else 0


def _link(link: Json) -> str:
    mark = {"header": "#", "block": "#^"}.get(link["type"])
    target, name = link["path"], PurePosixPath(link["path"]).name.removesuffix(".md")
    if mark is not None:
        target, name = f"{target}{mark}{link['subpath']}", f"{name} > {link['subpath']}"
    return f"{'!' if link['embed'] else ''}[[{target}|{link.get('display') or name}]]"


def _carried(parts: dict[str, float]) -> dict[str, float]:
    """Fractions as so many of the next smaller unit."""
    found = dict(parts)
    for unit, smaller, ratio in SMALLER:
        whole, fraction = divmod(found.get(unit, 0), 1)
        if fraction:
            found |= {unit: whole, smaller: found.get(smaller, 0) + fraction * ratio}
    return {unit: found[unit] for unit in UNITS if found.get(unit)}


def _counted(unit: str, amount: float) -> str:
    return f"{amount:,.12g} {unit[:-1] if amount == 1 else unit}"
