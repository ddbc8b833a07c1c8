"""The live engine: the Templater plugin itself, inside a running Obsidian, behind a bridge."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as, readable_items, refuse_restricted_change

KEY = "templater"


class LiveTemplater(Protocol):
    """What a bridge with the key `templater` connects to; what goes wrong is a ToolError."""

    def list(self) -> Any:
        """An object with items[], each {path, name}: the templates of the folder that the plugin is set to."""

    def execute(self, template: str, target: str, overwrite: bool, args: dict[str, Any]) -> Any:
        """Run a template into a note, and say {template, target, created_at}.

        note_not_found where the template is not there, note_exists where the target is and may not be overwritten.
        """


class LiveTemplate(msgspec.Struct):
    """A template as the plugin names it."""

    path: str
    name: str


class Executed(msgspec.Struct):
    """A template that the plugin has run; `target` is where the note is now."""

    template: str
    target: str
    created_at: str


class _Listed(msgspec.Struct):
    items: list[Any]


def listed(ctx: Context) -> list[LiveTemplate]:
    """The templates that the plugin knows and the caller may read."""
    engine: LiveTemplater = ctx.bridge(KEY)
    answer = answer_as(engine.list(), _Listed, KEY)
    return answer_as(readable_items(ctx, answer.items, KEY), list[LiveTemplate], KEY)


def ready(ctx: Context) -> LiveTemplater:
    """The plugin, where it may be asked to run a template; what its JavaScript does there knows no folder rules."""
    engine: LiveTemplater = ctx.bridge(KEY)
    refuse_restricted_change(ctx, KEY, "a template")
    return engine


def executed(ctx: Context, template: str, target: str, overwrite: bool, args: dict[str, Any]) -> Executed:
    """Have the plugin run a template."""
    engine = ready(ctx)
    ctx.takes_effect()
    return answer_as(engine.execute(template, target, overwrite, args), Executed, KEY)
