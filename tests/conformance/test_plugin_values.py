"""What the plugin inside Obsidian makes of Dataview's own values is what the server's engine says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing_http import Reply
from knapper_bridge_dataview import Dataview
from knapper_companion import plugin_bridge
from tests.companion.obsidian import Obsidian, obsidian
from tests.conformance import recorded_dataview as recorded
from tests.dataview.conformance import RECORDED

pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason="the recordings are not at hand")
BRIDGE = plugin_bridge("dataview", "dataview", Dataview)


def engine(app: Obsidian) -> Dataview:
    found: Dataview = BRIDGE.connect(app.settings())
    return found


def differences(
    ask: Callable[[str], Any], expected: Callable[[Any], Any], answers: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """By input: what the plugin answered, and what it should have, where these are not the same; of an error its code."""
    found = {}
    for given, recording in answers.items():
        wanted = expected(recording)
        wanted = wanted.body["code"] if isinstance(wanted, Reply) else wanted
        try:
            answered = ask(given)
        except ToolError as error:
            answered = error.code
        if answered != wanted:
            found[given] = (answered, wanted)
    return found


def without_paths(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "note_paths"}  # they are not recorded


def test_every_recorded_result_of_a_query(tmp_path: Path) -> None:
    answers = {case["input"]: case["expected"] for case in recorded.cases("dataview-queries")}
    with obsidian(tmp_path, plugins={"dataview": {"queries": answers}}) as app:
        live = engine(app)
        found = differences(lambda dql: without_paths(live.dql(dql, None)), recorded.rows, answers)
    assert found == {}
    assert len(answers) == 47


def test_every_recorded_value_of_an_expression(tmp_path: Path) -> None:
    answers = {case["input"]: case["expected"] for case in recorded.cases("dataview-expressions")}
    plugins = {"dataview": {"expressions": answers, "pages": {"a.md": {}}}}
    with obsidian(tmp_path, plugins=plugins) as app:
        live = engine(app)
        found = differences(lambda expression: live.eval("a.md", expression), recorded.value, answers)
    assert found == {}
    assert len(answers) > 500
