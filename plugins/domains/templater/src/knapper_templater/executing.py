"""The tool that runs a template: natively, or in Obsidian where that needs more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from knapper import Context, Doc, Record, ToolError, WriteNotePath
from knapper.bridge import EngineName
from knapper.script.errors import BudgetExceeded, ScriptRefused
from knapper_templater import live
from knapper_templater.changes import Changes
from knapper_templater.domain import templater
from knapper_templater.files import CURSOR, Target
from knapper_templater.places import find_template
from knapper_templater.render import CREATE, OUTSIDE, OVERWRITE, Run, Stopped
from knapper_templater.scan import Use, uses
from knapper_templater.system import Answers

T = TypeVar("T")


class Refused(Exception):
    """A template that only the plugin itself can run, and why."""

    def __init__(self, use: Use, template: str) -> None:
        super().__init__(use.name)
        self.use = use
        self.template = template

    def missing(self, why: str, **details: Any) -> ToolError:
        """The error that names what needs the plugin."""
        construct, line = self.use
        message = f"{self.template!r} uses {construct} in line {line}, which needs the Templater plugin in a running Obsidian"
        known = {
            "plugin": live.KEY,
            **details,
            "construct": construct,
            "line": line,
            "template": self.template,
        }
        return ToolError("plugin_missing", f"{message}; {why}", **known)


class Cursor(Record):
    """Where a template wants the cursor; both count from 1."""

    line: int
    column: int
    order: int | None = None


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
        ctx.bridge(live.KEY)
        return
    try:
        _plan(ctx, template, args.target, args.args or {})
    except Refused as refused:
        if args.engine == "native":
            raise refused.missing("and the engine is to be native") from None
        _bridged(refused, lambda: ctx.bridge(live.KEY))


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
        plan = _plan(ctx, path, target, answers)
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


@templater.service("templater.text")
def text_for(ctx: Context, path: str, text: str, target: str, content: str, args: dict[str, Any]) -> str:
    """What Templater's commands in a text make of it in a note that is yet to be written, or a ToolError."""
    now = datetime.fromtimestamp(ctx.now())
    run = Run(ctx, path, Target(target, content, now, now), CREATE, Answers(args))
    try:
        return CURSOR.sub("", _rendered(run, lambda: run.included(path, text, run.target), text))
    except Refused as refused:
        raise refused.missing("and it is part of something else here") from None


class Plan(NamedTuple):
    """What a template would write, and the content of the target that it counts on."""

    text: str
    prev_hash: str | None
    changes: Changes
    cursors: list[Cursor]


def _plan(ctx: Context, template: str, path: str, args: dict[str, Any]) -> Plan:
    """Run a template without changing anything."""
    old = ctx.vault.read(path) if ctx.vault.exists(path) == "file" else None
    now = datetime.fromtimestamp(ctx.now())
    target = Target(path, "", now, now)
    if old is not None:
        created, modified = (
            datetime.fromtimestamp(ns / 1e9) for ns in (old.stat.ctime_ns, old.stat.mtime_ns)
        )
        target = Target(path, old.text, created, modified)
    mode = CREATE if old is None else OVERWRITE
    run = Run(ctx, template, target, mode, Answers(args), allowed=ctx.settings.allow_file_changes)
    text = _rendered(run, run.text, ctx.vault.read(template).text)
    plain, cursors = _without_cursors(text)
    run.changes.created = {made: CURSOR.sub("", content) for made, content in run.changes.created.items()}
    return Plan(plain, old.hash if old else None, run.changes, cursors)


def _rendered(run: Run, render: Callable[[], str], source: str) -> str:
    """The text that a run makes; questions without an answer come before what went wrong for want of one."""
    try:
        text = render()
    except Stopped as stopped:
        if run.answers.missing:
            raise run.answers.required() from None
        raise _failure(stopped, source) from None
    except ToolError:
        if run.answers.missing:
            raise run.answers.required() from None
        raise
    if run.answers.missing:
        raise run.answers.required()
    return text


def _failure(stopped: Stopped, source: str) -> Exception:
    error, template = stopped.error, stopped.template
    line = error.number or 1
    if isinstance(error, ScriptRefused):
        earlier = (use for use in uses(source) if use.line < line and use.name.split(".")[1] in OUTSIDE)
        return Refused(next(earlier, Use(error.construct, line)), template)
    details = {"template": template, "line": line, "reason": error.reason}
    if isinstance(error, BudgetExceeded):
        return ToolError(
            "compute_budget_exceeded", f"the template {template!r} was stopped: {error.reason}", **details
        )
    return ToolError("invalid_input", f"line {line} of the template {template!r}: {error.reason}", **details)


def _without_cursors(text: str) -> tuple[str, list[Cursor]]:
    parts: list[str] = []
    cursors: list[Cursor] = []
    at = 0
    for found in CURSOR.finditer(text):
        parts.append(text[at : found.start()])
        before = "".join(parts)
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        cursors.append(Cursor(line=line, column=column, order=int(found[1]) if found[1] else None))
        parts, at = [before], found.end()
    return "".join([*parts, text[at:]]), cursors


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
        if error.code != "plugin_missing":
            raise
        raise refused.missing(error.message, **error.details) from None


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
