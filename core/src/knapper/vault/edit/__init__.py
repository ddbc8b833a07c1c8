"""Edits to a note's text: one string for another, or a change at an anchor."""

from knapper.vault.edit.anchored import edit_anchor
from knapper.vault.edit.errors import (
    AnchorAmbiguous,
    AnchorNotFound,
    ContentSpills,
    EditError,
    StringNotFound,
)
from knapper.vault.edit.model import Anchor, Edited, Operation
from knapper.vault.edit.strings import replace_string

__all__ = [
    "Anchor",
    "AnchorAmbiguous",
    "AnchorNotFound",
    "ContentSpills",
    "EditError",
    "Edited",
    "Operation",
    "StringNotFound",
    "edit_anchor",
    "replace_string",
]
