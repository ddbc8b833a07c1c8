"""A choice run: natively, or in Obsidian where that needs more."""

from __future__ import annotations

from typing import Any

from knapper import Context, ToolError
from knapper.script.errors import BudgetExceeded
from knapper_quickadd import live
from knapper_quickadd.captures import capture_plan
from knapper_quickadd.choices import Choice, find, settings
from knapper_quickadd.formats import Formats
from knapper_quickadd.inputs import Inputs
from knapper_quickadd.plans import Plan
from knapper_quickadd.sources import NeedsPlugin
from knapper_quickadd.templates import template_plan
from knapper_quickadd.triggering import Triggered


def check(ctx: Context, name: str, args: dict[str, Any]) -> None:
    """Raise what can be known to fail."""
    choice = _choice(ctx, name)
    try:
        if choice is None:
            raise NeedsPlugin("its settings")
        _plan(ctx, choice, args)
    except NeedsPlugin as needed:
        _engine(ctx, name, needed)


def triggered(ctx: Context, name: str, args: dict[str, Any]) -> Triggered:
    """Run a choice, and say what it changed."""
    choice = _choice(ctx, name)
    try:
        if choice is None:
            raise NeedsPlugin("its settings")
        plan = _plan(ctx, choice, args)
    except NeedsPlugin as needed:
        _engine(ctx, name, needed)
        done = live.triggered(ctx, choice.name if choice else name, args)
        return Triggered(action_name=name, fired_at=done.fired_at, engine="obsidian")
    outcome = plan.apply(ctx)
    return Triggered(
        action_name=name,
        fired_at=ctx.stamp(),
        engine="native",
        created_paths=outcome.created,
        modified_paths=outcome.modified,
    )


def _choice(ctx: Context, name: str) -> Choice | None:
    """The choice of a name; None where the plugin's settings are not in the vault, so that only it can know."""
    return find(ctx, name) if settings(ctx) else None


def _plan(ctx: Context, choice: Choice, args: dict[str, Any]) -> Plan:
    """What a choice is going to write, or NeedsPlugin, or what is missing."""
    if choice.type == "macro":
        raise NeedsPlugin(f"the macro {choice.name!r}")
    if choice.type == "multi":
        inside = [
            one["name"] for one in choice.data.get("choices") or () if isinstance(one, dict) and "name" in one
        ]
        message = f"{choice.name!r} is a list of choices: run one of them"
        raise ToolError("invalid_input", message, field="action_name", candidates=inside[:50])
    formats = Formats(ctx, Inputs(args))
    try:
        plan = (template_plan if choice.type == "template" else capture_plan)(formats, choice.data)
    except ToolError:
        formats.inputs.check()  # what fails for want of an answer is a question
        raise
    except BudgetExceeded as error:
        raise ToolError("compute_budget_exceeded", f"the choice was stopped: {error}") from None
    formats.inputs.check()
    plan.check(ctx)
    return plan


def _engine(ctx: Context, name: str, needed: NeedsPlugin) -> None:
    """Raise what says that the plugin cannot be asked, and what needs it."""
    try:
        live.ready(ctx)
    except ToolError as error:
        if error.code == "acl_denied":
            raise
        message = f"{name!r} needs the QuickAdd plugin in a running Obsidian for {needed}; {error.message}"
        raise ToolError(error.code, message, **{**error.details, "construct": str(needed)}) from None
