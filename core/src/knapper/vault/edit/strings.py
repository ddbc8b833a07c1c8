"""The exact form of an edit: one string for another."""

from knapper.vault.edit.errors import EditError, StringNotFound
from knapper.vault.edit.model import Edited, dropped_lines
from knapper.vault.lines import with_line_ending


def replace_string(text: str, old: str, new: str, expected: int = 1) -> Edited:
    """Replace a string that occurs exactly `expected` times; line breaks in both are those of the file."""
    if not old:
        raise EditError("old_string is empty")
    endings = text.count("\r\n")
    if endings == text.count("\n") == text.count("\r") or "\r" not in text:
        eol = "\r\n" if endings else "\n"
        old, new = with_line_ending(old, eol), with_line_ending(new, eol)
    found = text.count(old)
    if found == 0 or found != expected:
        raise StringNotFound(found, expected)
    changed = text.replace(old, new)
    return Edited(changed, "old_string", dropped_lines(text, changed))
