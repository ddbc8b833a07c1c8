"""Sections: the part of a note that a link with `#heading` or `#^block` names."""

from __future__ import annotations

from knapper.vault.edit.headings import loose
from knapper.vault.markdown import Heading, parse


def section(text: str, subpath: str) -> str | None:
    """The text from a heading to the next one of its level, or of a block; None where there is no such part."""
    parsed = parse(text)
    if subpath.startswith("#^"):
        block = parsed.blocks.get(subpath[2:].strip().lower())
        return text[block.start : block.end] if block else None
    found: Heading | None = None
    headings = iter(parsed.headings)
    for wanted in subpath.strip("#").split("#"):
        above = found
        found = next((h for h in headings if loose(h.text) == loose(wanted)), None)
        if found is None or (above is not None and found.level <= above.level):
            return None
    if found is None:
        return None
    following = next((h for h in headings if h.level <= found.level), None)
    return text[found.start : following.start if following else len(text)]
