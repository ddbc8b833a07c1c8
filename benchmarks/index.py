"""The index by itself: how long it takes to build and to start, what it costs, and how fast it answers.

    python benchmarks/index.py VAULT... [--cache DIR] [--runs N] [--vectors] [--write]

Each VAULT is a generated one with its ground truth in VAULT.manifest.json beside it. The table goes to the terminal,
with --write also to benchmarks/results/index.md. Every answer that the manifest knows is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from knapper.config.model import Settings
from knapper.index.engine import Index
from knapper.index.queries.properties import PropertyFilter
from knapper.index.view import IndexView
from knapper.page import Page
from knapper.vault.disk import Disk

FRESH_RUNS = 3
RESULTS = Path(__file__).parent / "results" / "index.md"


PATTERN, PATTERN_HOLDS = r"marlow\w+", "marlowvantine"


def settings(vault: Path) -> Settings:
    return Settings.model_validate({"vaults": [{"id": "bench", "path": str(vault)}]})


def opened(vault: Path, cache: Path) -> Index:
    from knapper_tasks import tasks

    chosen = settings(vault)
    return Index(
        Disk(vault),
        cache / "bench.db",
        settings=chosen.index,
        watch=chosen.watch,
        extractors=tasks.extractors,
    )


def megabytes() -> float:
    """What this process holds now; where the system does not say, the most it has held."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def build(vault: Path, cache: Path) -> dict[str, float]:
    """A cold build in this process: seconds, the longest commit, memory after it, bytes on disk."""
    index = opened(vault, cache)
    waits: list[float] = []
    _time_turns(index, waits)
    started = time.perf_counter()
    index.reconcile()
    took = time.perf_counter() - started
    index.close()
    return {
        "cold": took,
        "turn": max(waits),
        "memory": megabytes(),
        "disk": float((cache / "bench.db").stat().st_size),
        "cpu": time.process_time() + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime,
    }


def _time_turns(index: Index, waits: list[float]) -> None:
    from contextlib import contextmanager

    write = index.db.write

    @contextmanager
    def timed() -> Any:
        began = time.perf_counter()
        with write() as conn:
            yield conn
        waits.append(time.perf_counter() - began)

    index.db.write = timed  # type: ignore[method-assign]


def warm(vault: Path, cache: Path) -> dict[str, float]:
    """A start with everything indexed: seconds until the index is level, and memory then."""
    started = time.perf_counter()
    index = opened(vault, cache)
    index.reconcile()
    took = time.perf_counter() - started
    found = {"warm": took, "idle": megabytes()}
    index.close()
    return found


def ask(vault: Path, cache: Path, manifest: dict[str, Any], runs: int) -> dict[str, Any]:
    """Milliseconds at the median for every question, and an exception where an answer is wrong.

    First while nothing is remembered of the question, as after every change of the vault; then asked again.
    """
    index = opened(vault, cache)
    index.reconcile()
    found: dict[str, Any] = {}
    told = _told(vault, manifest)
    for who, readable in (("", None), (" (restricted)", lambda path: not path.startswith("Archive/"))):
        view = IndexView(index, readable)
        for name, question, right in _questions(view, manifest, told, restricted=readable is not None):
            answer = question()
            if not right(answer):
                raise SystemExit(f"wrong: {name}{who}: {answer[1:]!r}")
            fresh = _median(question, FRESH_RUNS, partial(_forget, index))
            found[name + who] = [fresh, _median(question, runs)]
    index.close()
    return found


def _forget(index: Index) -> None:
    index.answers.clear()
    index.searches.clear()


def _median(question: Callable[[], Any], runs: int, before: Callable[[], Any] = lambda: None) -> float:
    times = []
    for _ in range(runs):
        before()
        began = time.perf_counter()
        question()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def _questions(
    view: IndexView, m: dict[str, Any], told: dict[str, list[str]], *, restricted: bool
) -> list[tuple[str, Callable[[], Any], Callable[[Any], bool]]]:
    from knapper_tasks.engine import TaskRow

    def total(expected: int) -> Callable[[Any], bool]:
        return lambda answer: answer[1] == expected or (restricted and answer[1] <= expected)

    def holding(word: str, most: int = 20) -> Callable[[Any], bool]:
        """All notes that hold a string, or a full page of them, are found."""
        paths = {path for path in told[word] if view.readable(path)}
        full = min(most, len(paths))
        return lambda a: (found := {hit.path for hit in a[0]}) <= paths and len(found) == full

    active = [PropertyFilter("status", "eq", "active")]
    root, leaf = m["tags"]["top_root"], m["tags"]["leaf"]
    hub = m["hub"]["path"]
    few, many = Page(100), Page(1000)
    return [
        ("list 200 files", lambda: view.list_files(Page(200), extensions=["md"]), total(m["notes_md"])),
        ("backlinks of the hub", lambda: view.backlinks(few, hub), total(m["hub"]["sources_body_or_fm"])),
        (
            "backlinks of the hub, 1,000 rows",
            lambda: view.backlinks(many, hub),
            total(m["hub"]["sources_body_or_fm"]),
        ),
        ("tags", lambda: view.list_tags(few), total(m["tags"]["distinct"])),
        ("notes of a tag", lambda: view.notes_by_tag(few, [root]), total(m["tags"]["top_root_notes"])),
        ("notes of a leaf tag", lambda: view.notes_by_tag(few, [leaf]), total(m["tags"]["leaf_notes_hier"])),
        ("properties", lambda: view.list_properties(few), lambda answer: answer[1] > 3),
        (
            "notes by property",
            lambda: view.notes_by_property(few, active),
            total(m["property"]["status_active"]),
        ),
        (
            "notes by property, 1,000 rows",
            lambda: view.notes_by_property(many, active),
            total(m["property"]["status_active"]),
        ),
        ("orphans", lambda: view.orphans(few), _orphans(m, restricted)),
        ("orphans, 1,000 rows", lambda: view.orphans(many), _orphans(m, restricted)),
        (
            "unresolved",
            lambda: view.unresolved(few),
            # To a restricted caller links to what it may not read lead nowhere too.
            lambda a: a[1] > 0 if restricted else a[1] == m["unresolved"]["targets"],
        ),
        ("tasks", lambda: view.facts_page(few, TaskRow), total(m["tasks"]["total_with_template"])),
        (
            "tasks not done",
            lambda: view.facts_page(few, TaskRow, [("status_type", "=", "TODO")]),
            lambda answer: answer[1] > 0,
        ),
        (
            "one file by name",
            lambda: (None, view.find_note(hub.rpartition("/")[2][:-3])),
            lambda a: a[1] == hub,
        ),
        *(
            (name, lambda word=word: view.literal(Page(20), word), holding(word))
            for name, word in _words(m).items()
        ),
        (
            "regex with a literal part",
            lambda: view.regex(Page(50), PATTERN),
            holding(PATTERN_HOLDS, 50),
        ),
    ]


def _words(m: dict[str, Any]) -> dict[str, str]:
    return {
        "literal: rare": "obsidiatrix",
        "literal: phrase": m["phrase"]["text"],
        "literal: two characters": "東京",
        "literal: common word": m["common"]["word"],
    }


def _told(vault: Path, m: dict[str, Any]) -> dict[str, list[str]]:
    """The notes that hold each string, as reading all of them tells; the manifest must know of as many."""
    words = [*_words(m).values(), PATTERN_HOLDS]
    found: dict[str, list[str]] = {word: [] for word in words}
    for file in vault.rglob("*.md"):
        text = file.read_text().casefold()
        for word in words:
            if word in text:
                found[word].append(file.relative_to(vault).as_posix())
    known = {
        "obsidiatrix": m["rare"]["obsidiatrix"]["count"],
        PATTERN_HOLDS: m["rare"][PATTERN_HOLDS]["count"],
        m["phrase"]["text"]: m["phrase"]["count"],
        m["common"]["word"]: m["common"]["count"],
    }
    for word, count in known.items():
        if len(found[word]) != count:
            raise SystemExit(
                f"the manifest knows of {count} notes with {word!r}, there are {len(found[word])}"
            )
    return found


def _orphans(m: dict[str, Any], restricted: bool) -> Callable[[Any], bool]:
    expected = m["orphans"]["no_incoming_body_or_fm"]
    # A note that only unreadable notes link to is an orphan to a restricted caller.
    return lambda answer: abs(answer[1] - expected) <= (expected if restricted else 1)


STEPS = {"build": build, "warm": warm}


def _alone(step: str, vault: Path, cache: Path) -> dict[str, float]:
    """A step in a process of its own, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, __file__, str(vault), "--cache", str(cache), "--step", step],
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(vault: Path, cache: Path, runs: int) -> dict[str, Any]:
    manifest = json.loads(vault.with_name(vault.name + ".manifest.json").read_text())
    found: dict[str, Any] = {"notes": float(manifest["notes_md"]), "bytes": float(manifest["bytes"])}
    found |= _alone("build", vault, cache)
    found |= _alone("warm", vault, cache)
    return found | ask(vault, cache, manifest, runs)


FIGURES: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
    ("cold build, text complete", lambda f: f"{f['cold']:.1f} s"),
    ("CPU of the cold build, all processes", lambda f: f"{f['cpu']:.1f} s"),
    ("longest turn at the write lock", lambda f: f"{f['turn'] * 1000:.0f} ms"),
    ("warm start to level", lambda f: f"{f['warm']:.2f} s"),
    ("memory after a cold build", lambda f: f"{f['memory']:.0f} MB"),
    ("memory after a warm start", lambda f: f"{f['idle']:.0f} MB"),
    ("text index on disk", lambda f: f"{f['disk'] / 1e6:.0f} MB ({f['disk'] / f['bytes']:.1f} x)"),
]


def table(measured: list[dict[str, Any]]) -> str:
    """All vaults beside each other, smallest first; queries at the median, in brackets where nothing is remembered."""
    known = {"notes", "bytes", "cold", "cpu", "turn", "warm", "memory", "idle", "disk"}
    lines = ["| | " + " | ".join(f"{f['notes']:,.0f} notes" for f in measured) + " |"]
    lines.append("|---" * (len(measured) + 1) + "|")
    lines += [f"| {name} | " + " | ".join(shown(f) for f in measured) + " |" for name, shown in FIGURES]
    queries = [name for name in measured[0] if name not in known]
    for name in queries:
        lines.append(
            f"| {name} | " + " | ".join(f"{f[name][1]:.2f} ms ({f[name][0]:.1f})" for f in measured) + " |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("vaults", nargs="+", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        print(json.dumps(STEPS[args.step](args.vaults[0].resolve(), args.cache)))
        return
    measured = []
    for vault in args.vaults:
        with tempfile.TemporaryDirectory(dir=args.cache) as cache:
            measured.append(measure(vault.resolve(), Path(cache), args.runs))
    text = table(measured)
    print(text)
    if args.write:
        RESULTS.parent.mkdir(exist_ok=True)
        where = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
        RESULTS.write_text(
            f"# The index\n\n`python benchmarks/index.py VAULT... --write` on {where}.\n\n"
            "A question asked again is timed, and in brackets one of which nothing is remembered, as after every change:\n"
            f"its total has to be counted, and a string's ranking made. Every answer is checked.\n\n{text}"
        )


if __name__ == "__main__":
    main()
