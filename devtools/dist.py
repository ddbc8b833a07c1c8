"""Every distribution as it would be published: built, opened, and loaded from what was built.

`python -m devtools.dist` in .venv leaves the files in dist/ and needs no network.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PathDistribution, distributions
from pathlib import Path

from devtools import builds
from devtools.environment import say
from devtools.members import ROOT, Member, members


def main(root: Path = ROOT) -> int:
    """Build and check them all; print what is wrong, and say so in the exit code."""
    out, work = root / "dist", root / ".build" / "dist"
    for folder in (out, work):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    site, tree = work / "site", members(root)
    wrong = [f"knapper: {fault}" for fault in _found(_umbrella(root, out))]
    for member in tree:
        wrong += [f"{member.name}: {fault}" for fault in _found(check(member, out, work, site))]
    wrong += list(_loading(site))
    for fault in wrong:
        say(fault)
    say(f"{len(tree) + 1} distributions built into {out}, {len(wrong)} faults.")
    return 1 if wrong else 0


def _found(faults: Iterator[str]) -> list[str]:
    """The faults of one distribution; one that cannot be built has that fault and does not hide the others'."""
    try:
        return list(faults)
    except (
        OSError,
        ValueError,
        TypeError,
    ) as error:  # what hatchling raises over a pyproject or a missing file
        return [f"cannot be built: {error}"]


def _umbrella(root: Path, out: Path) -> Iterator[str]:
    with zipfile.ZipFile(builds.wheel(root, out)) as wheel:
        code = [name for name in wheel.namelist() if ".dist-info/" not in name]
    if code:
        yield f"the umbrella must carry no code, and has {code[0]}"
    builds.sdist(root, out)


def check(member: Member, out: Path, work: Path, site: Path) -> Iterator[str]:
    """Build the distribution into `out`, unpack its wheel into `site`, and say what is wrong with it."""
    with zipfile.ZipFile(builds.wheel(member.path, out)) as wheel:
        wheel.extractall(site)
        shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    info = PathDistribution(next(site.glob(f"{member.name.replace('-', '_')}-*.dist-info")))
    yield from _metadata(member, info)
    yield from (f"the wheel lacks {name}" for name in sorted(_sources(member) - shipped))
    yield from (f"the sdist cannot rebuild {name}" for name in sorted(shipped - _rebuilt(member, out, work)))


def _metadata(member: Member, info: Distribution) -> Iterator[str]:
    project = member.metadata["project"]
    for field, wanted in (
        ("Name", member.name),
        ("Version", project["version"]),
        ("License-Expression", "MIT"),
    ):
        if info.metadata[field] != wanted:
            yield f"{field} is {info.metadata[field]!r} and should be {wanted!r}"
    text = info.metadata.json.get("description", "")
    if not text or info.metadata["Description-Content-Type"] != "text/markdown":
        yield "the README did not become the description"


def _sources(member: Member) -> set[str]:
    """What lies in src/ must be in the wheel, data files included; .gitignore leaves files out in silence."""
    files = (file for file in member.src.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(member.src).as_posix() for file in files}


def _rebuilt(member: Member, out: Path, work: Path) -> set[str]:
    archive = builds.sdist(member.path, out)
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")
    with zipfile.ZipFile(builds.wheel(work / archive.name.removesuffix(".tar.gz"), work)) as wheel:
        return set(wheel.namelist())


def _loading(site: Path) -> Iterator[str]:
    """Load every entry point from the built files, which stand before the editable sources on the path."""
    sys.path.insert(0, str(site))
    for info in distributions(path=[str(site)]):
        for point in info.entry_points:
            try:
                point.load()
            except Exception as error:  # noqa: BLE001 - whatever a plugin raises is the finding
                yield f"{info.name}: entry point {point.name!r} does not load: {type(error).__name__}: {error}"
                continue
            if not str(sys.modules[point.module].__file__).startswith(str(site)):
                yield f"{info.name}: {point.module} was not loaded from its wheel"


if __name__ == "__main__":
    sys.exit(main())
