"""Links that a choice leaves in the note that is open; without an editor there is no cursor, so they go to its end."""

from __future__ import annotations

from typing import Any

from knapper_quickadd.active import link_to
from knapper_quickadd.choices import flag
from knapper_quickadd.formats import Formats
from knapper_quickadd.placing import at_edge
from knapper_quickadd.plans import Plan


def append_link(formats: Formats, data: dict[str, Any], plan: Plan, path: str) -> None:
    """Have a link to a note written into the one that is open, where the choice is set so."""
    rules = data.get("appendLink")
    wanted = flag(rules, "enabled") if isinstance(rules, dict) else rules is True
    if not wanted or formats.active == path:
        return
    if formats.active is None:
        if not isinstance(rules, dict) or rules.get("requireActiveFile") is not False:
            formats.need_active("the note that is open, which gets a link")
        return
    link = link_to(formats.ctx, path, formats.active)
    plan.edit(formats.active, lambda note: at_edge(note, link, top=False))
