"""Candidate texts for one change to a YAML block: the most careful first, for the caller to verify."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import msgspec

from knapper.vault.frontmatter import spans
from knapper.vault.frontmatter.nodes import Node, value
from knapper.vault.frontmatter.spans import Entry
from knapper.vault.frontmatter.writing import Style, flow, key_text, list_lines, mapping_lines, render
from knapper.vault.lines import line_end, line_start, next_line

# Longer lists are written anew: finding what two of them share costs the square of their length.
_ALIGNED = 2_000


class Splice(NamedTuple):
    """Replace `text[start:end]`."""

    start: int
    end: int
    new: str


def apply(text: str, *splices: Splice) -> str:
    """A text with some spans replaced; they do not overlap."""
    for start, end, new in sorted(splices, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def setting(text: str, entry: Entry, new: Any, style: Style, in_flow: bool) -> Iterator[str]:
    """Ways to give an entry another value."""
    old = entry.value
    if (
        isinstance(new, list)
        and new
        and old.kind == "sequence"
        and 0 < len(old.items) <= _ALIGNED >= len(new)
    ):
        yield from _items(text, old, new, style)
    if in_flow or (
        old.kind in ("sequence", "mapping") and old.style == "flow" and isinstance(new, list | dict)
    ):
        yield _in_flow(text, entry, new, style)
    else:
        yield _in_block(text, entry, new, style, _quote(old))
        if isinstance(new, str):
            yield _in_block(text, entry, new, style, '"')


def adding(text: str, node: Node | None, name: str, new: Any, style: Style) -> Iterator[str]:
    """Ways to add an entry at the end of a mapping; the whole block where there is none yet."""
    if node is None or not node.keys:
        if node is not None and node.style == "flow":
            yield apply(text, Splice(node.start, node.end, flow({name: new}, style)))
        yield text + _lines(mapping_lines({name: new}, 0, style), style)
    elif node.style == "flow":
        yield _add_in_flow(text, node, name, new, style)
    else:
        column = node.keys[0].start - line_start(text, node.keys[0].start)
        at = next_line(text, spans.tail(text, node))
        lines = _lines(mapping_lines({name: new}, column, style), style)
        if column == 0:
            yield text + lines
        yield text[:at] + lines + text[at:]


def removing(text: str, node: Node, gone: list[Entry]) -> Iterator[str]:
    """Ways to take entries out of a mapping that keeps others."""
    if node.style == "flow":
        spots = [index for index, key in enumerate(node.keys) if any(key is entry.key for entry in gone)]
        starts = [key.start for key in node.keys]
        ends = [max(key.end, item.end) for key, item in zip(node.keys, node.items, strict=True)]
        yield apply(text, *_without(starts, ends, spots))
        return
    if not all(spans.owns_its_line(text, entry) for entry in gone):
        return
    starts = [line_start(text, entry.key.start) for entry in gone]
    tails = [next_line(text, spans.tail(text, entry.value)) for entry in gone]
    yield apply(text, *(Splice(start, end, "") for start, end in zip(starts, tails, strict=True)))
    # A block scalar above that keeps its trailing breaks would take over the blank lines left behind.
    ends = [_past_blank_lines(text, end) for end in tails]
    yield apply(text, *(Splice(start, end, "") for start, end in zip(starts, ends, strict=True)))


def emptying(text: str, root: Node) -> Iterator[str]:
    """Ways to take every entry out of a block: comments stay."""
    if root.style == "flow":
        yield ""
    else:
        pairs = zip(root.keys, root.items, strict=True)
        yield from removing(text, root, [Entry(key, item) for key, item in pairs])


def _past_blank_lines(text: str, offset: int) -> int:
    found = re.compile(r"(?:[ \t]*\r?\n)*").match(text, offset)
    return found.end() if found else offset


def _lines(lines: list[str], style: Style) -> str:
    return "".join(line + style.eol for line in lines)


def _in_flow(text: str, entry: Entry, new: Any, style: Style) -> str:
    old = entry.value
    written = flow(new, style, _quote(old))
    if old.start < old.end:
        return apply(text, Splice(old.start, old.end, written))
    has_colon = ":" in text[entry.key.end : old.start]
    return apply(text, Splice(old.start, old.end, f" {written}" if has_colon else f": {written}"))


def _in_block(text: str, entry: Entry, new: Any, style: Style, quote: str) -> str:
    old = entry.value
    colon = spans.after_colon(text, entry)
    column = entry.key.start - line_start(text, entry.key.start)
    head, body = render(new, column, style, quote)
    end = spans.tail(text, old)
    below = _lines(body, style)
    if old.start > line_end(text, colon):
        if not body and old.kind == "scalar" and head and old.style not in ("|", ">"):
            return apply(text, Splice(old.start, end, head))
        cut = Splice(next_line(text, colon), next_line(text, end), below)
        return apply(text, Splice(colon, colon, f" {head}" if head else ""), cut)
    rest = text[end : line_end(text, end)]
    if not rest.strip(" \t"):
        end += len(rest)
    start = old.start if head and old.start > colon else colon
    at = next_line(text, end)
    written = f" {head}" if head and start == colon else head
    return apply(text, Splice(start, end, written), Splice(at, at, below))


def _quote(node: Node) -> str:
    return (node.style or "plain") if node.kind == "scalar" and value(node) is not None else ""


def _common_quote(node: Node) -> str:
    """The quotes that all texts of a list are written in, where they agree on some."""
    quotes = {_quote(item) for item in node.items}
    return quotes.pop() if len(quotes) == 1 and quotes < {"'", '"'} else ""


def _items(text: str, node: Node, new: list[Any], style: Style) -> Iterator[str]:
    """Keep the items both lists share, as they are written; take out and put in the others."""
    old = value(node)
    steps = SequenceMatcher(None, _fingerprints(old), _fingerprints(new), autojunk=False).get_opcodes()
    changes = [(a, b, new[c:d]) for tag, a, b, c, d in steps if tag != "equal"]
    if node.style == "block":
        yield _block_items(text, node, changes, style)
    elif any(tag == "equal" for tag, *_ in steps):
        yield _flow_items(text, node, changes, style)


def _fingerprints(items: list[Any]) -> list[bytes]:
    return [msgspec.json.encode(item) + type(item).__name__.encode() for item in items]


def _block_items(text: str, node: Node, changes: list[tuple[int, int, list[Any]]], style: Style) -> str:
    starts = spans.dashes(text, node)
    ends = [next_line(text, spans.tail(text, item)) for item in node.items]
    column = text.index("-", starts[0]) - starts[0]
    splices = []
    for first, last, fresh in changes:
        lines = _lines(list_lines(fresh, column, style, _common_quote(node)), style)
        cuts = [Splice(starts[index], ends[index], "") for index in range(first, last)]
        at = starts[first] if first < last else ends[first - 1] if first else starts[0]
        if cuts:
            cuts[0] = cuts[0]._replace(new=lines)
            splices += cuts
        else:
            splices.append(Splice(at, at, lines))
    return apply(text, *splices)


def _flow_items(text: str, node: Node, changes: list[tuple[int, int, list[Any]]], style: Style) -> str:
    starts = [item.start for item in node.items]
    ends = [item.end for item in node.items]
    splices = []
    for first, last, fresh in changes:
        written = ", ".join(flow(item, style, _common_quote(node)) for item in fresh)
        if fresh and first < last:
            splices.append(Splice(starts[first], ends[last - 1], written))
        elif fresh:
            at, new = (ends[first - 1], f", {written}") if first else (starts[0], f"{written}, ")
            splices.append(Splice(at, at, new))
        else:
            splices += _without(starts, ends, list(range(first, last)))
    return apply(text, *splices)


def _without(starts: list[int], ends: list[int], spots: list[int]) -> list[Splice]:
    """Take parts and one of their separators out of a flow collection that keeps at least one."""
    kept = [index for index in range(len(starts)) if index not in spots]
    last_kept = kept[-1]
    inner = [Splice(starts[index], starts[index + 1], "") for index in spots if index < last_kept]
    return inner + ([Splice(ends[last_kept], ends[-1], "")] if last_kept < len(starts) - 1 else [])


def _add_in_flow(text: str, node: Node, name: str, new: Any, style: Style) -> str:
    end = max(node.keys[-1].end, node.items[-1].end)
    if len(node.keys) > 1:
        between = text[max(node.keys[-2].end, node.items[-2].end) : node.keys[-1].start]
    else:
        between = "," + text[node.start + 1 : node.keys[0].start]
    separator = between if re.fullmatch(r"\s*,\s*", between) and between[-1].isspace() else ", "
    written = f"{separator}{key_text(name, style)}: {flow(new, style)}"
    return apply(text, Splice(end, end, written))
