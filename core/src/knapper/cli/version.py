"""`knapper version`: what is installed."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import distributions

import click

from knapper import __version__
from knapper.cli._options import as_json
from knapper.cli._terminal import print_json


@click.command("version")
@as_json
def command(as_json: bool) -> None:
    """Say which version this is; with --json also of Python and of every installed plugin."""
    if not as_json:
        click.echo(f"knapper {__version__}")
        return
    plugged = {d.name: d.version for d in distributions() if d.entry_points.select(group="knapper")}
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print_json(
        {
            "version": __version__,
            "python": python,
            "platform": sys.platform,
            "plugins": dict(sorted(plugged.items())),
        }
    )
