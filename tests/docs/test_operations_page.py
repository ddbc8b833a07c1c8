"""The tables of the page about operations are what the server has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import knapper_sink_cloudevents
from devtools.members import ROOT
from knapper.cli.doctor import CHECKS
from knapper.config.model import Settings
from knapper.maintenance import declare_jobs
from knapper.plugins import Plugins
from knapper.runtime import Runtime

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The rows of the table under a heading."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    """A server with every installed plugin."""
    settings = {
        "vaults": [{"id": "main", "path": str(tmp_path)}],
        "cache_dir": str(tmp_path / "cache"),
        "observability": {"cloudevents": {"spool": True}},
    }
    found = Runtime(Settings.model_validate(settings), Plugins.discover())
    yield found
    found.close()


def test_every_metric_is_listed_with_its_type_and_labels(runtime: Runtime) -> None:
    listed = {codes(name)[0]: (kind, tuple(codes(labels))) for name, kind, labels in rows("Metrics")}
    assert listed == {family.name: (family.type, family.labels) for family, _ in runtime.metrics.read()}


def test_every_job_of_the_server_is_listed_with_the_setting_of_its_interval(runtime: Runtime) -> None:
    declare_jobs(runtime)
    listed = {codes(name)[0]: codes(every)[0] for name, every, _ in rows("Jobs")}
    assert set(listed) == {job.name for job in runtime.jobs.status()}
    for setting in [*listed.values(), *codes(TEXT)]:
        section, _, name = setting.rpartition(".")
        if section in ("maintenance", "observability", "observability.retention"):
            found = runtime.settings
            for part in section.split("."):
                found = getattr(found, part)
            assert name in type(found).model_fields


def test_every_check_of_the_doctor_is_listed() -> None:
    assert sorted(codes(row[0])[0] for row in rows("Doctor")) == sorted(CHECKS)


def test_what_the_doctor_mends_is_what_the_page_says() -> None:
    mending = {codes(row[0])[0] for row in rows("Doctor") if row[2]}
    assert mending == {"cache.location", "index.health"}
    checks = ROOT / "core" / "src" / "knapper" / "cli" / "checks"
    assert sum(file.read_text().count('f"fixed: ') for file in checks.glob("*.py")) == len(mending)


def test_every_event_is_listed() -> None:
    listed = {kind for row in rows("Events") for kind in codes(row[0])}
    assert {
        *knapper_sink_cloudevents.BESIDES.values(),
        "tc.tool.call.completed",
        "tc.elicit.consumed",
    } < listed
    sources = "".join(file.read_text() for file in (ROOT / "core" / "src" / "knapper").rglob("*.py"))
    told = {f"tc.{kind}" for kind in re.findall(r'\bEvent\(\s*ts=[^"]*?type="([\w.]+)"', sources)}
    assert told | {*knapper_sink_cloudevents.BESIDES.values()} == listed - {
        "tc.tool.call.completed",
        "tc.elicit.consumed",
    }


def test_the_figures_of_the_soak_are_there() -> None:
    figures = (ROOT / "benchmarks" / "results" / "soak.md").read_text(encoding="utf-8")
    assert "20 clients in 5 processes" in figures
    assert "wrong answers, lost writes, lock errors: 0" in figures
