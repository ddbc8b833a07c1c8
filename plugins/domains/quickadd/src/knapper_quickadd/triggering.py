"""The tool that runs a choice: natively, or in Obsidian where that needs more."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, Record, ToolError
from knapper.script.errors import BudgetExceeded
from knapper_quickadd import live
from knapper_quickadd.captures import capture_plan
from knapper_quickadd.choices import Choice, find, settings
from knapper_quickadd.domain import quickadd
from knapper_quickadd.formats import Formats
from knapper_quickadd.inputs import Inputs
from knapper_quickadd.plans import Plan
from knapper_quickadd.sources import NeedsPlugin
from knapper_quickadd.templates import template_plan


class Triggered(Record):
    """A choice that was run; what the live engine changed nobody can say."""

    action_name: str
    fired_at: str
    engine: Literal["native", "obsidian"]
    created_paths: list[str] | None = None
    modified_paths: list[str] | None = None


def _precheck(ctx: Context, args: Any) -> None:
    """What can be known to fail fails before a person is asked."""
    choice = _choice(ctx, args.action_name)
    try:
        if choice is None:
            raise NeedsPlugin("its settings")
        _plan(ctx, choice, args.args or {})
    except NeedsPlugin as needed:
        _engine(ctx, args.action_name, needed)


@quickadd.tool(
    "execute:quickadd",
    repeat="once",
    precheck=_precheck,
    reach="the notes that the choice creates or changes, by its settings",
)
def trigger_quickadd(
    ctx: Context,
    action_name: Annotated[str, Doc("A name of list_quickadd_actions.", min_length=1, max_length=500)],
    args: Annotated[
        dict[str, Any] | None,
        Doc(
            "Values by their names, `value` for the unnamed one; `active_file`, `folder`, `capture_to`, `file_exists`."
        ),
    ] = None,
) -> Triggered:
    """Run a choice of QuickAdd: make a note from a template, or capture a text into one.

    Choices that need no JavaScript run natively; macros and the rest need Obsidian.
    """
    choice, given = _choice(ctx, action_name), args or {}
    try:
        if choice is None:
            raise NeedsPlugin("its settings")
        plan = _plan(ctx, choice, given)
    except NeedsPlugin as needed:
        _engine(ctx, action_name, needed)
        done = live.triggered(ctx, choice.name if choice else action_name, given)
        return Triggered(action_name=action_name, fired_at=done.fired_at, engine="obsidian")
    outcome = plan.apply(ctx)
    return Triggered(
        action_name=action_name,
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
