"""Edits to the section of a heading: its heading line stays, and so do the blank lines around its text."""

from knapper.vault.edit.guard import check_surroundings
from knapper.vault.edit.headings import Place, find_heading
from knapper.vault.edit.model import Edited, Operation, dropped_lines
from knapper.vault.edit.spacing import Content, put
from knapper.vault.lines import line_ending, line_start, next_line
from knapper.vault.markdown import Parsed


def edit_section(text: str, parsed: Parsed, wanted: str, operation: Operation, content: str) -> Edited:
    """Change the section of one heading."""
    place = find_heading(text, parsed, wanted)
    new = Content(content, line_ending(text))
    first, last = _filled(text, place)
    if operation == "append":
        first = last
    elif operation == "prepend":
        last = first
    elif not new.text and last < place.end:
        first = place.body
    changed = put(text, parsed, first, last, new)
    check_surroundings(text, parsed, first, last, changed)
    return Edited(changed, place.name, dropped_lines(text[first:last], new.text))


def _filled(text: str, place: Place) -> tuple[int, int]:
    """A section's lines from the first to the last with text; none, right below the heading, where it is empty."""
    body = text[place.body : place.end]
    filled = body.strip(" \t\r\n")
    if not filled:
        return place.body, place.body
    start = place.body + body.index(filled)
    return line_start(text, start), next_line(text, start + len(filled))
