"""Commands: Obsidian's command palette, for those commands that the operator has named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from knapper import Context, Doc, Domain, Page, Record, ToolError, hookimpl
from knapper_commands import live

commands = Domain(
    "commands", summary="List Obsidian's commands, and run those that are allowed.", group="automation"
)


class Command(Record):
    """A command of the palette; `plugin` is the first part of its id."""

    id: str
    name: str
    plugin: str | None = None
    hotkey: str | None = None


@commands.tool("read:command", words="palette actions available")
def list_commands(
    ctx: Context,
    filter: Annotated[str, Doc("Only those with this in their id or name, whatever its case.")] = "",
    page: Page = Page(),
) -> Page.Of[Command]:
    """List the commands of a running Obsidian by their ids."""
    found = sorted(_matching(live.listed(ctx), filter), key=lambda command: command.id)
    return page.cut(found, key=lambda command: command.id)


class Fired(Record):
    command_id: str
    fired_at: str
    plugin_response: Any = None


def _may_run(ctx: Context, given: Any) -> None:
    """What the operator has not allowed is refused before a person is asked."""
    settings: Any = ctx.vault_settings
    allowed = settings.commands
    if not allowed.enabled:
        message = f"commands are off for the vault {settings.id!r}: commands.enabled is not set"
        raise ToolError("execute_command_disabled", message, vault=settings.id)
    if given.command_id not in allowed.allowlist:
        message = f"{given.command_id!r} is not in commands.allowlist of the vault {settings.id!r}"
        raise ToolError("command_not_allowlisted", message, command_id=given.command_id)
    if given.args:
        raise ToolError("invalid_input", "Obsidian's commands take no arguments", field="args")


@commands.tool(
    "execute:command",
    repeat="once",
    precheck=_may_run,
    reach="whatever the command does in Obsidian",
    words="palette action run invoke",
)
def execute_command(
    ctx: Context,
    command_id: Annotated[str, Doc("Its exact id, as list_commands gives it.", min_length=1, max_length=512)],
    args: Annotated[dict[str, Any] | None, Doc("Has to be empty: commands take no arguments.")] = None,
) -> Fired:
    """Run a command of a running Obsidian that the operator has allowed."""
    done = live.executed(ctx, command_id)
    return Fired(
        command_id=command_id,
        fired_at=done.fired_at or ctx.stamp(),
        plugin_response=done.plugin_response,
    )


def _matching(found: list[live.Listed], filter: str) -> Iterator[Command]:
    wanted = filter.casefold()
    for one in found:
        if wanted in one.id.casefold() or wanted in one.name.casefold():
            owner, colon, _ = one.id.partition(":")
            yield Command(id=one.id, name=one.name, plugin=owner if colon else None, hotkey=one.hotkey)


@hookimpl
def knapper_domains() -> Domain:
    return commands
