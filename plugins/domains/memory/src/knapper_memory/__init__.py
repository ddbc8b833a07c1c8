"""Memory: entities with observations and relations, and a note for each that people can read and add to."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_memory import entities, relations
from knapper_memory.domain import memory

__all__ = ["entities", "memory", "relations"]


@hookimpl
def knapper_domains() -> Domain:
    return memory
