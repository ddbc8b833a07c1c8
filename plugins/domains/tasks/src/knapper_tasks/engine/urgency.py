"""Urgency: the plugin's score of how pressing a task is."""

from knapper_tasks.row import TaskRow

from .days import ordinal

_OF_PRIORITY = (9.0, 6.0, 3.9, 1.95, 0.0, -1.8)


def urgency(row: TaskRow, today: int) -> float:
    """The score of a task on a day given by its ordinal number."""
    score = _OF_PRIORITY[row.priority]
    if row.due is not None and (due := ordinal(row.due)):
        score += 12 * _due_weight(today - due)
    if row.scheduled is not None and 0 < ordinal(row.scheduled) <= today:
        score += 5
    if row.start is not None and ordinal(row.start) > today:
        score -= 3
    return score


def _due_weight(days_overdue: int) -> float:
    if days_overdue >= 7:
        return 1.0
    if days_overdue >= -14:
        return ((days_overdue + 14) * 0.8) / 21 + 0.2
    return 0.2
