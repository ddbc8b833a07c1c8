"""How many of the recorded answers of the real programs are given here, file by file.

    python benchmarks/conformance.py [--write]

With --write the table and the list of differences go into docs/engines.md, too. The answers are worked out by the same
functions that the tests use.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT.parent / "shared" / "conformance"
PAGE = ROOT / "docs" / "engines.md"
REGION = re.compile(r"(<!-- measured: conformance -->\n).*?(<!-- end -->)", re.DOTALL)


class Score(NamedTuple):
    """A file of recordings: what it records, how many cases it has, and which are answered otherwise, with the reason."""

    file: str
    program: str
    total: int
    different: dict[str, str]

    @property
    def exact(self) -> int:
        return self.total - len(self.different)


def bases() -> Iterator[Score]:
    from tests.bases import test_recorded as recorded

    wrong = [case["id"] for case in recorded.cases() if not recorded.agrees(case)]
    yield Score("bases-runtime", "Bases", len(recorded.cases()), _reasons(wrong, recorded.DIFFERENT))


def dataview() -> Iterator[Score]:
    from tests.dataview.conformance import ANSWERS, differences
    from tests.dataview.test_dataview_conformance import DIFFERENT

    for name in ANSWERS:
        total, found = differences(name)
        reasons = _reasons([one.id for one in found], DIFFERENT)
        yield Score(name.removesuffix(".json"), "Dataview", total, reasons)


def tasks() -> Iterator[Score]:
    from tests.tasks.scoring import ANSWERS, DIFFERENT, differences

    for name in ANSWERS:
        wrong, total = differences(name)
        yield Score(name, "Tasks", total, _reasons(wrong, DIFFERENT))


def moment() -> Iterator[Score]:
    from tests.core import test_moment as recorded

    cases = recorded.recorded_cases()
    wrong = [case["id"] for case in cases if recorded.answer(case["input"]) != case["expected"]]
    yield Score("moment-format", "moment.js", len(cases), _reasons(wrong, {}))


def metadata_cache() -> Iterator[Score]:
    from tests.core.markdown import test_conformance as recorded

    cases = [*recorded.cases(recorded.CACHES)]
    wrong = [case["id"] for case in cases if _caches_differ(recorded, case)]
    yield Score("obsidian-metadata-cache", "Obsidian", len(cases), _reasons(wrong, {}))


def _caches_differ(recorded: Any, case: dict[str, Any]) -> bool:
    theirs = recorded.recorded(case["expected"])
    ours = recorded.found(case["input"]["fileContents"])
    return any(theirs.get(kind, []) != ours.get(kind, []) for kind in theirs.keys() | ours.keys())


def link_resolution() -> Iterator[Score]:
    from knapper.vault.markdown import parse
    from knapper.vault.resolve import Resolver
    from tests.core.vault_text.test_resolve import ABSENT_FILES, CHANGED_SINCE

    root = RECORDED.parent / "vaults" / "tasks-demo"
    paths = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    files = Resolver([*paths, *ABSENT_FILES])
    cases, wrong = _cases("obsidian-link-resolution"), []
    for case in cases:
        links = parse((root / case["input"]).read_bytes().decode()).links
        led = [(files.resolve(link.path, case["input"]), link.path) for link in links]
        resolved = Counter(target for target, _ in led if target)
        unresolved = Counter(path for target, path in led if not target)
        if {"resolved": resolved, "unresolved": unresolved} != case["expected"]:
            wrong.append(case["input"])
    reason = "The note was edited after the recording, and has one link more."
    yield Score("obsidian-link-resolution", "Obsidian", len(cases), _reasons(wrong, {CHANGED_SINCE: reason}))


def lzstring() -> Iterator[Score]:
    from knapper_excalidraw.lzstring import compress, decompress

    cases = _cases("lzstring")
    wrong = [
        case["id"]
        for case in cases
        if (compress(case["input"]), decompress(case["expected"])) != (case["expected"], case["input"])
    ]
    yield Score("lzstring", "lz-string", len(cases), _reasons(wrong, {}))


SCORERS: tuple[Callable[[], Iterator[Score]], ...] = (
    bases,
    dataview,
    tasks,
    moment,
    metadata_cache,
    link_resolution,
    lzstring,
)


def scores() -> list[Score]:
    """Every file of recordings; what is recorded of a program is left out where its plugin is not installed."""
    found: list[Score] = []
    for scorer in SCORERS:
        try:
            found += scorer()
        except ModuleNotFoundError as error:
            print(f"{scorer.__name__} is left out: {error}", file=sys.stderr)
    return found


def region(found: list[Score]) -> str:
    """The measured part of the page."""
    lines = ["| recorded | program | exact | of | share |", "| --- | --- | ---: | ---: | ---: |"]
    for score in found:
        share = f"{score.exact / score.total:.1%}"
        lines.append(f"| {score.file} | {score.program} | {score.exact} | {score.total} | {share} |")
    lines += ["", "Every known difference:", ""]
    for score in found:
        lines += [f"- {score.file}, `{case}`: {reason}" for case, reason in score.different.items()]
    return "\n".join(lines) + "\n"


def written(page: str, found: list[Score]) -> str:
    """The page with its measured part as it is now."""
    return REGION.sub(lambda match: f"{match[1]}{region(found)}{match[2]}", page)


def _cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["cases"]
    return found


def _reasons(wrong: Any, known: dict[str, str]) -> dict[str, str]:
    return {case: known.get(case, "NOT EXPLAINED") for case in wrong}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--write", action="store_true", help="bring docs/engines.md up to date")
    write = options.parse_args().write
    if not RECORDED.is_dir():
        print(f"the recordings are not at {RECORDED}", file=sys.stderr)
        return 1
    found = scores()
    print(region(found))
    if write:
        PAGE.write_text(written(PAGE.read_text("utf-8"), found), "utf-8")
    return int(any("NOT EXPLAINED" in score.different.values() for score in found))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # the tests know how an answer is worked out
    sys.exit(main())
