"""Adding text at the end or the start of a note without touching what is there."""

from __future__ import annotations

from knapper.vault import frontmatter


def insert(text: str, content: str, *, at_start: bool, after_frontmatter: bool, own_line: bool) -> str:
    """The text with content added; `own_line` sees to it that neither runs into the other's line."""
    if not content:
        return text
    at = len(text)
    if at_start:
        block = frontmatter.find(text) if after_frontmatter else None
        at = block.after if block else 0
    before, after = text[:at], text[at:]
    if own_line and before and not before.endswith("\n"):
        before += "\n"
    if own_line and not content.endswith("\n") and (after or text.endswith("\n") or not text):
        content += "\n"
    return before + content + after
