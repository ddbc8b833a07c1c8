"""The command line, as its own help describes it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from knapper.cli.app import COMMANDS, Added, cli
from knapper.plugins import Plugins


def commands(plugins: Plugins) -> str:
    """Every command and subcommand with its help."""
    context = click.Context(cli, info_name="knapper", **cli.context_settings)
    found = {name: command for name in COMMANDS if (command := cli.get_command(context, name)) is not None}
    added = Added("plugins")
    for _ in plugins.ask("knapper_commands", cli=added):
        pass
    parts = [
        f"### {inner.command_path}\n\n```text\n{_help(inner)}\n```"
        for name, command in sorted({**found, **added.commands}.items())
        for inner in _contexts(command, click.Context(command, info_name=name, parent=context))
    ]
    return "\n\n".join(parts)


def _contexts(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _contexts(inner, click.Context(inner, info_name=name, parent=context))


def _help(context: click.Context) -> str:
    context.max_content_width = context.terminal_width = 110
    return "\n".join(line.rstrip() for line in context.get_help().splitlines())
