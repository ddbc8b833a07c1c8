"""Edits to the block that an id names; the id stays on it."""

import re
from difflib import get_close_matches

from knapper.vault.edit.errors import AnchorNotFound, ContentSpills
from knapper.vault.edit.guard import check_surroundings
from knapper.vault.edit.items import edit_item
from knapper.vault.edit.model import Edited, Operation, dropped_lines
from knapper.vault.edit.spacing import Content, put
from knapper.vault.lines import line_ending, line_start, next_line
from knapper.vault.markdown import Block, Parsed, parse

_INLINE = frozenset(("paragraph", "heading", "list", "blockquote", "callout"))
_HASHES = re.compile(r"#{1,6}[ \t]+")


def edit_block(text: str, parsed: Parsed, block_id: str, operation: Operation, content: str) -> Edited:
    """Change, or put something before or after, the block of an id."""
    key = block_id.lstrip("^").lower()
    block = parsed.blocks.get(key)
    if block is None:
        names = [found.id for found in parsed.blocks.values()]
        near = get_close_matches(block_id, names, n=5, cutoff=0.5) or names[:5]
        raise AnchorNotFound("no block has this id", [f"^{name}" for name in near])
    new = Content(content, line_ending(text))
    item = next(
        (item for item in parsed.list_items if (item.start, item.end) == (block.start, block.end)), None
    )
    if item is not None:
        changed = edit_item(text, parsed, item, block.id, operation, new)
    elif operation == "replace":
        changed = _replaced(text, parsed, block, new)
    else:
        at = (
            line_start(text, block.start) if operation == "prepend" else next_line(text, _id_end(text, block))
        )
        changed = put(text, parsed, at, at, new)
    if (new.text or operation != "replace") and key not in parse(changed).blocks:
        raise ContentSpills("the block would lose its id")
    check_surroundings(text, parsed, block.start, block.end, changed)
    dropped = dropped_lines(text[block.start : block.end], new.text) if operation == "replace" else 0
    return Edited(changed, f"^{block.id}", dropped)


def _id_end(text: str, block: Block) -> int:
    """Where the block's id ends: in its last line, or alone on a line below it."""
    below = re.compile(rf"[ \t]*(?:\r?\n[ \t]*)+\^{re.escape(block.id)}(?=\s|\Z)", re.IGNORECASE)
    found = below.match(text, block.end)
    return found.end() if found else block.end


def _replaced(text: str, parsed: Parsed, block: Block, new: Content) -> str:
    end = _id_end(text, block)
    if not new.text:
        return text[: line_start(text, block.start)] + text[next_line(text, end) :]
    if new.spills and text[block.end :].strip():
        raise ContentSpills("the content would swallow what follows it: something in it is not closed")
    body = new.text.rstrip("\r\n")
    hashes = _HASHES.match(text, block.start, block.end)
    if (
        hashes
        and not _HASHES.match(body)
        and any(heading.start == block.start for heading in parsed.headings)
    ):
        body = hashes[0] + body
    if end == block.end and not re.search(rf"\^{re.escape(block.id)}\Z", body, re.IGNORECASE):
        body += f" ^{block.id}" if new.kinds[-1] in _INLINE else f"{new.eol * 2}^{block.id}"
    return text[: block.start] + body + text[block.end :]
