"""`knapper plugin install`: the companion in a vault's own folder of plugins, where Obsidian finds it."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import click

from knapper.errors import KnapperError

# The manifest comes last: until it is there, what Obsidian shows is the version that was there before.
FILES = ("main.js", "versions.json", "manifest.json")
HINT = (
    "In Obsidian, under Settings, Community plugins: install and enable Local REST API, reload the list and enable"
    " {name}. Then put rest_api_url and rest_api_key into the vault's configuration."
)


class Manifest(NamedTuple):
    """What Obsidian knows a plugin by."""

    id: str
    name: str
    version: str


@click.group("plugin")
def plugin() -> None:
    """The companion, knapper's plugin inside Obsidian."""


@plugin.command("install")
@click.option(
    "--vault",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The vault's folder.",
)
def install(vault: Path) -> None:
    """Put the companion into a vault, or a newer one in place of an older."""
    contents, manifest = bundled()
    folder = vault / ".obsidian" / "plugins" / manifest.id
    before = installed(folder)
    try:
        put(folder, contents)
    except OSError as error:
        raise KnapperError(f"{folder}: cannot be written: {error.strerror}") from error
    click.echo(f"{_done(before, manifest)} in {folder}")
    click.echo(HINT.format(name=manifest.name), err=True)


def bundled() -> tuple[dict[str, bytes], Manifest]:
    """The files as they came with this distribution."""
    here = files("knapper_companion").joinpath("plugin")
    try:
        contents = {name: here.joinpath(name).read_bytes() for name in FILES}
    except OSError:
        contents = {}
    manifest = read_manifest(contents.get("manifest.json", b""))
    if manifest is None:
        raise KnapperError(
            "the companion did not come whole with this installation; reinstall knapper-companion"
        )
    return contents, manifest


def read_manifest(data: bytes) -> Manifest | None:
    """The manifest, if it says all that Obsidian needs."""
    try:
        found = json.loads(data)
        named = [found[field] for field in Manifest._fields]
    except (ValueError, KeyError, TypeError):
        return None
    return Manifest(*named) if all(isinstance(value, str) and value for value in named) else None


def installed(folder: Path) -> Manifest | None:
    """What is there already; None where it is nothing that Obsidian would load."""
    try:
        return read_manifest((folder / "manifest.json").read_bytes())
    except OSError:
        return None


def put(folder: Path, contents: dict[str, bytes]) -> None:
    """Write the files; what else is in the folder, such as settings, stays. No file is ever there in part."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        staged = {name: folder / f".{name}.{os.getpid()}.tmp" for name in contents}
        for name, part in staged.items():
            stack.callback(part.unlink, missing_ok=True)
            _write(part, contents[name])
        for name, part in staged.items():
            part.replace(folder / name)


def _write(file: Path, data: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _done(before: Manifest | None, now: Manifest) -> str:
    if before is None:
        return f"Installed {now.id} {now.version}"
    if before.version == now.version:
        return f"Installed {now.id} {now.version} again"
    return f"Replaced {now.id} {before.version} by {now.version}"
