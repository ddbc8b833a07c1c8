"""Notes: read, write, patch, move, copy and delete them."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_notes import moving, patching, reading, writing
from knapper_notes.domain import notes

__all__ = ["moving", "notes", "patching", "reading", "writing"]


@hookimpl
def knapper_domains() -> Domain:
    return notes
