"""Retrieval: passages for a query, what is related to them, what they link with, and a context packed from them."""

from __future__ import annotations

from knapper import Domain, hookimpl
from knapper.routes import Route
from knapper_retrieval import context, finding, graph, reading, related
from knapper_retrieval.domain import retrieval

__all__ = ["context", "finding", "graph", "reading", "related", "retrieval"]


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over with all its tools."""
    return retrieval


@hookimpl
def knapper_routes() -> list[Route]:
    """The same tools over plain HTTP, where the settings ask for it."""
    from knapper_retrieval.routes import routes

    return routes()
