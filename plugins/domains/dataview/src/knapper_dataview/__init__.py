"""Dataview without Obsidian: its query language over the notes of a vault."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_dataview import asking
from knapper_dataview.domain import dataview

__all__ = ["asking", "dataview"]


@hookimpl
def knapper_domains() -> Domain:
    return dataview
