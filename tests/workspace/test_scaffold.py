import os
import subprocess
import sys
from pathlib import Path

import pytest

from devtools import scaffold
from devtools.members import members

NAMES = [
    ("domain", "birds"),
    ("embedder", "letters"),
    ("verifier", "badge"),
    ("sink", "lines"),
    ("bridge", "sky-map"),
]


def run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    sources = os.pathsep.join(str(member.src) for member in members(tree)[1:])
    environ = os.environ | {"PYTHONPATH": sources}
    return subprocess.run(
        [sys.executable, *command], cwd=tree, env=environ, capture_output=True, text=True, check=False
    )


def test_one_of_every_kind_passes_the_sameness_test_its_own_tests_and_the_linter(copy: Path) -> None:
    for kind, name in NAMES:
        scaffold.new(copy, kind, name, "Watch what flies over the house.")
    sameness = run(copy, "-m", "pytest", "-q", "-n", "0", "tests/test_distributions.py")
    assert sameness.returncode == 0, sameness.stdout
    own = run(copy, "-m", "pytest", "-q", "-n", "0", *(f"tests/{m.tests.name}" for m in members(copy)[1:]))
    assert own.returncode == 0, own.stdout
    for verb in (["check"], ["format", "--check"]):
        linted = run(copy, "-m", "ruff", *verb, "--no-cache", "plugins", "bridges", "tests")
        assert linted.returncode == 0, linted.stdout


def test_a_summary_becomes_a_sentence(tree: Path) -> None:
    member = scaffold.new(tree, "sink", "odd", "counts what costs $5")
    assert member.metadata["project"]["description"] == "Counts what costs $5."


@pytest.mark.parametrize("summary", ['Says "hi".', "C:\\temp", "two\nlines"])
def test_a_summary_that_would_need_escapes_is_refused(tree: Path, summary: str) -> None:
    with pytest.raises(SystemExit, match="without quotes or backslashes"):
        scaffold.new(tree, "sink", "odd", summary)
    assert not (tree / "plugins").exists()


def test_the_umbrella_lists_a_new_distribution_and_keeps_its_other_lines(tree: Path) -> None:
    before = (tree / "pyproject.toml").read_text(encoding="utf-8")
    scaffold.new(tree, "domain", "birds")
    assert (tree / "pyproject.toml").read_text(encoding="utf-8") == before.replace(
        '  "knapper-core>=0.1,<1",\n', '  "knapper-birds>=0.1,<1",\n  "knapper-core>=0.1,<1",\n'
    )


def test_the_umbrella_leaves_examples_out(tree: Path) -> None:
    file = tree / "examples" / "knapper-echo" / "pyproject.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[project]\nname = "knapper-echo"\n', encoding="utf-8")
    assert scaffold.umbrella(tree) == ["knapper-core>=0.1,<1"]


@pytest.mark.parametrize("name", ["Birds", "two words", "a--b", "7up", "under_score", "", "../out"])
def test_a_name_that_could_not_be_a_distribution_is_refused(tree: Path, name: str) -> None:
    with pytest.raises(SystemExit, match="is no name"):
        scaffold.new(tree, "domain", name)


@pytest.mark.parametrize("name", ["core", "docs", "security", "companion", "sink-otel", "bridge-tasks"])
def test_a_domain_cannot_take_a_name_that_means_something_else(tree: Path, name: str) -> None:
    with pytest.raises(SystemExit, match="would pass for something else"):
        scaffold.new(tree, "domain", name)


def test_an_unknown_kind_is_refused_with_the_known_ones(tree: Path) -> None:
    with pytest.raises(SystemExit, match="'widget' is no kind of plugin; there are: domain, embedder"):
        scaffold.new(tree, "widget", "birds")


def test_nothing_is_written_over(tree: Path) -> None:
    scaffold.new(tree, "domain", "birds")
    with pytest.raises(SystemExit, match="plugins/domains/birds is there already"):
        scaffold.new(tree, "domain", "birds")
