"""The distributions of this tree: a folder's place says its name, its package, its entry point and its tests."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# Where each kind lives, and what stands before the folder's name in the distribution's.
KINDS = {
    "domain": ("plugins/domains", "knapper-"),
    "embedder": ("plugins/embedders", "knapper-embedder-"),
    "verifier": ("plugins/verifiers", "knapper-verifier-"),
    "sink": ("plugins/sinks", "knapper-sink-"),
    "bridge": ("bridges", "knapper-bridge-"),
    "example": ("examples", ""),
}
# Folders of tests/ that belong to no distribution.
SHARED_TESTS = frozenset({"acceptance", "conformance", "docs", "e2e", "load", "security", "workspace"})


@dataclass(frozen=True)
class Member:
    """One distribution: `root / folder` holds its pyproject.toml."""

    root: Path
    folder: str
    kind: str
    name: str

    @property
    def path(self) -> Path:
        return self.root / self.folder

    @property
    def src(self) -> Path:
        return self.path / "src"

    @property
    def slug(self) -> str:
        """The entry point's name."""
        return self.name.removeprefix("knapper-")

    @property
    def package(self) -> str:
        return "knapper" if self.kind == "core" else self.name.replace("-", "_")

    @property
    def tests(self) -> Path:
        return self.root / "tests" / self.slug.replace("-", "_")

    @property
    def pyproject(self) -> Path:
        return self.path / "pyproject.toml"

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Its pyproject.toml."""
        return read_toml(self.pyproject)

    @property
    def dependencies(self) -> list[str]:
        return list(self.metadata["project"].get("dependencies", []))

    @property
    def test_dependencies(self) -> list[str]:
        """What its tests need beyond the tools that all tests need."""
        return list(self.metadata["project"].get("optional-dependencies", {}).get("test", []))


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file; a mistake in it ends the command and names the file."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SystemExit(f"{file}: {error}") from error


def placed(root: Path, kind: str, folder_name: str) -> Member:
    """The distribution of that kind in a folder of that name, whether or not it exists yet."""
    parent, prefix = KINDS[kind]
    # The companion is the client that bridges share, not a bridge of its own.
    name = "knapper-companion" if (kind, folder_name) == ("bridge", "companion") else prefix + folder_name
    return Member(root, f"{parent}/{folder_name}", kind, name)


def members(root: Path = ROOT) -> list[Member]:
    """Every folder with a pyproject.toml where distributions live, the core first."""
    found = [Member(root, "core", "core", "knapper-core")]
    for kind, (parent, _) in KINDS.items():
        found += [
            placed(root, kind, file.parent.name) for file in sorted((root / parent).glob("*/pyproject.toml"))
        ]
    return [member for member in found if member.pyproject.is_file()]


def requirement_name(requirement: str) -> str:
    """The distribution a requirement names, in its normalised spelling."""
    end = next((i for i, char in enumerate(requirement) if char in " <>=!~;[@("), len(requirement))
    return requirement[:end].strip().lower().replace("_", "-").replace(".", "-")


def siblings(member: Member, tree: list[Member]) -> list[Member]:
    """The members that must be installed for this one to work: itself, and what it needs of this tree."""
    by_name = {other.name: other for other in tree}
    wanted, queue = {member.name: member}, [member]
    while queue:
        for requirement in queue.pop().dependencies:
            other = by_name.get(requirement_name(requirement))
            if other is not None and other.name not in wanted:
                wanted[other.name] = other
                queue.append(other)
    return list(wanted.values())


def group(root: Path, name: str) -> list[str]:
    """The requirements of a dependency group of the root pyproject.toml, included groups unfolded."""
    groups = read_toml(root / "pyproject.toml")["dependency-groups"]
    return [
        requirement
        for entry in groups[name]
        for requirement in (group(root, entry["include-group"]) if isinstance(entry, dict) else [entry])
    ]
