"""The code blocks of a page: which files they are, and which commands can be run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# (\S+\.(?:py|toml))\n")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b(?!=)")
RUNNABLE = ("knapper ", "export ")


class Block(NamedTuple):
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The file a block is, where its first line names one."""
        found = NAMED.match(self.text)
        return found[1] if found else None

    @property
    def script(self) -> list[str]:
        """The commands of a console block; none where one of them is not ours to run."""
        lines = [line for line in self.text.splitlines() if line]
        if self.language != "console" or not all(line.startswith(RUNNABLE) for line in lines):
            return []
        return [line for line in lines if line.startswith("export ") or not PLACEHOLDER.search(line)]


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]
