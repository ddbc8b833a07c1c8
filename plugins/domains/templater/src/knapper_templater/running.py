"""A template run: natively, or in Obsidian where that needs more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from knapper import Context, ToolError
from knapper.bridge import EngineName
from knapper_templater import live
from knapper_templater.executing import Result
from knapper_templater.places import find_template
from knapper_templater.planning import Refused, planned

T = TypeVar("T")
UNAVAILABLE = ("plugin_missing", "plugin_unreachable", "plugin_incompatible", "requires_live_obsidian")


def check(
    ctx: Context, template: str, target: str, answers: dict[str, Any], overwrite: bool, engine: EngineName
) -> None:
    """Raise what can be known to fail."""
    path = find_template(ctx, template)
    _check_target(ctx, target, overwrite)
    if engine == "obsidian":
        live.ready(ctx)
        return
    try:
        planned(ctx, path, target, answers, trial=True)
    except ToolError as error:
        if error.code != "compute_budget_exceeded":  # more than a trial has; the run itself may do it
            raise
    except Refused as refused:
        if engine == "native":
            raise refused.missing("and the engine is to be native") from None
        _bridged(refused, lambda: live.ready(ctx))


def executed(
    ctx: Context, template: str, target: str, answers: dict[str, Any], overwrite: bool, engine: EngineName
) -> Result:
    """Make the note, and say where it is."""
    path = find_template(ctx, template)
    _check_target(ctx, target, overwrite)
    if engine == "obsidian":
        return _live(ctx, path, target, overwrite, answers)
    try:
        plan = planned(ctx, path, target, answers)
    except Refused as refused:
        if engine == "native":
            raise refused.missing("and the engine is to be native") from None
        return _bridged(refused, lambda: _live(ctx, path, target, overwrite, answers))
    place, hash, at = plan.changes.apply(plan.text, plan.prev_hash)
    return Result(
        template=path,
        target=place,
        created_at=at,
        content_hash=hash,
        expanded_size=len(plan.text.encode()),
        engine="native",
        cursors=plan.cursors or None,
    )


def _check_target(ctx: Context, target: str, overwrite: bool) -> None:
    kind = ctx.vault.exists(target)
    if kind == "folder":
        raise ToolError("path_invalid", f"{target!r} is a folder", path=target)
    if kind == "file" and not overwrite:
        raise ToolError(
            "note_exists", f"{target!r} is there already; use overwrite to replace it", path=target
        )


def _bridged(refused: Refused, act: Callable[[], T]) -> T:
    try:
        return act()
    except ToolError as error:
        if error.code not in UNAVAILABLE:
            raise
        raise refused.missing(error.message, code=error.code, **error.details) from None


def _live(ctx: Context, template: str, target: str, overwrite: bool, args: dict[str, Any]) -> Result:
    done = live.executed(ctx, template, target, overwrite, args)
    if ctx.vault.exists(done.target) != "file":
        message = f"Templater says that it has written {done.target!r}, but no such note is there"
        raise ToolError("plugin_unreachable", message, plugin=live.KEY, path=done.target)
    file = ctx.vault.read(done.target)
    return Result(
        template=template,
        target=file.path,
        created_at=done.created_at,
        content_hash=file.hash,
        expanded_size=len(file.data),
        engine="obsidian",
    )
