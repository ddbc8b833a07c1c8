"""The same requests to both engines of Dataview: native, and live as the real plugin answered when it was recorded."""

from __future__ import annotations

import re
from typing import Any

import pytest

import knapper_bridge_dataview
import knapper_dataview
from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_dataview import dataview
from knapper_search import search
from tests.conformance import recorded_dataview as recorded
from tests.dataview.conformance import NOW
from tests.dataview.recorded_vault import VAULT, copy_vault, index_with_recorded_times
from tests.live_obsidian import Obsidian

pytestmark = [
    pytest.mark.skipif(not VAULT.is_dir(), reason="the recordings are not at hand"),
    pytest.mark.usefixtures("utc"),
]
Answer = dict[str, Any] | str
OF_A_FILE = re.compile(r"\bfile\b")
# The variables of recorded expressions, as fields of a note.
FIELDS = """a: {b: 7}
a b: space
x: 5
y: [1]
tags: ["#a", "#a/b", "#c"]
due: 2024-03-20
done: true
name: Task
items: [{name: p, qty: 2, price: 3.5}, {name: q, qty: 1, price: 10}]
my-field: kebab
kebab-case-field: 41
größe: 1.8
"""


def answer(call: Calls, tool: str, **arguments: Any) -> Answer:
    """What a tool answers, without the engine's name; of an error its code."""
    domain = search if tool in search.tools else dataview
    try:
        found: dict[str, Any] = call(domain, tool, **arguments)
    except ToolError as error:
        return error.code
    assert found.pop("engine") == arguments["engine"]
    return found


def both(call: Calls, tool: str, **arguments: Any) -> tuple[Answer, Answer]:
    """What the native and what the live engine answers."""
    native = answer(call, tool, engine="native", **arguments)
    return native, answer(call, tool, engine="obsidian", **arguments)


def test_every_recorded_query_finds_the_same_in_both_engines(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    copy_vault(vault.path)
    obsidian.serve(call)
    call.plugins += [knapper_dataview, knapper_bridge_dataview]
    call.runtime(search).clock = NOW.timestamp
    index_with_recorded_times(call.runtime(search))
    answers = {case["input"]: recorded.rows(case["expected"]) for case in recorded.cases("dataview-queries")}
    obsidian.routes["/dataview/dql"] = lambda body: answers[body["dql"]]
    different = {}
    for dql in answers:
        native, live = both(call, "search_dql", dql=dql)
        for found in (native, live):
            if isinstance(found, dict):
                del found["note_paths"]  # the recordings do not have them
        if native != live:
            different[dql] = (native, live)
    assert different == {}
    assert len(answers) == len(obsidian.asked) == 47


def test_every_recorded_expression_has_the_same_value_in_both_engines(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    vault["Empty.md"] = ""
    vault["Fields.md"] = f"---\n{FIELDS}---\n"
    obsidian.serve(call)
    call.plugins.append(knapper_bridge_dataview)
    call.runtime(dataview).clock = NOW.timestamp
    # The recordings stand in no note, so that what they say of `file` is not what a note says of itself.
    cases = [case for case in recorded.cases("dataview-expressions") if not OF_A_FILE.search(case["input"])]
    answers = {case["input"]: recorded.value(case["expected"]) for case in cases}
    obsidian.routes["/dataview/eval"] = lambda body: answers[body["expression"]]
    different = {}
    for case in cases:
        path = "Fields.md" if "vars" in case else "Empty.md"
        native, live = both(call, "eval_dataview_field", path=path, expression=case["input"])
        if native != live:
            different[case["input"]] = (native, live)
    assert different == {}
    assert len(cases) == 500


def test_both_engines_hold_the_same_queries_for_well_formed(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    obsidian.serve(call)
    call.plugins.append(knapper_bridge_dataview)
    valid = {case["input"]: case["expected"]["ok"] for case in recorded.cases("dataview-parse")}

    def validate(body: Any) -> Any:
        return {"valid": True} if valid[body["dql"]] else {"valid": False, "error": {"message": "no"}}

    obsidian.routes["/dataview/validate"] = validate
    for dql in valid:
        native, live = both(call, "validate_dql", dql=dql)
        assert isinstance(native, dict), dql
        assert isinstance(live, dict), dql
        assert native["valid"] is live["valid"] is valid[dql], dql
