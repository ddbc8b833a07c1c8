"""The protocol's own conformance suite, for both requirement sets, against the real server over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import HERE, Place, install

PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
STAMP = re.compile(r"-\d{4}-\d{2}-\d{2}T.*")
TASKS = "an optional extension that the server does not offer: long work is a tool that reports progress"
EXCLUDED = {
    "2025-11-25": {
        "server-sse-polling": "not scored by the suite itself; a tool is a plain function and cannot close its stream",
    },
    "2026-07-28": {
        "tasks-lifecycle": TASKS,
        "tasks-capability-negotiation": TASKS,
        "tasks-wire-fields": TASKS,
        "tasks-request-state-removal": TASKS,
        "tasks-mrtr-input": TASKS,
        "tasks-request-headers": TASKS,
        "tasks-dispatch-and-envelope": TASKS,
        "tasks-required-task-error": TASKS,
        "tasks-mrtr-composition": TASKS,
    },
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_every_scenario_of_the_revision_passes_but_for_those_named_here(
    npx: Callable[..., Any], web: Callable[..., Any], place: Place, tmp_path: Path, revision: str
) -> None:
    install(place.site, source=HERE.parent / "fixtures_plugin" / "knapper_conformance.py")
    one = web(KNAPPER_PLUGINS__ONLY='["conformance"]')
    out = tmp_path / "results"
    npx(PACKAGE, "conformance", "server", "--url", one.url, "--requirements", revision, "-o", str(out))
    seen: dict[str, list[str]] = {}
    for file in out.glob("*/checks.json"):
        scenario = STAMP.sub("", file.parent.name.removeprefix("server-"))
        failed = [c["id"] for c in json.loads(file.read_text()) if c["status"] in ("FAILURE", "WARNING")]
        seen.setdefault(scenario, []).extend(failed)
    assert len(seen) >= 30, "the suite did not run"
    failing = {scenario: checks for scenario, checks in seen.items() if checks}
    assert failing.keys() == EXCLUDED[revision].keys(), failing
