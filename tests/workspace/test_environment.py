import sys
from pathlib import Path

import pytest

from devtools import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for uv is a shell script")

EDITABLE = "pip install --no-deps --no-build-isolation"


class Uv:
    """A uv in the tree's .venv that installs nothing and writes down what it was asked."""

    def __init__(self, tree: Path) -> None:
        self.log = tree / "uv.log"
        self.folder = tree / ".venv" / "bin"
        self.folder.mkdir(parents=True)
        (self.folder / "python").symlink_to(sys.executable)
        self.works()

    def works(self, code: int = 0) -> None:
        script = self.folder / "uv"
        script.write_text(f'#!/bin/sh\necho "$@" >> "{self.log}"\nexit {code}\n', encoding="utf-8")
        script.chmod(0o755)

    def asked(self) -> list[str]:
        """What was asked since the last time, in short."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        short = text.replace(" --quiet", "").replace(f" --python {self.folder}/python", "")
        return short.replace(f"{self.folder.parent.parent}/", "").splitlines()


def add(tree: Path, folder: str, *dependencies: str) -> Path:
    file = tree / folder / "pyproject.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[project]\ndependencies = {list(dependencies)!r}\n", encoding="utf-8")
    return file


def test_the_first_time_dependencies_come_first_and_then_the_members(tree: Path) -> None:
    uv = Uv(tree)
    add(tree, "plugins/sinks/otel", "knapper-core>=0.1,<1", "rich>=15,<16")
    assert environment.ensure(tree) == tree / ".venv"
    assert uv.asked() == [
        "pip install --compile-bytecode --constraint constraints.txt"
        " click>=8,<9 pytest>=9,<10 rich>=15,<16 ruff>=0.17,<0.18 tox-uv>=1,<2 uv>=0.9,<1",
        f"{EDITABLE} --editable core --editable plugins/sinks/otel",
    ]


def test_the_second_time_nothing_is_installed(tree: Path) -> None:
    uv = Uv(tree)
    environment.ensure(tree)
    uv.asked()
    environment.ensure(tree)
    assert uv.asked() == []


def test_a_changed_pyproject_installs_only_that_member_again(tree: Path) -> None:
    uv = Uv(tree)
    add(tree, "plugins/domains/birds")
    environment.ensure(tree)
    uv.asked()
    with add(tree, "plugins/domains/birds").open("a", encoding="utf-8") as file:
        file.write('version = "0.2.0"\n')
    environment.ensure(tree)
    assert uv.asked() == [f"{EDITABLE} --editable plugins/domains/birds"]


def test_a_changed_pin_installs_the_dependencies_again_and_no_member(tree: Path) -> None:
    uv = Uv(tree)
    environment.ensure(tree)
    uv.asked()
    (tree / "constraints.txt").write_text("click==8.5.2\n", encoding="utf-8")
    environment.ensure(tree)
    assert [line.split(" --constraint")[0] for line in uv.asked()] == ["pip install --compile-bytecode"]


def test_a_change_of_tool_settings_installs_nothing(tree: Path) -> None:
    uv = Uv(tree)
    environment.ensure(tree)
    uv.asked()
    with (tree / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('target-version = "py311"\n')
    environment.ensure(tree)
    assert uv.asked() == []


def test_a_member_that_is_gone_is_uninstalled(tree: Path) -> None:
    uv = Uv(tree)
    file = add(tree, "plugins/domains/birds")
    environment.ensure(tree)
    uv.asked()
    file.unlink()
    environment.ensure(tree)
    assert uv.asked() == ["pip uninstall knapper-birds"]


def test_a_failed_install_is_tried_again_next_time(tree: Path) -> None:
    uv = Uv(tree)
    uv.works(code=2)
    with pytest.raises(SystemExit, match="uv failed with exit code 2"):
        environment.ensure(tree)
    uv.works()
    uv.asked()
    environment.ensure(tree)
    assert len(uv.asked()) == 2


def test_without_uv_its_own_tools_are_not_asked_for(tree: Path) -> None:
    assert environment.requirements(tree, [], uv=False) == ["pytest>=9,<10", "ruff>=0.17,<0.18"]
