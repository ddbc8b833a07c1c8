"""Variables: what the core plugin Templates fills in: {{title}}, {{date}} and {{time}}, the latter two with formats."""

from __future__ import annotations

import re
from datetime import datetime

from knapper.vault import moment
from knapper_templater.places import Places

_VARIABLE = re.compile(r"\{\{\s*(?:(title)|(date|time)\s*(?::([^}]*?))?)\s*\}\}", re.IGNORECASE)


def expand(text: str, title: str, now: datetime, places: Places) -> str:
    """A text with its variables filled in; everything else stays."""

    def filled(found: re.Match[str]) -> str:
        if found[1]:
            return title
        default = places.date_format if found[2].lower() == "date" else places.time_format
        return moment.format(now, found[3] or default)

    return _VARIABLE.sub(filled, text)
