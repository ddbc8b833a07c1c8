"""Search: by letter, by pattern, by rule, by meaning, by query, or by whichever fits."""

from __future__ import annotations

from knapper import Domain, hookimpl
from knapper_search import dql, indexing, logic, meaning, text, vault
from knapper_search.domain import search

__all__ = ["dql", "indexing", "logic", "meaning", "search", "text", "vault"]


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over with all its tools."""
    return search
