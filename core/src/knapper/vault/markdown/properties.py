"""The frontmatter of a note: where it stands, what it says, which links are in it."""

import re
from collections.abc import Iterator
from typing import Any

from knapper.vault import frontmatter
from knapper.vault.markdown import targets
from knapper.vault.markdown.model import Link, Parsed

_LINK = re.compile(r"\[\[(?!\[)((?:(?!\[\[|\]\])[^\n])+)\]\]")


def read_frontmatter(text: str, found: Parsed) -> int:
    """Read the frontmatter; the line the body begins on."""
    block = frontmatter.find(text) if text.startswith(("---", "\ufeff---")) else None
    if block is None:
        return 0
    inside = text[block.start : block.end]
    found.frontmatter_span = (text.startswith("\ufeff") + 0, block.end + 3)
    found.body = block.after
    try:
        found.frontmatter = frontmatter.load(inside)
    except frontmatter.FrontmatterError as error:
        found.frontmatter_error = str(error)
    if found.frontmatter and "[[" in inside:
        _add_links(text, found, block.start, block.end)
    return found.line(block.end) + 1


def _add_links(text: str, found: Parsed, at: int, stop: int) -> None:
    begin = at
    for key, value in _strings("", found.frontmatter):
        match = _LINK.fullmatch(value)
        target = targets.wikilink(match[1]) if match else None
        if target is None:
            continue
        start = _find(text, value, at, stop)
        if start < 0:
            start = _find(text, value, begin, stop)
        end = start + len(value) if start >= 0 else -1
        at = max(at, end)
        line, col = found.line_col(start) if start >= 0 else (found.line(begin), 0)
        found.links.append(
            Link(
                "wikilink",
                False,
                target.target,
                target.path,
                target.subpath,
                target.display,
                value,
                start,
                end,
                line,
                col,
                True,
                key,
            )
        )


def _find(text: str, value: str, at: int, stop: int) -> int:
    while (at := text.find(value, at, stop)) >= 0:
        # Not in a comment line.
        if not text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#"):
            return at
        at += len(value)
    return -1


def _strings(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(f"{key}.{name}" if key else str(name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(f"{key}.{index}" if key else str(index), inner)
