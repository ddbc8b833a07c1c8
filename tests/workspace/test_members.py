from pathlib import Path

import pytest

from devtools.alone import Outcome, choose
from devtools.members import group, members, placed, requirement_name, siblings


@pytest.mark.parametrize(
    ("kind", "folder", "names"),
    [
        ("domain", "notes", ("plugins/domains/notes", "knapper-notes", "knapper_notes", "notes", "notes")),
        (
            "embedder",
            "ollama",
            (
                "plugins/embedders/ollama",
                "knapper-embedder-ollama",
                "knapper_embedder_ollama",
                "embedder-ollama",
                "embedder_ollama",
            ),
        ),
        (
            "verifier",
            "jwt",
            (
                "plugins/verifiers/jwt",
                "knapper-verifier-jwt",
                "knapper_verifier_jwt",
                "verifier-jwt",
                "verifier_jwt",
            ),
        ),
        (
            "sink",
            "otel",
            ("plugins/sinks/otel", "knapper-sink-otel", "knapper_sink_otel", "sink-otel", "sink_otel"),
        ),
        (
            "bridge",
            "tasks",
            ("bridges/tasks", "knapper-bridge-tasks", "knapper_bridge_tasks", "bridge-tasks", "bridge_tasks"),
        ),
        (
            "bridge",
            "companion",
            ("bridges/companion", "knapper-companion", "knapper_companion", "companion", "companion"),
        ),
        (
            "example",
            "knapper-echo",
            ("examples/knapper-echo", "knapper-echo", "knapper_echo", "echo", "echo"),
        ),
    ],
)
def test_a_folder_says_all_the_names(kind: str, folder: str, names: tuple[str, ...]) -> None:
    member = placed(Path("/tree"), kind, folder)
    assert (member.folder, member.name, member.package, member.slug, member.tests.name) == names


def test_a_folder_without_a_pyproject_is_no_distribution(tree: Path) -> None:
    (tree / "plugins" / "domains" / "idea" / "src").mkdir(parents=True)
    assert [member.name for member in members(tree)] == ["knapper-core"]


def test_the_core_is_imported_as_knapper(tree: Path) -> None:
    assert [member.package for member in members(tree)] == ["knapper"]


def test_a_broken_pyproject_is_named(tree: Path) -> None:
    (tree / "core" / "pyproject.toml").write_text("[project\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"core.pyproject\.toml: "):
        _ = members(tree)[0].metadata


def test_what_a_bridge_needs_of_the_tree_is_found_through_what_it_needs(tree: Path) -> None:
    for folder, needs in (("companion", "knapper-core>=0.1,<1"), ("tasks", "knapper-companion[x]>=0.1,<1")):
        file = tree / "bridges" / folder / "pyproject.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f'[project]\ndependencies = ["{needs}", "httpx>=0.28,<1"]\n', encoding="utf-8")
    bridge = choose(members(tree), "bridge-tasks")
    assert {member.name for member in siblings(bridge, members(tree))} == {
        "knapper-bridge-tasks",
        "knapper-companion",
        "knapper-core",
    }


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("PyYAML>=6,<7", "pyyaml"),
        ("pyjwt[crypto]>=2,<3", "pyjwt"),
        ("tzdata; sys_platform == 'win32'", "tzdata"),
        ("ruamel.yaml ~= 0.18", "ruamel-yaml"),
        ("typing_extensions", "typing-extensions"),
    ],
)
def test_a_requirement_names_one_distribution(requirement: str, name: str) -> None:
    assert requirement_name(requirement) == name


def test_a_group_contains_the_groups_it_includes(tree: Path) -> None:
    assert group(tree, "dev") == ["pytest>=9,<10", "ruff>=0.17,<0.18"]


@pytest.mark.parametrize("name", ["knapper-core", "core", "core/"])
def test_a_distribution_is_chosen_by_name_slug_or_folder(tree: Path, name: str) -> None:
    assert choose(members(tree), name).name == "knapper-core"


def test_choosing_what_is_not_there_lists_what_is(tree: Path) -> None:
    with pytest.raises(SystemExit, match="no distribution is called 'notes'; there are: core"):
        choose(members(tree), "notes")


def test_an_outcome_is_one_line_that_ends_as_pytest_did() -> None:
    outcome = Outcome("knapper-core", passed=False, output="E  boom\n== 1 failed in 0.10s ==\n", seconds=1.25)
    assert outcome.line == "FAILED knapper-core                       1.2 s   1 failed in 0.10s"
