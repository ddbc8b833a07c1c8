"""The tool that lists choices."""

from __future__ import annotations

from knapper import Context, Record, ToolError
from knapper_quickadd import live
from knapper_quickadd.choices import TYPES, Choice, Type, choices, flag, names, settings, text
from knapper_quickadd.domain import quickadd


class Action(Record):
    """A choice under the name that runs it."""

    name: str
    type: Type
    description: str | None = None


class Actions(Record):
    """The choices of a vault."""

    items: list[Action]


@quickadd.tool("read:quickadd", reach="the settings of the plugin QuickAdd")
def list_quickadd_actions(ctx: Context) -> Actions:
    """List the choices of QuickAdd, those inside of multis too, from the plugin's own settings."""
    if not settings(ctx):
        return Actions(items=_live_actions(ctx))
    found = names(choices(ctx))
    return Actions(items=[Action(name=name, type=c.type, description=_about(c)) for name, c in found.items()])


def _about(choice: Choice) -> str | None:
    parts = []
    if choice.type == "template":
        parts.append(f"from the template {text(choice.data, 'templatePath')!r}")
    elif choice.type == "capture":
        active = flag(choice.data, "captureToActiveFile")
        parts.append("into the note that is open" if active else f"into {text(choice.data, 'captureTo')!r}")
    if choice.inside:
        parts.append(f"in {'/'.join(choice.inside)}")
    return ", ".join(parts) or None


def _live_actions(ctx: Context) -> list[Action]:
    """What the plugin itself says where its settings are not in the vault."""
    try:
        found = live.listed(ctx)
    except ToolError as error:
        if error.code not in ("plugin_missing", "plugin_unreachable", "requires_live_obsidian"):
            raise
        return []
    types: dict[str, Type] = {kind.lower(): kind for kind in TYPES.values()}
    return [Action(name=one.name, type=types[one.type.lower()]) for one in found if one.type.lower() in types]
