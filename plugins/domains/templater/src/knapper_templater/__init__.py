"""Templater: run the templates of Obsidian's Templater plugin, with Obsidian closed."""

from knapper import Domain, hookimpl
from knapper_templater import executing, listing
from knapper_templater.domain import templater

__all__ = ["executing", "listing", "templater"]


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return templater
