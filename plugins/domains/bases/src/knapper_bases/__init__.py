"""Bases: Obsidian's .base files, read, changed and queried with Obsidian closed."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_bases import files, querying
from knapper_bases.domain import bases

__all__ = ["bases", "files", "querying"]


@hookimpl
def knapper_domains() -> Domain:
    return bases
