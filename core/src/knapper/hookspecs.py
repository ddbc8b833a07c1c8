"""The extension contract: every hook a plugin may implement, and when it is called.

A plugin is a distribution with an entry point in the group `knapper` that names a module. The module implements any of
these functions, each marked with `hookimpl`. A hook hands over objects; it does no work of its own. Each plugin is
asked on its own, so one that fails costs only itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click

    from knapper.bridge import Bridge
    from knapper.domain import Domain
    from knapper.embed import Embedder
    from knapper.routes import Route
    from knapper.sinks import Sink
    from knapper.verify import Verifier

hookspec = pluggy.HookspecMarker("knapper")
hookimpl = pluggy.HookimplMarker("knapper")


@hookspec
def knapper_domains() -> Domain | Iterable[Domain]:
    """Tools, and with them settings, tables, extractors, jobs, prompts and services. Called once, at start."""
    raise AssertionError


@hookspec
def knapper_embedders() -> Embedder | Iterable[Embedder]:
    """Embedding providers by name; only the configured one is built, on first use."""
    raise AssertionError


@hookspec
def knapper_verifiers() -> Verifier | Iterable[Verifier]:
    """Checks of a bearer token; asked in the configured order, and a raise means refused."""
    raise AssertionError


@hookspec
def knapper_sinks() -> Sink | Iterable[Sink]:
    """Observers of finished calls and server events; they never delay or break a call."""
    raise AssertionError


@hookspec
def knapper_bridges() -> Bridge | Iterable[Bridge]:
    """Live engines of Obsidian plugins: a capability key, the plugin's id, and its calls."""
    raise AssertionError


@hookspec
def knapper_routes() -> Route | Iterable[Route]:
    """HTTP surfaces beside /mcp; called when the HTTP server starts."""
    raise AssertionError


@hookspec
def knapper_commands(cli: click.Group) -> None:
    """Add subcommands to the command line; called where a command is not the core's own, and for the help."""
    raise AssertionError


@hookspec
def knapper_lifespan(app: Any) -> AbstractContextManager[Any]:
    """A resource held for the server's life: entered when it starts, left when it stops."""
    raise AssertionError
