"""`knapper scripts`: the word of a person that a script may run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import click
import msgspec

from knapper import ToolError
from knapper.config.load import load
from knapper.config.paths import expanded
from knapper.runtime import state_path
from knapper.store.migrations import DomainTables
from knapper.store.state import State
from knapper.vault import paths
from knapper.vault.disk import Disk
from knapper_scripts import files
from knapper_scripts.domain import TABLES, ScriptSettings, scripts
from knapper_scripts.trust import Key, Trust

F = TypeVar("F", bound=Callable[..., Any])


def _source(command: F) -> F:
    config = click.option("--config", metavar="VAULT|CONFIG", help="The vault or file they belong to.")
    vault = click.option("--vault", help="The vault's id; needed where there are several.")
    return config(vault(command))


@click.group("scripts")
def command() -> None:
    """Trust Python files of a vault to be tools of its server."""


@command.command("list")
@_source
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(config: str | None, vault: str | None, as_json: bool) -> None:
    """List the scripts, and which of them are trusted. None of them is executed."""
    with _opened(config, vault) as place:
        rows = [_row(place, entry.path) for entry in files.found(place.disk, place.folder)]
        if as_json:
            click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
            return
        for row in rows:
            click.echo(f"{row['state']:9}  {row['hash'][:12]:12}  {row['path']}")
        click.echo(f"{len(rows)} scripts in {place.folder!r} of the vault {place.vault!r}", err=True)


@command.command("trust")
@click.argument("script", nargs=-1, required=True)
@_source
@click.option("--hash", "expected", help="Only if the script still has this SHA-256, or one that begins so.")
def trust(script: tuple[str, ...], config: str | None, vault: str | None, expected: str | None) -> None:
    """Let scripts run with the rights of the server, exactly as they are now. Read them first."""
    with _opened(config, vault) as place:
        sources = [files.read(place.disk, place.path(one)) for one in script]
        for source in sources:
            if not source.has_tool:
                raise click.ClickException(f"{source.path} has no `def tool(`: there is nothing to trust")
            if expected is not None and not source.hash.startswith(expected.lower()):
                raise click.ClickException(f"{source.path} has another hash: {source.hash}")
        for source in sources:
            place.trust.give(place.key(source.path), source.hash)
            click.echo(f"trusted  {source.hash[:12]}  {source.path}")


@command.command("untrust")
@click.argument("script", nargs=-1, required=True)
@_source
def untrust(script: tuple[str, ...], config: str | None, vault: str | None) -> None:
    """Take the trust back; a running server drops the tool at once."""
    with _opened(config, vault) as place:
        for one in script:
            path = place.path(one)
            if not place.trust.take(place.key(path)):
                raise click.ClickException(f"{path} was not trusted")
            click.echo(f"untrusted  {path}")


class _Place(NamedTuple):
    """One vault's folder of scripts, and what is trusted in it."""

    vault: str
    folder: str
    disk: Disk
    trust: Trust

    def path(self, given: str) -> str:
        """A script's path from the vault's root; it may be given from the folder of scripts."""
        path = paths.canonical(given)
        return path if path.startswith(f"{self.folder}/") else paths.join(self.folder, path)

    def key(self, path: str) -> Key:
        return self.vault, path


@contextmanager
def _opened(config: str | None, vault: str | None) -> Iterator[_Place]:
    settings = load(config).settings
    ids = [one.id for one in settings.vaults]
    if vault is None and len(ids) > 1:
        raise click.UsageError(f"--vault is needed: one of {', '.join(ids)}")
    chosen = next((one for one in settings.vaults if vault in (None, one.id)), None)
    if chosen is None:
        raise click.UsageError(f"there is no vault {vault!r}. There is: {', '.join(ids)}.")
    section = settings.section(scripts.slug, ScriptSettings)
    if not section.enabled:
        click.echo("Scripts are off: set scripts.enabled for a server to load them.", err=True)
    file = state_path(settings)
    state = State.open(file, domains=[DomainTables(scripts.slug, TABLES)])
    try:
        disk = Disk(expanded(chosen.path), exclude=chosen.exclude)
        yield _Place(chosen.id, section.of(chosen.id), disk, Trust(state))
    finally:
        state.close()


def _row(place: _Place, path: str) -> dict[str, str]:
    name = files.tool_name(path, place.folder)
    row = {"vault": place.vault, "path": path, "tool": name, "state": "refused", "hash": ""}
    try:
        source = files.read(place.disk, path)
    except ToolError as error:
        return {**row, "problem": error.message}
    if not source.has_tool:
        return {**row, "tool": "", "state": "helper", "hash": source.hash}
    known = place.trust.hashes().get(place.key(path))
    state = "untrusted" if known is None else "trusted" if known == source.hash else "changed"
    return {**row, "state": state, "hash": source.hash}
