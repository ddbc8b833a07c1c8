"""Companion: the client of the plugin inside Obsidian, and that plugin itself."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from knapper import Bridge, Domain, hookimpl
from knapper.bridge import COMPANION
from knapper_companion.domain import companion
from knapper_companion.remote import Remote, companion_bridge, plugin_bridge

if TYPE_CHECKING:
    import click

__all__ = ["Remote", "companion", "companion_bridge", "plugin_bridge"]


@hookimpl
def knapper_domains() -> Domain:
    """The tool that looks again."""
    return companion


@hookimpl
def knapper_bridges() -> Bridge:
    """The companion itself, for what it does without another plugin."""
    return companion_bridge(COMPANION, lambda remote: remote)


@hookimpl
def knapper_commands(cli: click.Group) -> None:
    """`knapper plugin install`."""
    from knapper_companion.install import plugin

    cli.add_command(plugin)


@hookimpl
def knapper_lifespan(app: Any) -> AbstractContextManager[None]:
    """Probe at the start, and tell open panes of changes."""
    from knapper_companion.life import life

    return life(app)
