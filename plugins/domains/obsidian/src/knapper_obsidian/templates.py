"""The variables of Obsidian's own templates; everything else in a template stays as it is."""

from __future__ import annotations

import re
from datetime import datetime

from knapper import Context
from knapper.vault import moment, paths

VARIABLE = re.compile(r"\{\{\s*(title|date|time)\s*(?::([^}]*))?\}\}", re.IGNORECASE)


def expand(ctx: Context, template: str, path: str) -> str:
    """A template's text for a new note at this path, with dates in the formats that the vault is set to."""
    chosen, now = ctx.vault.settings("templates"), datetime.fromtimestamp(ctx.now())
    formats = {
        "date": chosen.get("dateFormat") or "YYYY-MM-DD",
        "time": chosen.get("timeFormat") or "HH:mm",
    }

    def replaced(match: re.Match[str]) -> str:
        name = match[1].lower()
        if name == "title":
            return paths.name(path).removesuffix(".md")
        return moment.format(now, match[2] or formats[name])

    return VARIABLE.sub(replaced, ctx.vault.read(template).text)
