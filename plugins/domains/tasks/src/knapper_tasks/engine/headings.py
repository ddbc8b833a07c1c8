"""Headings: what groups of a priority or a status type are called.

What stands between the %% signs is invisible in Obsidian and only orders the groups.
"""

from knapper_tasks.row import TaskRow

PRIORITY_NAMES = ("Highest", "High", "Medium", "Normal", "Low", "Lowest")
TYPE_ORDER = {
    kind: number
    for number, kind in enumerate(
        ("IN_PROGRESS", "TODO", "ON_HOLD", "DONE", "CANCELLED", "NON_TASK", "EMPTY"), 1
    )
}


def priority_heading(row: TaskRow) -> str:
    """The heading of a task's priority."""
    return f"%%{row.priority}%%{PRIORITY_NAMES[row.priority]} priority"


def status_type_heading(row: TaskRow) -> str:
    """The heading of a task's status type."""
    return f"%%{TYPE_ORDER[row.status_type]}%%{row.status_type}"
