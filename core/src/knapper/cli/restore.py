"""`knapper restore`: a backup in place of the state, after proving that it is whole."""

from __future__ import annotations

from pathlib import Path

import click

from knapper.cli._options import source
from knapper.cli._source import STATE, found_plugins
from knapper.config.load import load
from knapper.config.paths import cache_dir


@click.command("restore")
@click.argument("backup", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@source
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(backup: Path, path: str | None, yes: bool) -> None:
    """Put a backup in place of the state. Stop the servers first; notes are never touched."""
    from knapper.registry import Registry
    from knapper.store.migrations import DomainTables
    from knapper.store.state import State

    settings = load(path).settings
    file = cache_dir(settings) / STATE
    if file.exists() and not yes:
        click.confirm(f"Replace the state in {file.parent.name} by {backup.name}?", abort=True)
    domains = Registry(found_plugins(settings)).domains.values()
    tables = [DomainTables(domain.slug, domain.tables) for domain in domains if domain.tables]
    State.restore(backup, file, domains=tables)
    click.echo(f"Restored from {backup.name}.", err=True)
