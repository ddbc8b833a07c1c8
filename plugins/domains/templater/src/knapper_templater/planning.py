"""Planning: what a template would write, found out without changing anything; and how its failures are told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from knapper import Context, ToolError
from knapper.script.errors import BudgetExceeded, ScriptRefused
from knapper_templater import live
from knapper_templater.changes import Changes
from knapper_templater.executing import Cursor
from knapper_templater.files import CURSOR, Target
from knapper_templater.render import CREATE, OUTSIDE, OVERWRITE, Run, Stopped
from knapper_templater.scan import Use, uses
from knapper_templater.system import Answers

MOST_CURSORS = 100


class Refused(Exception):
    """A template that only the plugin itself can run, and why."""

    def __init__(self, use: Use, template: str) -> None:
        super().__init__(use.name)
        self.use = use
        self.template = template

    def missing(self, why: str, *, code: str = "plugin_missing", **details: Any) -> ToolError:
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
        return ToolError(code, f"{message}; {why}", **known)


class Plan(NamedTuple):
    """What a template would write, and the content of the target that it counts on."""

    text: str
    prev_hash: str | None
    changes: Changes
    cursors: list[Cursor]


def planned(ctx: Context, template: str, path: str, args: dict[str, Any], *, trial: bool = False) -> Plan:
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
    run = Run(
        ctx, template, target, mode, Answers(args), allowed=ctx.settings.allow_file_changes, trial=trial
    )
    text = _rendered(run, run.text)
    plain, cursors = _without_cursors(text)
    run.changes.created = {made: CURSOR.sub("", content) for made, content in run.changes.created.items()}
    return Plan(plain, old.hash if old else None, run.changes, cursors)


def _rendered(run: Run, render: Callable[[], str]) -> str:
    """The text that a run makes; questions without an answer come before what went wrong for want of one."""
    try:
        text = render()
    except Stopped as stopped:
        if run.answers.missing:
            raise run.answers.required() from None
        raise _failure(stopped) from None
    except ToolError:
        if run.answers.missing:
            raise run.answers.required() from None
        raise
    if run.answers.missing:
        raise run.answers.required()
    return text


def _failure(stopped: Stopped) -> Exception:
    error, template = stopped.error, stopped.template
    line = error.number or 1
    if isinstance(error, ScriptRefused):
        # Nothing of it has run, so what stands before it may need the plugin as well.
        before = uses(stopped.unread)
        earlier = (use for use in before if use.line < line and use.name.split(".")[1] in OUTSIDE)
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
    at, line, column = 0, 1, 1
    for found in CURSOR.finditer(text):
        part = text[at : found.start()]
        line += part.count("\n")
        column = len(part) - part.rfind("\n") if "\n" in part else column + len(part)
        cursors.append(Cursor(line=line, column=column, order=int(found[1]) if found[1] else None))
        parts.append(part)
        at = found.end()
    return "".join([*parts, text[at:]]), cursors[:MOST_CURSORS]


def text_for(ctx: Context, path: str, text: str, target: str, content: str, args: dict[str, Any]) -> str:
    """What Templater's commands in a text make of it in a note that is yet to be written, or a ToolError."""
    now = datetime.fromtimestamp(ctx.now())
    run = Run(ctx, path, Target(target, content, now, now), CREATE, Answers(args))
    try:
        return CURSOR.sub("", _rendered(run, lambda: run.included(path, text, run.target)))
    except Refused as refused:
        raise refused.missing("and it is part of something else here") from None
