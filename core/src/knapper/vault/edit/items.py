"""Edits to a list item that an id names, among its siblings and above its children."""

import re

from knapper.vault.edit.model import Operation
from knapper.vault.edit.spacing import Content, put_lines
from knapper.vault.lines import line_start, next_line
from knapper.vault.markdown import ListItem, Parsed

_MARKER = re.compile(r"[ \t]*([-*+]|\d{1,9}[.)])([ \t]+)(\[.\][ \t]+)?")
_QUOTE = re.compile(r"(?:[ \t]{0,3}>[ \t]?)*")


def edit_item(text: str, parsed: Parsed, item: ListItem, id: str, operation: Operation, new: Content) -> str:
    """Change an item's own text, or put lines before it or after it and its children."""
    start = line_start(text, item.start)
    marker = _MARKER.match(text, item.start)
    begin = marker.start(1) if marker else item.start
    if operation == "replace":
        return _replaced(text, item, id, text[start:begin], marker, new)
    at = start if operation == "prepend" else next_line(text, _tree_end(text, parsed, item))
    return _beside(text, at, text[start:begin], new)


def _tree_end(text: str, parsed: Parsed, item: ListItem) -> int:
    """Where the last of an item and its children ends, blank lines left out."""
    tree, end = {item.line}, item.end
    for other in parsed.list_items:
        if other.parent in tree and other.start > item.start:
            tree.add(other.line)
            end = max(end, other.end)
    return item.start + len(text[item.start : end].rstrip())


def _beside(text: str, at: int, prefix: str, new: Content) -> str:
    if not new.text:
        return text
    quote = _QUOTE.match(prefix)
    own = prefix if new.text[0] not in " \t" else quote[0] if quote else ""
    lines = new.eol.join((own + line).rstrip() if not line.strip() else own + line for line in new.lines)
    above = text[line_start(text, at - 1) : at].strip("\r\n") if at else ""
    is_list = new.kinds[0] == "list" or new.text[0] in " \t"
    gap = "" if is_list or not above.strip(" \t>") else (quote[0].rstrip() if quote else "") + new.eol
    return put_lines(text, at, at, Content(lines, new.eol), gap)


def _replaced(
    text: str, item: ListItem, id: str, prefix: str, marker: re.Match[str] | None, new: Content
) -> str:
    end = item.start + len(text[item.start : item.end].rstrip())
    if not new.text:
        return text[: line_start(text, item.start)] + text[next_line(text, end) :]
    lines = new.lines
    if marker is None or _MARKER.match(lines[0]):
        lines[0] = lines[0].lstrip(" \t")
        begin, indent = item.start if marker is None else marker.start(1), prefix
    else:
        begin, indent = marker.end(), prefix + " " * len(marker[1] + marker[2])
    children = next((index for index, line in enumerate(lines) if index and _MARKER.match(line)), len(lines))
    if not re.search(rf"\^{re.escape(id)}\s*\Z", lines[children - 1], re.IGNORECASE):
        lines[children - 1] = f"{lines[children - 1].rstrip()} ^{id}"
    written = [lines[0], *(indent + line if line.strip() else line for line in lines[1:])]
    return text[:begin] + new.eol.join(written) + text[end:]
