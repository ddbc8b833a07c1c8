"""QuickAdd: run the choices of Obsidian's QuickAdd plugin, with Obsidian closed."""

from knapper import Domain, hookimpl
from knapper_quickadd import listing, triggering
from knapper_quickadd.domain import quickadd

__all__ = ["listing", "quickadd", "triggering"]


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return quickadd
