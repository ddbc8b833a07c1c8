"""Tools that find tasks. What finds them is imported by their first call."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from knapper import Context, Doc, NotePath, Page, Record
from knapper.bridge import EngineName
from knapper_tasks.domain import tasks
from knapper_tasks.record import Priority, Status, Task

Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]


class Days(msgspec.Struct, forbid_unknown_fields=True):
    before: Day | None = None
    after: Day | None = None
    on: Day | None = None


@tasks.tool("read:tasks", words="todos checkboxes due overdue open deadline today tomorrow week")
def list_tasks(
    ctx: Context,
    root: Annotated[str, Doc("Only in notes below this folder.")] = "",
    paths: Annotated[list[str] | None, Doc("Only in these notes.", max_length=500)] = None,
    status: list[Status] | None = None,
    due: Annotated[Days | None, Doc("before and after do not include their day.")] = None,
    scheduled: Days | None = None,
    start: Days | None = None,
    done: Days | None = None,
    priority: list[Priority] | None = None,
    tags: Annotated[list[str] | None, Doc("With any of these tags.")] = None,
    text: Annotated[str | None, Doc("In the description, whatever its case.")] = None,
    page: Page = Page(),
) -> Page.Of[Task]:
    """List tasks by status, dates, priority, tags and text, in the order of the notes."""
    from knapper_tasks import running

    days = {"due": due, "scheduled": scheduled, "start": start, "done": done}
    return running.listed(ctx, root, paths, status, days, priority, tags, text, page)


class TaskGroup(Record):
    key: str
    count: int


class FilteredTasks(Page.Of[Task], kw_only=True):
    engine: Literal["native", "obsidian"]
    groups: list[TaskGroup] | None = None
    explanation: str | None = None


@tasks.tool("read:tasks", words="todos query overdue due")
def tasks_filter(
    ctx: Context,
    filter: Annotated[
        str, Doc("A query in the Tasks plugin's language, an instruction a line.", max_length=20_000)
    ],
    group_by: Annotated[str | None, Doc("As after `group by`.")] = None,
    sort_by: Annotated[str | None, Doc("As after `sort by`.")] = None,
    path: Annotated[NotePath | None, Doc("The note the query stands in, for `query.file`.")] = None,
    engine: EngineName = "auto",
    page: Page = Page(),
) -> FilteredTasks:
    """Find tasks with a query of the Obsidian Tasks plugin: filters, sorting, grouping, limits."""
    from knapper_tasks import running

    more = [f"group by {group_by}"] * bool(group_by) + [f"sort by {sort_by}"] * bool(sort_by)
    return running.filtered(ctx, "\n".join([filter, *more]), path, engine, page)
