"""Links: what a note points at, what points at it, what points nowhere, and how to mend it."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_links import finding, pruning, rewriting
from knapper_links.domain import links

__all__ = ["finding", "links", "pruning", "rewriting"]


@hookimpl
def knapper_domains() -> Domain:
    return links
