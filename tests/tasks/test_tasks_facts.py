from datetime import date
from itertools import product

import pytest

from knapper_tasks.engine import Facts, Settings, TaskRow, extract, narrow, parse_query

TODAY = date(2024, 3, 15)
FILTERS = [
    "done",
    "not done",
    "status.type is IN_PROGRESS",
    "status.type is not DONE",
    "due before 2024-03-15",
    "due on or after 2024-03-15",
    "has due date",
    "no due date",
    "due date is invalid",
    "starts before tomorrow",
    "happens this week",
    "scheduled in 2024-03",
    "priority is above none",
    "is recurring",
    "is not recurring",
    "has tags",
    "no tags",
    "tags include a",
    "tags do not include a",
    "path includes WORK",
    "folder includes /",
    "root includes work",
    "filename includes note",
    "path does not include work",
    "is blocked",
]


def _rows() -> list[TaskRow]:
    ends = [
        "",
        "📅 2024-03-14",
        "📅 2024-03-16 #a",
        "📅 2024-02-30",
        "⏳ 2024-03-15 🔁 every day",
        "🛫 2024-04-01 ⏫",
    ]
    lines = [f"- [{symbol}] x {end}" for symbol, end in product(" x/-?", ends)]
    text = "\n".join([*lines, "- [ ] p 🆔 i", "- [ ] q ⛔ i"])
    return [
        row for path in ("note.md", "work/a/note.md", "Work.md") for row in extract(path, text, Settings())
    ]


def _fits(row: TaskRow, facts: Facts) -> bool:
    return (
        (facts.status_types is None or row.status_type in facts.status_types)
        and (facts.priorities is None or row.priority in facts.priorities)
        and all(part in row.path.lower() for part in facts.path_parts)
        and facts.recurring in (None, row.recurrence is not None)
        and facts.tagged in (None, bool(row.tags))
        and all(
            (iso := getattr(row, field)) is not None and (low or "") <= iso <= (high or "~")
            for field, (low, high) in facts.dates.items()
        )
    )


@pytest.mark.parametrize("shape", ["{0}\n{1}", "({0}) OR ({1})", "({0}) XOR ({1})", "NOT ({0}) AND ({1})"])
def test_every_task_that_is_found_fulfils_the_facts(shape: str) -> None:
    rows = _rows()
    for one, other in product(FILTERS, repeat=2):
        query = parse_query(shape.format(one, other), Settings(), TODAY)
        facts = narrow(query)
        left_out = [row for row in query.run(rows).rows if not _fits(row, facts)]
        assert left_out == [], (one, other, facts)


def test_facts_say_what_an_index_can_use() -> None:
    query = parse_query(
        "not done\ndue before 2024-03-15\ndue after 2024-01-01\npath includes Work/", Settings(), TODAY
    )

    assert narrow(query) == Facts(
        status_types=frozenset({"TODO", "IN_PROGRESS", "ON_HOLD", "EMPTY"}),
        dates={"due": ("2024-01-02", "2024-03-14")},
        path_parts=frozenset({"work/"}),
    )


def test_facts_say_where_all_tasks_are_needed() -> None:
    assert narrow(parse_query("(is blocked) OR (done)", Settings(), TODAY)).every_task
    assert narrow(parse_query("filter by function query.allTasks.length > 1", Settings(), TODAY)).every_task
    assert not narrow(parse_query("done", Settings(), TODAY)).every_task


def test_dependencies_are_looked_up_in_everything() -> None:
    rows = extract("a.md", "- [ ] p 🆔 i\n- [ ] q ⛔ i", Settings())

    assert parse_query("is blocked", Settings(), TODAY).run(rows[1:]).total == 0
    assert parse_query("is blocked", Settings(), TODAY).run(rows[1:], everything=rows).total == 1
