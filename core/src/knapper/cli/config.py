"""`knapper config`: the configuration as it takes effect, whether it is right, and where each value comes from."""

from __future__ import annotations

from typing import Any

import click

from knapper.cli._options import as_json, source
from knapper.cli._source import found_plugins
from knapper.cli._terminal import print_json, quiet, table
from knapper.config import toml
from knapper.config.load import Loaded, leaves, load
from knapper.config.paths import expanded
from knapper.config.redact import redacted
from knapper.config.sections import sections
from knapper.errors import ConfigError, PluginError

SOURCES = ("flag", "env", "file", "profile", "derived", "default")


@click.group("config")
def command() -> None:
    """Show, check and explain the configuration."""


@command.command("show")
@source
@as_json
def show(path: str | None, as_json: bool) -> None:
    """Print the configuration in effect, as TOML, without its secrets."""
    shown = redacted(effective(load(path)))
    if as_json:
        print_json(shown)
    else:
        click.echo(toml.dumps(shown), nl=False)


@command.command("validate")
@source
def validate(path: str | None) -> None:
    """Check the configuration; every key that is wrong is named, and the exit code is 2."""
    loaded = load(path)
    issues = _sections_of(loaded)[1] + _missing_folders(loaded)
    if issues:
        raise ConfigError(*issues)
    where = loaded.path.name if loaded.path else "the environment"
    click.echo(f"{where}: the configuration is valid, with {len(loaded.settings.vaults)} vault(s)", err=True)


@command.command("explain")
@source
@as_json
@click.option("--source", "only", type=click.Choice(SOURCES), help="Only what this source has set.")
def explain(path: str | None, as_json: bool, only: str | None) -> None:
    """Say for each setting where its value comes from."""
    loaded = load(path)
    shown = leaves(redacted(effective(loaded)))
    rows = [(key, value, _source(loaded, key)) for key, value in shown.items()]
    rows = [row for row in rows if only in (None, row[2])]
    if as_json:
        print_json([{"key": key, "value": value, "source": origin} for key, value, origin in rows])
    else:
        table(["setting", "value", "source"], [[key, _brief(value), origin] for key, value, origin in rows])


def effective(loaded: Loaded) -> dict[str, Any]:
    """Every setting with its value; the sections of plugins that cannot be loaded stay as they were given."""
    found: dict[str, Any] = loaded.settings.model_dump()
    return found | {slug: model.model_dump() for slug, model in _sections_of(loaded)[0].items()}


def _sections_of(loaded: Loaded) -> tuple[dict[str, Any], list[str]]:
    from knapper.registry import Registry

    try:
        with quiet("knapper.plugins"):  # `knapper plugins` tells about those
            registry = Registry(found_plugins(loaded.settings, strict=False))
        return dict(sections(loaded.settings, registry)), []
    except ConfigError as error:
        return {}, error.issues
    except PluginError as error:
        return {}, [f"plugins: {error}"]


def _missing_folders(loaded: Loaded) -> list[str]:
    return [
        f"vaults.{number}.path: there is no such folder, for the vault {vault.id!r}"
        for number, vault in enumerate(loaded.settings.vaults)
        if not expanded(vault.path).is_dir()
    ]


def _source(loaded: Loaded, key: str) -> str:
    """Who set the key, or the table it is in, where that was set as a whole."""
    while key:
        if key in loaded.sources:
            return loaded.sources[key]
        key = key.rpartition(".")[0]
    return "default"


def _brief(value: Any) -> str:
    if value is None:
        return "-"
    return toml.inline(value)
