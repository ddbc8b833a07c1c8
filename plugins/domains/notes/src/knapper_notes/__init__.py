"""Notes: read, write, patch, move, copy and delete them."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_notes import changing, moving, reading
from knapper_notes.domain import notes

__all__ = ["changing", "moving", "notes", "reading"]


@hookimpl
def knapper_domains() -> Domain:
    return notes
