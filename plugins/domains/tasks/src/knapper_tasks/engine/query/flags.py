"""Flags: filters on status, priority, recurrence, tags, ids, dependencies and indentation."""

import re
from collections.abc import Callable

from knapper_tasks.engine.errors import QueryError
from knapper_tasks.engine.statuses import TYPES
from knapper_tasks.row import CLOSED_TYPES, PRIORITIES, TaskRow

from .context import Search
from .facts import ALL_TYPES, Facts
from .model import Explanation, Filter, Predicate, plain

_PRIORITY = re.compile(
    r"priority(?:\s+is)?(?:\s+(above|below|not))?\s+(lowest|low|none|medium|highest|high)", re.IGNORECASE
)
_STATUS_TYPE = re.compile(r"status\.type (is not|is) ([^ ]+)", re.IGNORECASE)
_TYPES = [name for name in TYPES if name != "EMPTY"]

_PLAIN: dict[str, tuple[Predicate, Facts]] = {
    "done": (lambda row: row.status_type in CLOSED_TYPES, Facts(status_types=CLOSED_TYPES)),
    "not done": (
        lambda row: row.status_type not in CLOSED_TYPES,
        Facts(status_types=ALL_TYPES - CLOSED_TYPES),
    ),
    "is recurring": (lambda row: row.recurrence is not None, Facts(recurring=True)),
    "is not recurring": (lambda row: row.recurrence is None, Facts(recurring=False)),
    "has tag": (lambda row: bool(row.tags), Facts(tagged=True)),
    "has tags": (lambda row: bool(row.tags), Facts(tagged=True)),
    "no tag": (lambda row: not row.tags, Facts(tagged=False)),
    "no tags": (lambda row: not row.tags, Facts(tagged=False)),
    "exclude sub-items": (lambda row: not _indented(row.indent), Facts()),
    "has id": (lambda row: row.id is not None, Facts()),
    "no id": (lambda row: row.id is None, Facts()),
    "has depends on": (lambda row: bool(row.depends_on), Facts()),
    "no depends on": (lambda row: not row.depends_on, Facts()),
}

_AMONG_OTHERS: dict[str, Callable[[Search], Predicate]] = {
    "is blocked": lambda search: search.blocked,
    "is not blocked": lambda search: lambda row: not search.blocked(row),
    "is blocking": lambda search: search.blocking,
    "is not blocking": lambda search: lambda row: not search.blocking(row),
}


def flag_filter(line: str) -> Filter | None:
    """A filter that is a fixed phrase."""
    instruction = line.lower()
    if instruction in _PLAIN:
        test, facts = _PLAIN[instruction]
        return plain(line, test, facts)
    if instruction in _AMONG_OTHERS:
        return Filter(line, _AMONG_OTHERS[instruction], Explanation(line), Facts(every_task=True))
    return None


def _indented(indent: str) -> bool:
    """Whether a task stands under another; one blank may follow a quote's mark."""
    return bool(indent) and (">" not in indent or indent.rpartition(">")[2] not in ("", " "))


def priority_filter(line: str) -> Filter | None:
    """A filter on the priority."""
    found = _PRIORITY.fullmatch(line)
    if found is None:
        return None
    wanted = PRIORITIES.index(found[2].lower())
    relation = (found[1] or "is").lower()
    # Priorities count from the highest, so a smaller number is above.
    kept = frozenset(
        number
        for number in range(len(PRIORITIES))
        if {
            "above": number < wanted,
            "below": number > wanted,
            "not": number != wanted,
            "is": number == wanted,
        }[relation]
    )
    explanation = Explanation(f"priority is {found[2]}") if relation == "is" else None
    return plain(line, lambda row: row.priority in kept, Facts(priorities=kept), explanation)


def status_type_filter(line: str) -> Filter | None:
    """A filter on the status type; a type that does not exist is an error that lists those that do."""
    if not line.lower().startswith("status.type"):
        return None
    found = _STATUS_TYPE.fullmatch(line)
    if found is None or found[2].upper() not in TYPES:
        raise QueryError(
            f"Invalid status.type instruction: '{line}'.\n"
            "    Allowed options: 'is' and 'is not' (without quotes).\n"
            f"    Allowed values:  {' '.join(_TYPES)}\n"
            "    Example:         status.type is not NON_TASK"
        )
    wanted = found[2].upper()
    if found[1].lower() == "is":
        return plain(line, _has_type(wanted), Facts(status_types=frozenset({wanted})))
    return plain(
        line, lambda row: row.status_type != wanted, Facts(status_types=ALL_TYPES - frozenset({wanted}))
    )


def _has_type(wanted: str) -> Predicate:
    def test(row: TaskRow) -> bool:
        return row.status_type == wanted

    return test
