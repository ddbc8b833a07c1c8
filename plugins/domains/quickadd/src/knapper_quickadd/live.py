"""The live engine: the QuickAdd plugin itself, inside a running Obsidian, behind a bridge."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as, refuse_restricted_change

KEY = "quickadd"


class LiveQuickadd(Protocol):
    """What a bridge with the key `quickadd` connects to; what goes wrong is a ToolError."""

    def actions(self) -> Any:
        """An object with items[], each {name, type}: every choice of the plugin, those inside of multis too."""

    def trigger(self, action_name: str, args: dict[str, Any]) -> Any:
        """Run a choice with these variables, and say {action_name, fired_at}; invalid_input where there is none."""


class LiveAction(msgspec.Struct):
    """A choice as the plugin names it."""

    name: str
    type: str


class Triggered(msgspec.Struct):
    """A choice that the plugin has run; what it changed nobody knows."""

    action_name: str
    fired_at: str


class _Listed(msgspec.Struct):
    items: list[LiveAction]


def listed(ctx: Context) -> list[LiveAction]:
    """The choices that the plugin has."""
    engine: LiveQuickadd = ctx.bridge(KEY)
    return answer_as(engine.actions(), _Listed, KEY).items


def ready(ctx: Context) -> LiveQuickadd:
    """The plugin, where it may be asked to run a choice; what it does there knows no folder rules."""
    engine: LiveQuickadd = ctx.bridge(KEY)
    refuse_restricted_change(ctx, KEY, "a choice")
    return engine


def triggered(ctx: Context, action_name: str, args: dict[str, Any]) -> Triggered:
    """Have the plugin run a choice."""
    engine = ready(ctx)
    ctx.takes_effect()
    return answer_as(engine.trigger(action_name, args), Triggered, KEY)
