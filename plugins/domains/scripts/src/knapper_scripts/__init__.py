"""Scripts: Python files of a vault as tools of its server, off by default, and only once a person has trusted them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from knapper import Domain, hookimpl
from knapper_scripts.domain import scripts

if TYPE_CHECKING:
    import click

__all__ = ["scripts"]


@hookimpl
def knapper_domains() -> Domain:
    return scripts


@hookimpl
def knapper_lifespan(app: Any) -> AbstractContextManager[None]:
    """Follow the scripts while the server runs."""
    from knapper_scripts.life import running

    return running(app)


@hookimpl
def knapper_commands(cli: click.Group) -> None:
    from knapper_scripts.commands import command

    cli.add_command(command)
