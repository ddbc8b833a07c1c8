"""`knapper index`: bring the index of the vaults level with their files now, and embed what has no vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from knapper.cli._names import check
from knapper.cli._options import source
from knapper.config.load import load
from knapper.errors import ToolError
from knapper.vault.paths import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

    from knapper.vaults import Vault


@click.command("index")
@source
@click.option("--vault", help="Only this vault.")
@click.option("--folder", default="", help="Only what is below this folder.")
@click.option("--force", is_flag=True, help="Read every note again, changed or not.")
def command(path: str | None, vault: str | None, folder: str, force: bool) -> int:
    """Index now instead of while serving. Exits 1 where a note has no vector that should have one."""
    from knapper.runtime import open_runtime

    settings = load(path).settings
    if vault is not None:
        check("vault", vault, [one.id for one in settings.vaults])
    runtime = open_runtime(settings)
    try:
        chosen = [runtime.vaults.get(vault)] if vault else list(runtime.vaults)
        if folder:
            chosen = _having(chosen, canonical(folder.strip("/")))
        return max([_index(one, folder, force) for one in chosen])
    finally:
        runtime.close()


def _having(vaults: list[Vault], folder: str) -> list[Vault]:
    """The vaults that have this folder."""
    found = [v for v in vaults if (stat := v.disk.listed(folder)) is not None and stat.kind == "folder"]
    if not found:
        check("folder", folder, {e.path for v in vaults for e in v.disk.walk() if e.kind == "folder"})
    return found


def _index(vault: Vault, folder: str, force: bool) -> int:
    from rich.console import Console
    from rich.progress import Progress

    shown = Console(stderr=True)
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as bars:
        result = vault.index.reconcile(folder.strip("/"), force=force, progress=_report(bars, vault.id))
        embedded = _embed(vault, bars)
    click.echo(
        f"{vault.id}: {result.upserted} indexed, {result.deleted} removed, {result.unchanged} unchanged{embedded}",
        err=True,
    )
    return 1 if vault.index.vectors.available and vault.index.vectors.refused() else 0


def _report(bars: Progress, id: str) -> Callable[[int, int], None]:
    bar = bars.add_task(f"{id}: notes", total=None)

    def report(done: int, total: int) -> None:
        bars.update(bar, completed=done, total=total)

    return report


def _embed(vault: Vault, bars: Progress) -> str:
    vectors = vault.index.vectors
    if not vectors.available:
        return ""
    bars.add_task(f"{vault.id}: vectors", total=None)
    try:
        vectors.embed_now()
    except ToolError as error:
        raise ToolError(error.code, f"vectors of {vault.id!r}: {error.message}") from error
    return f", {vectors.refused()} chunk(s) refused by the model" if vectors.refused() else ", vectors ready"
