"""A new distribution of the one shape, with a first test that passes."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from devtools.environment import say
from devtools.members import KINDS, SHARED_TESTS, Member, members, placed

SCAFFOLDED = ("domain", "embedder", "verifier", "sink", "bridge")
RANGE = ">=0.1,<1"
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TEMPLATES = Path(__file__).parent / "templates"


def new(root: Path, kind: str, name: str, summary: str = "") -> Member:
    """Write a distribution of that kind, its tests, and its line in the umbrella."""
    member = _checked(root, kind, name)
    values = _values(member, name, _sentence(summary or f"The {name} {kind}"))
    for template, file in _files(member).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        text = (_TEMPLATES / template).read_text(encoding="utf-8")
        file.write_text(Template(text).substitute(values), encoding="utf-8")
    (member.src / member.package / "py.typed").touch()
    update_umbrella(root)
    say(f"{member.name} is in {member.folder}, its tests are in {member.tests.relative_to(root).as_posix()}")
    return member


def update_umbrella(root: Path) -> None:
    """Make the umbrella depend on every distribution of the tree but the examples."""
    file = root / "pyproject.toml"
    text = file.read_text(encoding="utf-8")
    lines = "".join(f'  "{requirement}",\n' for requirement in umbrella(root))
    file.write_text(
        re.sub(r"(?m)^dependencies = \[\n(?:  .*\n)*\]", f"dependencies = [\n{lines}]", text),
        encoding="utf-8",
    )


def umbrella(root: Path) -> list[str]:
    """What the umbrella has to depend on."""
    return sorted(f"{member.name}{RANGE}" for member in members(root) if member.kind != "example")


def _checked(root: Path, kind: str, name: str) -> Member:
    if kind not in SCAFFOLDED:
        raise SystemExit(f"{kind!r} is no kind of plugin; there are: {', '.join(SCAFFOLDED)}")
    if not _NAME.fullmatch(name):
        raise SystemExit(
            f"{name!r} is no name: lower-case letters and digits, with single dashes between words"
        )
    member = placed(root, kind, name)
    others = [
        placed(root, other, "x").slug.removesuffix("x")
        for other in KINDS
        if other not in ("domain", "example")
    ]
    if kind == "domain" and (name in {*SHARED_TESTS, "core", "companion"} or name.startswith(tuple(others))):
        raise SystemExit(f"{name!r} would pass for something else of this tree; choose another name")
    for taken in (member.path, member.tests):
        if taken.exists() and any(taken.iterdir()):
            raise SystemExit(f"{taken.relative_to(root).as_posix()} is there already")
    return member


def _sentence(summary: str) -> str:
    if re.search(r'["\\\n]', summary):
        raise SystemExit(
            "a summary is one line without quotes or backslashes: it stands in TOML, Markdown and Python"
        )
    return summary[:1].upper() + summary[1:].rstrip(".") + "."


def _values(member: Member, name: str, summary: str) -> dict[str, str]:
    title = name.replace("-", " ")
    return {
        "distribution": member.name,
        "entry": member.slug,
        "identifier": name.replace("-", "_"),
        "key": name,
        "package": member.package,
        "range": RANGE,
        "summary": summary,
        "summary_phrase": summary[:1].lower() + summary[1:].rstrip("."),
        "title": title[:1].upper() + title[1:],
    }


def _files(member: Member) -> dict[str, Path]:
    return {
        "pyproject.toml.txt": member.pyproject,
        "README.md.txt": member.path / "README.md",
        f"{member.kind}.py.txt": member.src / member.package / "__init__.py",
        f"test_{member.kind}.py.txt": member.tests / f"test_{member.slug.replace('-', '_')}.py",
    }
