"""The tool that runs a template: natively, or in Obsidian where that needs more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from knapper import Context, Doc, Record, ToolError, WriteNotePath
from knapper.bridge import EngineName
from knapper_templater import live
from knapper_templater.domain import templater
from knapper_templater.places import find_template
from knapper_templater.planning import Cursor, Refused, planned

T = TypeVar("T")
UNAVAILABLE = ("plugin_missing", "plugin_unreachable", "plugin_incompatible", "requires_live_obsidian")


class Result(Record):
    """A note made from a template; `target` is where it is in the end."""

    template: str
    target: str
    created_at: str
    content_hash: str
    expanded_size: int
    engine: Literal["native", "obsidian"]
    cursors: list[Cursor] | None = None


def _precheck(ctx: Context, args: Any) -> None:
    """What can be known to fail fails before a person is asked; a call with a key may be one that is done already."""
    if args.idempotency_key is not None:
        return
    template = find_template(ctx, args.template)
    _check_target(ctx, args.target, args.overwrite)
    if args.engine == "obsidian":
        live.ready(ctx)
        return
    try:
        planned(ctx, template, args.target, args.args or {}, trial=True)
    except ToolError as error:
        if error.code != "compute_budget_exceeded":  # more than a trial has; the run itself may do it
            raise
    except Refused as refused:
        if args.engine == "native":
            raise refused.missing("and the engine is to be native") from None
        _bridged(refused, lambda: live.ready(ctx))


@templater.tool(
    "write:templater",
    "write:notes",
    repeat="keyed",
    precheck=_precheck,
    reach="notes that the template includes; with allow_file_changes notes it creates, and links to a note it moves",
)
def execute_template(
    ctx: Context,
    template: Annotated[
        str, Doc("Its path, or its name in the folder of templates.", min_length=1, max_length=1024)
    ],
    target: WriteNotePath,
    args: Annotated[
        dict[str, Any] | None,
        Doc(
            "Answers to the template's questions by their texts, others in order under `answers`; `clipboard`."
        ),
    ] = None,
    overwrite: Annotated[bool, Doc("Replace the target where it is there.")] = False,
    engine: EngineName = "auto",
) -> Result:
    """Make a note from a Templater template.

    Native runs dates, files, properties, includes, questions and simple JavaScript; what needs more goes to Obsidian.
    """
    path, answers = find_template(ctx, template), args or {}
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
