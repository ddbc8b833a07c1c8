"""`knapper backup`: a copy of the state, made while servers go on working."""

from __future__ import annotations

import time
from pathlib import Path

import click

from knapper.cli._options import source
from knapper.cli._source import one_state
from knapper.cli._terminal import size


@click.command("backup")
@source
@click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; a name with the date in this folder where absent.",
)
def command(path: str | None, target: Path | None) -> None:
    """Copy the state (history, audit, confirmations, memory) into one file, whose name goes to stdout.

    The notes are files of your vault and the index is derived from them: neither is in it.
    """
    from knapper.store import backup

    file = target or Path(f"knapper-state-{time.strftime('%Y%m%d-%H%M%S')}.db")
    backup.copy(one_state(path), file.absolute())
    click.echo(str(file))
    click.echo(f"{size(file.stat().st_size)} written", err=True)
