"""Tags: list them, find notes by them, add and remove them."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_tags import changing, finding
from knapper_tags.domain import tags

__all__ = ["changing", "finding", "tags"]


@hookimpl
def knapper_domains() -> Domain:
    return tags
