"""Sources: the texts that formats stand in, the note they are filled in for, and what no format here can do."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from knapper import Context, ToolError
from knapper.vault import paths
from knapper_quickadd.choices import part, text

EXTENSION = re.compile(r"\.(md|canvas|base)$", re.IGNORECASE)


class NeedsPlugin(Exception):
    """Something that only the plugin itself can do, by its name."""


class Place(NamedTuple):
    """The note a text is written for, for {{TITLE}} and {{FOLDER}}, and for links."""

    path: str = ""

    @property
    def title(self) -> str:
        """Its name without the extension."""
        leaf = paths.name(self.path)
        return leaf.rpartition(".")[0] or leaf


def with_extension(path: str) -> str:
    """A path as a file's, a note's where it names no other kind."""
    return path if EXTENSION.search(path) else f"{path}.md"


def template_text(ctx: Context, path: str) -> str:
    """The text of a template, whose `.md` may be left out."""
    given = path.strip().lstrip("/")
    file = with_extension(given)
    if not given or ctx.vault.exists(file) != "file":
        raise ToolError("note_not_found", f"the template {path!r} is not there", path=file)
    return ctx.vault.read(file).text


def plain_lines(source: str) -> str:
    """A format with its written-out line breaks as line breaks."""
    return source.replace("\\n", "\n")


def described(data: dict[str, Any], key: str) -> str:
    """A format of the settings where it is switched on, else nothing."""
    chosen = part(data, key)
    return text(chosen, "format") if chosen.get("enabled") is True else ""
