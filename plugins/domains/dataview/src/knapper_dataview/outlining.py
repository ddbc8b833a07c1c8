"""A parsed note as the engine's outline: what the core found once is not looked for again."""

from __future__ import annotations

from knapper.vault.markdown import ListItem, Parsed
from knapper_dataview.engine import Outline, OutlineItem
from knapper_dataview.engine.outline import item_parts, last_line
from knapper_dataview.engine.values import Link


def outline_of(parsed: Parsed, lines: list[str]) -> Outline:
    """Headings, items, links and tags by their lines."""
    items = _items(parsed, lines) if parsed.list_items else []
    return Outline(
        headings=[(heading.line, heading.text) for heading in parsed.headings],
        items=items,
        links=_links(parsed),
        tags=[tag.tag for tag in parsed.tags],
        in_lists={number for item in items for number in range(item.line, item.end + 1)},
    )


def _items(parsed: Parsed, lines: list[str]) -> list[OutlineItem]:
    list_lines: dict[int, int] = {}
    found: list[OutlineItem] = []
    for item in parsed.list_items:
        if item.line in list_lines:  # an item that begins inside another, as in `- 1. one`, is a line of it
            continue
        root = item.parent < 0 or item.parent not in list_lines
        list_lines[item.line] = _list_line(item, found) if root else list_lines[item.parent]
        symbol, text = item_parts(lines[item.line])
        found.append(
            OutlineItem(
                line=item.line,
                end=last_line(lines, item.line, parsed.line(item.end)),
                list_line=list_lines[item.line],
                symbol=symbol,
                text=text,
                task=item.task,
                parent=None if root else item.parent,
                block=item.id,
            )
        )
    return found


def _list_line(item: ListItem, before: list[OutlineItem]) -> int:
    # -1 stands for a list that begins on line 0 as well as for one that begins on line 1.
    if item.parent != -1:
        return -item.parent
    return before[0].list_line if before else item.line


def _links(parsed: Parsed) -> dict[int, list[Link]]:
    found: dict[int, list[Link]] = {}
    for link in parsed.links:
        if not link.in_frontmatter:
            found.setdefault(link.line, []).append(
                Link.infer(link.path + link.subpath, link.display, link.embed)
            )
    return found
