"""Tasks found by conditions or by a query, in the index, by reading lines, or by the plugin itself."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any

from knapper import Context, Page, ToolError
from knapper.bridge import EngineName
from knapper.collector import collector_paused
from knapper_tasks import live
from knapper_tasks.engine import (
    Budget,
    BudgetExceeded,
    QueryError,
    QueryFile,
    ScriptRefused,
    Settings,
    narrow,
    parse_query,
)
from knapper_tasks.finding import Days, FilteredTasks, TaskGroup
from knapper_tasks.record import PRIORITY, Priority, Status, Task, task
from knapper_tasks.row import TaskRow
from knapper_tasks.rows import adapted, load, of_facts, of_types, reads_alike, settings_of

SECONDS = 5.0


def listed(
    ctx: Context,
    root: str,
    paths: list[str] | None,
    status: list[Status] | None,
    days: dict[str, Days | None],
    priority: list[Priority] | None,
    tags: list[str] | None,
    text: str | None,
    page: Page,
) -> Page.Of[Task]:
    """Tasks that meet all conditions, in the order of the notes."""
    settings = settings_of(ctx)
    where: list[tuple[str, str, Any]] = []
    if status:
        where += of_types(settings, [name.upper() for name in status])
    for name, wanted in days.items():
        where += _dates(name, wanted)
    if priority:
        where.append(("priority", "IN", [PRIORITY.index(name) for name in priority]))
    if tags:
        where.append(("tags", "HAS ANY", ["#" + tag.lstrip("#") for tag in tags]))
    if text:
        where.append(("description", "HAS", text))
    if settings.global_filter:
        where.append(("raw", "CONTAINS", settings.global_filter))
    if not reads_alike(settings):
        return _from_lines(ctx, settings, where, root, paths, page)
    rows, total, last = ctx.index.facts_page(page, TaskRow, where, root=root, paths=paths)
    return page.of([task(row) for row in adapted((row for _, row in rows), settings)], total, last)


def filtered(ctx: Context, source: str, path: str | None, engine: EngineName, page: Page) -> FilteredTasks:
    """What a query of the plugin's language finds."""
    try:
        if engine == "obsidian":
            return _live(live.filtered(ctx, source, page))
        return _native(ctx, source, path, page)
    except ScriptRefused as refused:
        if engine == "native":
            raise _wrong(refused) from None
        return _live(live.instead(ctx, source, page, refused))
    except BudgetExceeded as error:
        raise ToolError("compute_budget_exceeded", f"the query takes too long: {error}") from None
    except QueryError as error:
        raise _wrong(error) from None


def _native(ctx: Context, source: str, path: str | None, page: Page) -> FilteredTasks:
    file = None if path is None else QueryFile(path, _properties(ctx, path))
    query = parse_query(source, settings_of(ctx), date.fromtimestamp(ctx.now()), file=file)
    facts = narrow(query)
    where = [] if facts.every_task else of_facts(facts, query.settings)
    properties = cache(lambda path: _properties(ctx, path))
    with collector_paused():
        result = query.run(
            load(ctx, query.settings, where),
            properties_of=properties,
            budget=Budget(seconds=SECONDS, look=ctx.check_cancelled),
        )
    groups = [TaskGroup(key=" > ".join(g.names), count=len(g.rows)) for g in result.groups if g.names]
    cut = _cut(result.rows, page)
    return FilteredTasks(
        items=[task(row) for row in cut.items],
        cursor=cut.cursor,
        total_count=cut.total_count,
        engine="native",
        groups=groups or None,
        explanation=query.explain() if query.layout.explain else None,
    )


def _live(found: Page.Of[Task]) -> FilteredTasks:
    return FilteredTasks(items=found.items, cursor=found.cursor, engine="obsidian")


def _dates(name: str, days: Days | None) -> list[tuple[str, str, Any]]:
    if days is None:
        return []
    found: list[tuple[str, str, Any]] = []
    for value, operator in ((days.before, "<"), (days.after, ">"), (days.on, "=")):
        if value is not None:
            found.append((name, operator, value))
    return found or [(name, "IS NOT NULL", None)]


def _from_lines(
    ctx: Context,
    settings: Settings,
    where: list[tuple[str, str, Any]],
    root: str,
    paths: list[str] | None,
    page: Page,
) -> Page.Of[Task]:
    """The same list where the vault's settings read lines otherwise than the index did."""
    below = f"{root.strip('/')}/" if root.strip("/") else ""
    chosen = None if paths is None else set(paths)
    rows = [
        row
        for row in load(ctx, settings)
        if row.path.startswith(below) and (chosen is None or row.path in chosen)
    ]
    found = [row for row in rows if all(_meets(row, *condition) for condition in where)]
    cut = page.cut(found, key=lambda row: (row.path, row.line))
    last = [cut.items[-1].path, cut.items[-1].line] if cut.cursor else None
    return page.of([task(row) for row in cut.items], cut.total_count, last)


def _meets(row: TaskRow, name: str, operator: str, wanted: Any) -> bool:
    value = getattr(row, name)
    if operator == "IS NOT NULL":
        return value is not None
    if value is None:
        return False
    if operator == "IN":
        return value in wanted
    if operator == "NOT IN":
        return value not in wanted
    if operator == "CONTAINS":
        return bool(wanted in value)
    if operator == "HAS":
        return wanted.lower() in value.lower()
    if operator == "HAS ANY":
        return bool({item.lower() for item in value} & {item.lower() for item in wanted})
    return bool({"<": value < wanted, ">": value > wanted, "=": value == wanted}[operator])


def _cut(rows: list[TaskRow], page: Page) -> Page.Of[TaskRow]:
    """One page in the query's own order: behind the last task shown, wherever that is now."""
    after, start = page.after, 0
    if after is not None:
        count, path, line = after
        places = (n + 1 for n, row in enumerate(rows) if (row.path, row.line) == (path, line))
        start = next(places, min(int(count), len(rows)))
    shown = rows[start : start + page.limit]
    more = start + len(shown) < len(rows)
    return page.of(shown, len(rows), [start + len(shown), shown[-1].path, shown[-1].line] if more else None)


def _wrong(error: QueryError) -> ToolError:
    return ToolError("invalid_input", str(error), line=error.number, reason=error.reason)


def _properties(ctx: Context, path: str) -> dict[str, Any]:
    row = ctx.index.file(path)
    return row.properties if row else {}
