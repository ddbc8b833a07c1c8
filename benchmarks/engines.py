"""The three query engines through the whole way of a call: milliseconds at the median, beside what was promised.

    python benchmarks/engines.py VAULT [--cache DIR] [--runs N] [--write]

VAULT is a generated one with its ground truth in VAULT.manifest.json beside it; it is copied, for a base is added.
Every answer that the manifest knows is checked. The table goes to the terminal, with --write also to
benchmarks/results/engines.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import knapper_bases
import knapper_dataview
import knapper_search
import knapper_tasks
from knapper import Caller
from knapper.config.model import Settings
from knapper.plugins import Plugins
from knapper.runtime import Runtime

RESULTS = Path(__file__).parent / "results" / "engines.md"
CALLER = Caller("bench", frozenset({"*"}), authenticated=True)
WARM_UP = 3
SCORED = """filters: file.hasTag("project")
formulas:
  score: if(rating, rating * 2, 0) + file.name.length
views:
  - type: table
    name: Scored
    order: [file.name, rating, formula.score]
    sort:
      - property: formula.score
        direction: DESC
"""


class Question(NamedTuple):
    """A call, what it has to say, and the milliseconds promised for 10,000 notes."""

    name: str
    tool: str
    arguments: dict[str, Any]
    promised: float | None
    right: Callable[[dict[str, Any]], bool]


def questions(m: dict[str, Any]) -> list[Question]:
    def total(expected: int) -> Callable[[dict[str, Any]], bool]:
        return lambda answer: answer["total_count"] == expected

    def some(answer: dict[str, Any]) -> bool:
        return bool(answer.get("total_count") or answer.get("rows"))

    table = "TABLE status, rating FROM #project WHERE rating SORT rating DESC"
    three = "not done\ndue before 2026-06-01\npriority is above medium"
    wide = "not done\npath includes Projects\ndescription includes the"
    return [
        Question(
            "base view, property filter",
            "query_base",
            {"path": "Bases/Status only.base"},
            25,
            total(m["property"]["status_active"]),
        ),
        Question(
            "base view, hasTag", "query_base", {"path": "Bases/Tagged.base"}, 25, total(m["base_tagged"])
        ),
        Question(
            "base view, formula column sorted by it",
            "query_base",
            {"path": "Bases/Scored.base"},
            80,
            total(m["tags"]["top_root_notes"]),
        ),
        Question("TABLE FROM #tag WHERE SORT", "search_dql", {"dql": table}, 60, some),
        Question(
            "TASK WHERE !completed",
            "search_dql",
            {"dql": "TASK WHERE !completed"},
            80,
            lambda a: len(a["rows"]) == m["tasks"]["total_with_template"] - m["tasks"]["done"],
        ),
        Question("tasks_filter, three filters", "tasks_filter", {"filter": three}, 60, some),
        Question("tasks_filter, three filters over texts", "tasks_filter", {"filter": wide}, 60, some),
        Question(
            "tasks_filter, sorted and grouped",
            "tasks_filter",
            {"filter": "not done\nsort by due\ngroup by folder"},
            None,
            some,
        ),
        Question("list_tasks", "list_tasks", {}, 5, total(m["tasks"]["total_with_template"])),
        Question(
            "list_tasks, status and due",
            "list_tasks",
            {"status": ["todo"], "due": {"after": "2026-04-30", "before": "2026-06-01"}},
            5,
            total(m["tasks"]["todo_due_2026_05"]),
        ),
        Question("validate_dql", "validate_dql", {"dql": table}, None, lambda answer: answer["valid"]),
    ]


@contextmanager
def running(vault: Path, cache: Path) -> Iterator[Runtime]:
    plugins = Plugins(strict=True)
    for module in (knapper_bases, knapper_dataview, knapper_search, knapper_tasks):
        plugins.add(module)
    settings = {
        "vaults": [{"id": "bench", "path": str(vault)}],
        "cache_dir": str(cache),
        "throttle": {"enabled": False},
        "watch": {"enabled": False},
        "index": {"vectors": False},
    }
    runtime = Runtime(Settings.model_validate(settings), plugins)
    try:
        runtime.vaults.get("bench").index.reconcile()
        yield runtime
    finally:
        runtime.close()


class Figures(NamedTuple):
    first: float
    median: float
    cpu: float


def measure(runtime: Runtime, question: Question, runs: int) -> Figures:
    """The first call after a change, and the median of the rest: waited, and computed."""
    waited, computed = [], []
    for _ in range(WARM_UP + runs):
        began, spent = time.perf_counter(), time.process_time()
        outcome = runtime.call(question.tool, question.arguments, CALLER)
        computed.append((time.process_time() - spent) * 1000)
        waited.append((time.perf_counter() - began) * 1000)
    if outcome.error is not None or not question.right(json.loads(outcome.payload)):
        raise SystemExit(f"wrong: {question.name}: {outcome.error or outcome.payload[:300]!r}")
    return Figures(waited[0], statistics.median(waited[WARM_UP:]), statistics.median(computed[WARM_UP:]))


def table(found: dict[str, tuple[Question, Figures]], notes: int) -> str:
    lines = [
        f"{notes:,} notes; {platform.python_implementation()} {platform.python_version()} on {platform.machine()}, "
        "one caller. The first call is the one that fills what is held between queries.",
        "",
        "| call | promised | median | of it CPU | first |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, (question, figures) in found.items():
        promised = "" if question.promised is None else f"{question.promised:.0f} ms"
        lines.append(
            f"| {name} | {promised} | {figures.median:.1f} ms | {figures.cpu:.1f} ms | {figures.first:.0f} ms |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("vault", type=Path)
    options.add_argument("--cache", type=Path, help="keep the copy and its index here, for the next time")
    options.add_argument("--runs", type=int, default=21)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    manifest = json.loads(given.vault.with_name(given.vault.name + ".manifest.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        folder: Path = given.cache or Path(scratch)
        copy = folder / "vault"
        if not copy.exists():
            shutil.copytree(given.vault, copy)
        (copy / "Bases" / "Scored.base").write_text(SCORED, "utf-8")
        with running(copy, folder / "cache") as runtime:
            found = {q.name: (q, measure(runtime, q, given.runs)) for q in questions(manifest)}
    text = table(found, manifest["notes_md"])
    print(text)
    if given.write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(f"# The query engines\n\n{text}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
