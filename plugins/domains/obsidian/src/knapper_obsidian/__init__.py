"""Obsidian: the nine obsidian_* tools of an existing contract, with its error numbers, on the files themselves."""

from knapper import Domain, hookimpl
from knapper_obsidian import moving, opening, reading, writing
from knapper_obsidian.domain import obsidian

__all__ = ["moving", "obsidian", "opening", "reading", "writing"]


@hookimpl
def knapper_domains() -> Domain:
    return obsidian
