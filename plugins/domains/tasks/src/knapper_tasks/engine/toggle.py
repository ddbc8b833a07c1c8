"""Toggle: what a task's line becomes when its status changes."""

from datetime import date

from msgspec.structs import replace

from knapper_tasks.row import TaskRow

from .days import ordinal, shifted, valid
from .line import parse_line, serialize
from .markup import TASK_LINE
from .occurrences import next_day
from .rules import parse_rule
from .settings import Settings
from .statuses import Status


def toggle_line(text: str, settings: Settings, today: date, to: str | None = None) -> list[str]:
    """The lines that replace a task line: none, one, or two where the task recurs.

    `to` is the new status symbol; without it the status follows its own chain.
    """
    row = parse_line(text, settings)
    if row is None:
        return [_toggled_checkbox(text, settings, to)]
    return [serialize(changed, settings) for changed in set_status(row, settings, today, to)]


def set_status(row: TaskRow, settings: Settings, today: date, to: str | None = None) -> list[TaskRow]:
    """The tasks that replace a task, in file order, the next occurrence among them."""
    current = settings.statuses.get(row.symbol)
    status = settings.statuses.after(current) if to is None else settings.statuses.get(to)
    if status == current:
        return [row]
    changed = _with_status(row, current, status, settings, today)
    completes = status.type == "DONE" and current.type != "DONE"
    following = _next_occurrence(row, status, settings, today) if completes else None
    lines = [changed] if following is None else [following, changed]
    if completes and row.on_completion == "delete":
        lines.remove(changed)
    return lines[::-1] if settings.next_occurrence_below else lines


def _toggled_checkbox(text: str, settings: Settings, to: str | None) -> str:
    matched = TASK_LINE.match(text)
    if matched is None:
        return text
    symbol = to or settings.statuses.after(settings.statuses.get(matched[3])).symbol
    return text[: matched.start(3)] + symbol + text[matched.end(3) :]


def _with_status(row: TaskRow, current: Status, status: Status, settings: Settings, today: date) -> TaskRow:
    def dated(kind: str, old: str | None, wanted: bool) -> str | None:
        if status.type != kind:
            return None
        if current.type == kind:
            return old
        return today.isoformat() if wanted else None

    return replace(
        row,
        symbol=status.symbol,
        status_type=status.type,
        status_name=status.name,
        done=dated("DONE", row.done, settings.set_done_date),
        cancelled=dated("CANCELLED", row.cancelled, settings.set_cancelled_date),
    )


def _next_occurrence(row: TaskRow, completed: Status, settings: Settings, today: date) -> TaskRow | None:
    rule = parse_rule(row.recurrence) if row.recurrence else None
    scheduled = None if row.scheduled_inferred else row.scheduled
    reference = _reference(row.start, scheduled, row.due, settings)
    if rule is None or (reference is not None and not valid(reference)):
        return None
    day = next_day(rule, date.fromisoformat(reference) if reference else None, today)
    if day is None:
        return None
    distance = day.toordinal() - ordinal(reference) if reference else 0
    if settings.drop_scheduled_on_recurrence and (row.start or row.due):
        scheduled = None
    status = settings.statuses.of_next_occurrence(completed)
    return replace(
        row,
        symbol=status.symbol,
        status_type=status.type,
        status_name=status.name,
        start=_moved(row.start, distance),
        scheduled=_moved(scheduled, distance),
        scheduled_inferred=False,
        due=_moved(row.due, distance),
        created=today.isoformat() if settings.set_created_date else None,
        done=None,
        cancelled=None,
        id=None,
        depends_on=(),
        block_link=None,
    )


def _reference(start: str | None, scheduled: str | None, due: str | None, settings: Settings) -> str | None:
    if settings.drop_scheduled_on_recurrence:
        return due or start or scheduled
    return due or scheduled or start


def _moved(iso: str | None, days: int) -> str | None:
    # A day that does not exist cannot be moved; it is kept so that nothing the user wrote is lost.
    return iso if iso is None or not valid(iso) else shifted(iso, days)
