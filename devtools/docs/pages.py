"""Which pages there are, and what goes into each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from devtools.docs import commands, contract, settings, tools
from devtools.docs.examples import example_of
from devtools.members import members
from knapper.plugins import Plugins
from knapper.registry import Registry

REGION = re.compile(r"<!-- generated: ([a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)


def registered(root: Path) -> Registry:
    """What the distributions of the tree register; examples and what else is installed are left out."""
    return Registry(Plugins.discover(only=_own(root), strict=True))


def _own(root: Path) -> list[str]:
    return [member.slug for member in members(root) if member.kind not in ("core", "example")]


def pages(root: Path) -> dict[Path, str]:
    """Every page with a generated part, as it should be now."""
    registry = registered(root)
    regions: dict[str, Callable[[], str]] = {
        "settings": settings.core,
        "plugin-settings": lambda: settings.sections(registry),
        "variables": settings.variables,
        "codes": contract.codes,
        "hooks": contract.hooks,
        "commands": lambda: commands.commands(registry.plugins),
        "tools": lambda: tools.listing(registry),
    }
    folder, own = root / "docs" / "domains", _own(root)
    found = {
        folder / f"{slug}.md": tools.page(registry, slug, example_of(slug, root, own))
        for slug in registry.domains
    }
    found[folder / "README.md"] = tools.overview(registry)
    for file in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        text = file.read_text(encoding="utf-8")
        if REGION.search(text):
            found[file] = REGION.sub(lambda match: _region(match[1], regions), text)
    return found


def _region(name: str, regions: dict[str, Callable[[], str]]) -> str:
    return f"<!-- generated: {name} -->\n{regions[name]().strip()}\n<!-- end -->"
