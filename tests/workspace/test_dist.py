from pathlib import Path

import pytest

from devtools import dist, scaffold
from devtools.members import Member


@pytest.fixture
def sink(tree: Path) -> Member:
    for name in ("out", "work", "site"):
        (tree / name).mkdir()
    return scaffold.new(tree, "sink", "lines", "Write a line for every call.")


def faults(sink: Member) -> list[str]:
    return list(dist.check(sink, *(sink.root / name for name in ("out", "work", "site"))))


def test_a_scaffolded_distribution_builds_without_a_fault(sink: Member) -> None:
    assert faults(sink) == []
    assert sorted(file.name for file in (sink.root / "out").iterdir()) == [
        "knapper_sink_lines-0.1.0-py3-none-any.whl",
        "knapper_sink_lines-0.1.0.tar.gz",
    ]


def test_a_data_file_that_gitignore_keeps_out_of_the_wheel_is_a_fault(sink: Member) -> None:
    (sink.path / ".gitignore").write_text("*.sql\n", encoding="utf-8")
    (sink.src / sink.package / "schema.sql").write_text("select 1", encoding="utf-8")
    assert faults(sink) == ["the wheel lacks knapper_sink_lines/schema.sql"]


def test_an_empty_readme_is_a_fault(sink: Member) -> None:
    (sink.path / "README.md").write_text("", encoding="utf-8")
    assert faults(sink) == ["the README did not become the description"]


def test_another_licence_is_a_fault(sink: Member) -> None:
    text = sink.pyproject.read_text(encoding="utf-8")
    sink.pyproject.write_text(text.replace('license = "MIT"', 'license = "BSD-3-Clause"'), encoding="utf-8")
    assert faults(sink) == ["License-Expression is 'BSD-3-Clause' and should be 'MIT'"]
