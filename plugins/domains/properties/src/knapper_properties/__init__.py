"""Properties: the frontmatter of notes, read, changed byte for byte, and searched."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_properties import changing, searching
from knapper_properties.domain import properties

__all__ = ["changing", "properties", "searching"]


@hookimpl
def knapper_domains() -> Domain:
    return properties
