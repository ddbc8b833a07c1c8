"""Fifty distributions of one shape: whatever the folder says, the pyproject, the package and the tests say too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from devtools import scaffold
from devtools.members import ROOT, SHARED_TESTS, Member, members, read_toml, requirement_name

TREE = members(ROOT)
UMBRELLA = read_toml(ROOT / "pyproject.toml")
BUILD = {"requires": ["hatchling>=1.27,<2"], "build-backend": "hatchling.build"}
CORE = f"knapper-core{scaffold.RANGE}"
# Distributions that are started and not plugged in: a command in place of an entry point.
PROGRAMS = {"knapper-bridge-stdio": {"knapper-stdio": "knapper_bridge_stdio:main"}}

every = pytest.mark.parametrize("member", TREE, ids=lambda member: member.name)
every_plugin = pytest.mark.parametrize("member", TREE[1:], ids=lambda member: member.name)


@every
def test_the_folder_gives_the_distribution_its_name(member: Member) -> None:
    assert member.metadata["project"]["name"] == member.name


@every
def test_its_metadata_has_the_one_shape(member: Member) -> None:
    project = member.metadata["project"]
    assert member.metadata["build-system"] == BUILD
    assert project["version"] == UMBRELLA["project"]["version"]
    assert project["requires-python"] == ">=3.11"
    assert project["license"] == "MIT"
    assert project["readme"] == "README.md"
    assert project["authors"] == [{"name": "The knapper authors"}]
    assert re.fullmatch(r"[A-Z].*\.", project["description"]), "the description is a sentence"


@every_plugin
def test_its_entry_point_is_its_slug_and_its_package_or_it_is_a_program(member: Member) -> None:
    project = member.metadata["project"]
    if member.name in PROGRAMS:
        assert project["scripts"] == PROGRAMS[member.name]
        assert "entry-points" not in project
    else:
        assert "scripts" not in project
        assert project["entry-points"] == {"knapper": {member.slug: member.package}}


def test_the_core_brings_the_command_and_the_fixtures() -> None:
    project = TREE[0].metadata["project"]
    assert project["scripts"] == {"knapper": "knapper.cli:main"}
    assert project["entry-points"] == {"pytest11": {"knapper": "knapper.testing"}}


@every_plugin
def test_no_tool_is_configured_in_a_member(member: Member) -> None:
    assert set(member.metadata) == {"build-system", "project"}
    stray = {
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "ruff.toml",
        ".ruff.toml",
        "mypy.ini",
        "pytest.ini",
        "uv.lock",
    }
    assert stray.isdisjoint(file.name for file in member.path.iterdir())


@every
def test_it_is_a_typed_package_in_src(member: Member) -> None:
    assert [folder.name for folder in member.src.iterdir() if folder.name != "__pycache__"] == [
        member.package
    ]
    assert (member.src / member.package / "__init__.py").is_file()
    assert (member.src / member.package / "py.typed").is_file()


@every
def test_the_first_line_of_its_readme_says_what_it_is(member: Member) -> None:
    first = (member.path / "README.md").read_text(encoding="utf-8").partition("\n")[0]
    assert re.fullmatch(rf"# {re.escape(member.name)}: \S.{{9,}}", first), first


@every
def test_it_has_tests_of_its_own(member: Member) -> None:
    assert list(member.tests.rglob("test_*.py")), f"there is no test in {member.tests.relative_to(ROOT)}"


@every
def test_its_dependencies_are_bounded_on_both_sides(member: Member) -> None:
    for text in member.dependencies + member.test_dependencies:
        assert _is_bounded(Requirement(text)), f"{text!r} has no lower or no upper bound"


@every_plugin
def test_it_depends_on_the_core_by_the_common_range(member: Member) -> None:
    assert CORE in member.dependencies


@every
def test_of_this_tree_it_depends_only_on_what_it_may(member: Member) -> None:
    names = {other.name for other in TREE}
    inside = {requirement_name(text) for text in member.dependencies} & names
    assert inside <= _allowed(member)


@every
def test_of_this_tree_it_imports_only_what_it_depends_on(member: Member) -> None:
    packages = {other.package: other.name for other in TREE}
    depends = {requirement_name(text) for text in member.dependencies} | {member.name}
    for file in member.src.rglob("*.py"):
        foreign = {packages[name] for name in _imports(file) if name in packages} - depends
        assert not foreign, f"{file.relative_to(ROOT)} imports {sorted(foreign)}"


def test_the_umbrella_depends_on_every_distribution_but_the_examples() -> None:
    assert UMBRELLA["project"]["dependencies"] == scaffold.umbrella(ROOT), "run: python3 dev.py lint --fix"


def test_no_two_distributions_share_a_name_a_package_or_a_folder_of_tests() -> None:
    for key in ("name", "package", "tests"):
        values = [getattr(member, key) for member in TREE]
        assert len(values) == len(set(values))
    assert SHARED_TESTS.isdisjoint(member.tests.name for member in TREE)


def test_everything_from_outside_is_pinned_by_version_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9][\w.+!]*( ; .+)?", line)] == []
    assert [line for line in lines if "://" in line or " /" in line] == []
    own = {member.name for member in TREE}
    needed = {
        requirement_name(text) for member in TREE for text in member.dependencies + member.test_dependencies
    }
    missing = needed - own - {requirement_name(line) for line in pins}
    assert not missing, f"run: python3 dev.py pin (for {sorted(missing)})"


def test_the_changelog_has_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {UMBRELLA['project']['version']}\n" in changes


def _is_bounded(requirement: Requirement) -> bool:
    operators = {part.operator: part.version for part in requirement.specifier}
    # A version that is a date promises nothing by its first number, and time zones must stay new.
    dated = re.match(r"20\d\d\.", operators.get(">=", "")) is not None
    return ">=" in operators and (dated or "<" in operators)


def _allowed(member: Member) -> set[str]:
    if member.kind == "core":
        return set()
    return {"knapper-core", "knapper-companion"} if member.kind == "bridge" else {"knapper-core"}


def _imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
