"""A task's line changed, and the next one written where it recurs."""

from __future__ import annotations

from datetime import date, timedelta

import msgspec
from msgspec.structs import replace

from knapper import Context, ToolError
from knapper_tasks.changing import Changes, UpdatedTask
from knapper_tasks.engine import Settings, canonical_rule, parse_line, serialize, set_status
from knapper_tasks.record import PRIORITY, task
from knapper_tasks.row import TaskRow
from knapper_tasks.rows import settings_of

LONG_AGO = timedelta(days=7)


def updated(
    ctx: Context, path: str, line: int, set: Changes, expected_text: str | None, prev_hash: str | None
) -> UpdatedTask:
    """Change the task in a line, if it is still the one that is meant."""
    settings, today = settings_of(ctx), date.fromtimestamp(ctx.now())
    before = _task_at(ctx.vault.read(path).text, path, line, settings, expected_text)
    _confirm_reopening(ctx, before, set, today)
    outcome: list[TaskRow] = []

    def change(text: str) -> str:
        nonlocal outcome
        row = _task_at(text, path, line, settings, expected_text)
        outcome = _changed(row, set, settings, today)
        lines = text.split("\n")
        end = "\r" if lines[line - 1].endswith("\r") else ""
        lines[line - 1 : line] = [serialize(one, settings) + end for one in outcome]
        return "\n".join(lines)

    done = ctx.vault.edit(path, change, prev_hash=prev_hash)
    place = _same(outcome, before)
    return UpdatedTask(
        path=done.path,
        line=line + place,
        prev_state=task(before),
        new_state=task(replace(outcome[place], line=line - 1 + place)),
        content_hash=done.hash,
        updated_at=done.at,
        created_line=None if len(outcome) < 2 else line + (1 - place),
    )


def _task_at(text: str, path: str, line: int, settings: Settings, expected: str | None) -> TaskRow:
    lines = text.split("\n")
    if line > len(lines):
        raise ToolError("invalid_input", f"{path!r} has only {len(lines)} lines", path=path, line=line)
    raw = lines[line - 1].rstrip("\r")
    if expected is not None and raw.strip() != expected.strip():
        raise ToolError(
            "concurrent_modification",
            f"line {line} of {path!r} is not the task you mean",
            path=path,
            line=line,
        )
    row = parse_line(raw, settings, path=path, line=line - 1)
    if row is None:
        raise ToolError("invalid_input", f"line {line} of {path!r} is not a task", path=path, line=line)
    return row


def _confirm_reopening(ctx: Context, row: TaskRow, set: Changes, today: date) -> None:
    if set.status in (msgspec.UNSET, "done", "cancelled") or row.status_type != "DONE" or row.done is None:
        return
    try:
        long_done = today - date.fromisoformat(row.done) > LONG_AGO
    except ValueError:
        return  # a day that does not exist says nothing about when it was done
    ctx.confirm(long_done, {"path": row.path, "line": row.line + 1, "done": row.done})


def _changed(row: TaskRow, set: Changes, settings: Settings, today: date) -> list[TaskRow]:
    row = _with_fields(row, set)
    if set.status is msgspec.UNSET:
        return [row]
    symbol = _symbol(set.status, settings)
    if settings.statuses.get(row.symbol).type == set.status.upper():
        return [row]
    rows = set_status(row, settings, today, symbol)
    if not rows:
        raise ToolError(
            "invalid_input",
            "this task deletes itself when it is done; remove its line instead",
            path=row.path,
        )
    if set.done is not msgspec.UNSET:
        rows = [replace(one, done=set.done) if one.status_type == "DONE" else one for one in rows]
    return rows


def _with_fields(row: TaskRow, set: Changes) -> TaskRow:
    for name in ("due", "scheduled", "start", "done"):
        value = getattr(set, name)
        if value is not msgspec.UNSET:
            row = replace(row, **{name: value})
    if set.description is not msgspec.UNSET:
        if "\n" in set.description:
            raise ToolError("invalid_input", "a task's description is one line")
        row = replace(row, description=set.description)
    if set.priority is not msgspec.UNSET:
        row = replace(row, priority=PRIORITY.index(set.priority))
    if set.recurrence is not msgspec.UNSET:
        row = replace(row, recurrence=_rule(set.recurrence))
    for tag in set.add_tags:
        row = _with_tag(row, "#" + tag.lstrip("#"))
    for tag in set.remove_tags:
        row = _without_tag(row, "#" + tag.lstrip("#"))
    return row


def _rule(text: str | None) -> str | None:
    if text is None:
        return None
    rule = canonical_rule(text)
    if rule is None:
        raise ToolError("invalid_input", f"{text!r} is not a recurrence such as 'every week'")
    return rule


def _with_tag(row: TaskRow, tag: str) -> TaskRow:
    if tag.lower() in (known.lower() for known in row.tags):
        return row
    return replace(row, description=f"{row.description} {tag}".strip(), tags=(*row.tags, tag))


def _without_tag(row: TaskRow, tag: str) -> TaskRow:
    words = row.description.split(" ")
    kept = [word for word in words if word.lower() != tag.lower()]
    return replace(
        row, description=" ".join(kept), tags=tuple(t for t in row.tags if t.lower() != tag.lower())
    )


def _symbol(status: str, settings: Settings) -> str:
    """The first registered symbol of a status type; Obsidian's own where there is none."""
    for one in settings.statuses:
        if one.type == status.upper():
            return one.symbol
    return {"todo": " ", "done": "x", "cancelled": "-", "in_progress": "/", "on_hold": "h", "non_task": "~"}[
        status
    ]


def _same(rows: list[TaskRow], before: TaskRow) -> int:
    """Which of the written lines is the task itself, and not its next occurrence."""
    closed = [place for place, row in enumerate(rows) if row.closed]
    return closed[0] if len(rows) > 1 and closed else 0
