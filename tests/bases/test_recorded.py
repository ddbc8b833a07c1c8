"""Expressions against the answers that were recorded from the app."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from knapper_bases.engine import BasesError, Budget, LinkRef, UnreadableExpression, evaluate, plain
from tests.bases.vault_in_memory import MemoryVault, Note

RECORDED = Path(__file__).parents[3] / "shared" / "conformance" / "bases-runtime.json"

# Each recorded answer that differs from ours, and why.
DIFFERENT: dict[str, str] = {}


@cache
def recording() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = recording()["cases"] if RECORDED.exists() else []
    return found


@pytest.mark.skipif(not RECORDED.exists(), reason="the recording is not here")
def test_expressions_give_what_the_app_gave() -> None:
    wrong = {case["id"]: answer(case["input"]) for case in cases() if not agrees(case)}
    assert wrong.keys() == DIFFERENT.keys(), wrong


def agrees(case: dict[str, Any]) -> bool:
    expected, given = case["expected"], answer(case["input"])
    if case.get("assertion") == "range01":
        return isinstance(given["value"], float) and 0 <= given["value"] < 1
    if isinstance(expected, dict) and "parseError" in expected:
        return given == {
            "value": expected["value"],
            "unreadable": (expected["parseError"] or "").partition(" (position")[0] or None,
        }
    return bool(given["value"] == expected)


def answer(expression: str) -> dict[str, Any]:
    try:
        return {"value": value_of(expression), "unreadable": None}
    except UnreadableExpression as wrong:
        return {"value": None, "unreadable": wrong.message.partition(".")[0] + "."}
    except BasesError as wrong:
        return {"value": {"error": wrong.message}, "unreadable": None}


def value_of(expression: str) -> object:
    context = recording()["context"]
    zone = ZoneInfo(context["timezone"])
    value = evaluate(
        expression,
        vault(),
        context["file"]["path"],
        formulas=context["formulas"],
        now=datetime.fromisoformat(context["now"]).astimezone(zone),
    )
    return plain(value, Budget())


@cache
def vault() -> MemoryVault:
    context = recording()["context"]
    return MemoryVault(*(note(file) for file in context["files"]))


def note(file: dict[str, Any]) -> Note:
    return Note(
        file["path"],
        {name: raw(value) for name, value in file["properties"].items()},
        file["tags"],
        [link(found) for found in file["links"]],
        [link(found) for found in file["embeds"]],
        [found["path"] for found in file["backlinks"]],
        file["size"],
        datetime.fromisoformat(file["ctime"]).timestamp(),
        datetime.fromisoformat(file["mtime"]).timestamp(),
    )


def link(found: dict[str, Any]) -> LinkRef:
    return LinkRef(found["path"], found["display"], found["resolvedPath"])


def raw(value: Any) -> Any:
    """Turn a recorded value back into what stood in the frontmatter."""
    if isinstance(value, list):
        return [raw(item) for item in value]
    if isinstance(value, dict) and value.get("type") == "Link":
        shown = value["value"].get("display")
        return f"[[{value['value']['path']}{'|' + shown['value'] if shown else ''}]]"
    return value
