"""The commands besides serving: each in a module of its own, imported when it is used, and those of plugins."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module

import click

from knapper import __version__
from knapper.errors import ConfigError, KnapperError, PluginError

COMMANDS = (
    "approvals",
    "backup",
    "config",
    "connect",
    "doctor",
    "elicit",
    "index",
    "plugins",
    "restore",
    "serve",
    "stats",
    "token",
    "tools",
    "version",
)


class Serve(click.Command):
    """Serving parses its own words, to start fast; here it only appears among the commands."""

    def get_help(self, ctx: click.Context) -> str:
        from knapper.cli.serve import USAGE

        return USAGE.rstrip()

    def invoke(self, ctx: click.Context) -> int:
        from knapper.cli.serve import serve

        return serve(ctx.args)


SERVE = Serve(
    "serve",
    help="Serve a vault over stdio, or over HTTP.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)


class Added(click.Group):
    """What plugins are given to add their commands to; a name that is taken is the plugin's failure."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        wanted = name or cmd.name or ""
        if wanted in COMMANDS or wanted in self.commands:
            raise PluginError(f"there is already a command {wanted!r}; choose another name")
        super().add_command(cmd, name)


class Commands(click.Group):
    """The core's commands, and after them those of the plugins, which are loaded only when they are asked for."""

    @cached_property
    def added(self) -> dict[str, click.Command]:
        from knapper.cli._source import found_plugins

        group = Added("plugins")
        for _ in found_plugins().ask("knapper_commands", cli=group):
            pass  # a hook adds to the group and hands nothing over
        return dict(group.commands)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*COMMANDS, *self.added})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "serve":
            return SERVE
        if cmd_name in COMMANDS:
            command: click.Command = import_module(f"knapper.cli.{cmd_name}").command
            return command
        return self.added.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"{name!r} is neither a command nor a vault that exists.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    name="knapper",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`knapper VAULT` serves a vault folder over stdio.",
)
@click.version_option(__version__, prog_name="knapper", message="%(prog)s %(version)s")
def cli() -> None:
    """An Obsidian vault as governed tools for AI agents."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 is well, 1 a failure or a negative verdict, 2 a mistake in usage or configuration."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="knapper: %(message)s")
    try:
        code = cli.main(_or_serve(arguments), prog_name="knapper", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return 1
    except ConfigError as error:
        for issue in error.issues:
            click.echo(f"knapper: {issue}", err=True)
        return 2
    except KnapperError as error:
        click.echo(f"knapper: {error}", err=True)
        return 1
    except BrokenPipeError:
        # Whoever read the output has gone; the interpreter's last flush must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0


def _or_serve(arguments: Sequence[str] | None) -> Sequence[str]:
    """Without a word, a client that has started us is served what is configured; a person is shown the help."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["help"]:
        return [*given[1:], "--help"]
    if given or sys.stdin is None or sys.stdin.isatty():
        return given
    from knapper.config.paths import find

    return given if find() is None else ["serve"]
