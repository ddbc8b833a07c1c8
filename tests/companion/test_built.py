"""The plugin that is shipped is what its source gives: by a digest everywhere, by building it where npm answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from devtools.members import ROOT, members
from tests.companion.obsidian import BUILT, node

SOURCE = ROOT / "bridges" / "companion" / "plugin"
REBUILD = "run: cd bridges/companion/plugin && npm install --no-package-lock && npm run build"
# What npm says where it reaches no registry, or one that lacks a package.
OFFLINE = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ENETUNREACH",
    "ENOTCACHED",
    "E404",
)


def manifest() -> dict[str, str]:
    found: dict[str, str] = json.loads((BUILT / "manifest.json").read_bytes())
    return found


def digest() -> str:
    found = sha256()
    names = sorted(file.relative_to(SOURCE).as_posix() for file in (SOURCE / "src").rglob("*.ts"))
    for name in [*names, "build.mjs", "package.json"]:
        text = (SOURCE / name).read_text("utf-8")
        found.update(f"{name}\n{text}\n".encode())
    return found.hexdigest()


def test_the_shipped_file_names_the_source_it_was_built_from() -> None:
    head = (BUILT / "main.js").read_text("utf-8")[:400]
    assert f"sources sha256:{digest()} */" in head, REBUILD


@pytest.mark.parametrize("name", ["manifest.json", "versions.json"])
def test_what_stands_beside_it_is_the_sources(name: str) -> None:
    assert (BUILT / name).read_bytes() == (SOURCE / name).read_bytes(), REBUILD


def test_its_version_is_the_distributions() -> None:
    version = next(m for m in members(ROOT) if m.name == "knapper-companion").metadata["project"]["version"]
    package = json.loads((SOURCE / "package.json").read_bytes())
    versions = json.loads((BUILT / "versions.json").read_bytes())
    assert manifest()["version"] == package["version"] == version
    assert versions[version] == manifest()["minAppVersion"] == "1.7.0"


def test_it_needs_nothing_at_run_time_and_what_builds_it_is_pinned() -> None:
    package = json.loads((SOURCE / "package.json").read_bytes())
    assert package["license"] == "MIT"
    assert "dependencies" not in package
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())
    needed = set(re.findall(r'require\("([^"]+)"\)', (BUILT / "main.js").read_text("utf-8")))
    assert needed == {"obsidian"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source with what builds it, as package.json pins it."""
    node()
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, and building the plugin needs it")
    folder = tmp_path_factory.mktemp("plugin") / "plugin"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules"))
    command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry did not answer in time, and building the plugin needs it")
    if done.returncode and any(code in done.stderr for code in OFFLINE):
        pytest.skip("the npm registry cannot be reached, and building the plugin needs it")
    assert done.returncode == 0, done.stderr
    return folder


def test_building_the_source_gives_the_shipped_file_byte_for_byte(tree: Path, tmp_path: Path) -> None:
    subprocess.run([node(), "build.mjs", str(tmp_path)], cwd=tree, check=True, timeout=90)
    for name in ("main.js", "manifest.json", "versions.json"):
        assert (tmp_path / name).read_bytes() == (BUILT / name).read_bytes(), REBUILD


def test_the_source_is_sound_by_its_types(tree: Path) -> None:
    command = [node(), str(tree / "node_modules" / "typescript" / "bin" / "tsc"), "--noEmit"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout
