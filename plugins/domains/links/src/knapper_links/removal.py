"""Taking links out of a note without taking what people wrote beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from knapper.vault.lines import line_end, line_start, next_line
from knapper.vault.markdown import Link, ListItem
from knapper_links.hub import Hub, Placed


class Cut(NamedTuple):
    start: int
    end: int
    new: str = ""


def without(hub: Hub, gone: Sequence[Placed], *, with_annotation: bool = False) -> str | None:
    """The hub's text without these links, or None where that would change something else.

    A list item that is nothing but such links goes whole, and `with_annotation` also one that says a little more. A link
    among other links goes with its comma; one in a sentence leaves its words behind.
    """
    text = hub.text
    for cut in sorted(set(_cuts(hub, gone, with_annotation)), reverse=True):
        text = text[: cut.start] + cut.new + text[cut.end :]
    return text if _is_only_less(hub, Hub(text), gone) else None


def _cuts(hub: Hub, gone: Sequence[Placed], with_annotation: bool) -> Iterator[Cut]:
    starts = {one.link.start for one in gone}
    for one in gone:
        item, link = one.item, one.link
        if item is not None and _goes_whole(hub, item, starts, with_annotation):
            yield Cut(line_start(hub.text, item.start), next_line(hub.text, _filled(hub, item)))
        elif (cut := _among_links(hub, link, starts)) is not None:
            yield cut
        else:
            yield Cut(link.start, link.end, "" if link.embed else link.display)


def _goes_whole(hub: Hub, item: ListItem, starts: set[int], with_annotation: bool) -> bool:
    inside = [one for one in hub.parsed.links if item.start <= one.start < item.end]
    has_children = any(other.parent == item.line for other in hub.parsed.list_items)
    says_more = hub.prose(item.start, item.end) and not with_annotation
    return not has_children and not says_more and all(one.start in starts for one in inside)


def _filled(hub: Hub, item: ListItem) -> int:
    return item.start + len(hub.text[item.start : item.end].rstrip())


def _among_links(hub: Hub, link: Link, starts: set[int]) -> Cut | None:
    """The span of a link and what parts it from its neighbour, where its line says nothing but links.

    The line goes whole where all its links go, but for a list item, which would be left empty.
    """
    text = hub.text
    first, last = line_start(text, link.start), line_end(text, link.end)
    if hub.section_of(link).type not in ("paragraph", "list") or hub.prose(first, last):
        return None
    row = [one for one in hub.parsed.links if first <= one.start < last]
    at = row.index(link)
    if any(one.start not in starts for one in row[at + 1 :]):
        return Cut(link.start, row[at + 1].start)
    if any(one.start not in starts for one in row[:at]):
        return Cut(row[at - 1].end, link.end)
    return None if hub.item_of(link) else Cut(first, next_line(text, last))


def _is_only_less(before: Hub, after: Hub, gone: Sequence[Placed]) -> bool:
    """Whether exactly these links are gone and the note's properties and headings are as they were."""
    starts = {one.link.start for one in gone}
    kept = [one.link.original for one in before.links if one.link.start not in starts]
    return (
        [one.link.original for one in after.links] == kept
        and after.parsed.frontmatter_span == before.parsed.frontmatter_span
        and [h.level for h in after.parsed.headings] == [h.level for h in before.parsed.headings]
    )
