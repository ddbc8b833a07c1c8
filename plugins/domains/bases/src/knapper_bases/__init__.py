"""Bases: Obsidian's .base files, read, changed and queried with Obsidian closed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from knapper import Context, Doc, Domain, Page, ReadPath, Record, ToolError, WritePath, hookimpl
from knapper_bases.engine import (
    Base,
    BasesError,
    BasesSyntaxError,
    Budget,
    BudgetExceeded,
    Group,
    Result,
    create,
    plain,
    query,
    read,
    read_filters,
    update,
)
from knapper_bases.vault import IndexedVault

bases = Domain("bases", summary="Read, change and query Obsidian's bases.", group="structured")

SECONDS = 5.0


class BaseFile(Record):
    path: str
    base: dict[str, Any]
    content_hash: str


@bases.tool("read:bases")
def read_base(ctx: Context, path: ReadPath) -> BaseFile:
    """Read a base: its filters, formulas, properties and views."""
    file = ctx.vault.read(path)
    return BaseFile(path=path, base=_read(file.text, path).as_json(), content_hash=file.hash)


class CreatedBase(Record):
    path: str
    created_at: str
    content_hash: str


@bases.tool("write:bases", repeat="keyed", confirm="overwrite")
def create_base(
    ctx: Context,
    path: WritePath,
    base: Annotated[dict[str, Any], Doc("filters, formulas, properties and views, as read_base gives them.")],
    overwrite: bool = False,
) -> CreatedBase:
    """Create a .base file from its views and filters."""
    _check_name(path)
    try:
        text = create(base)
    except BasesSyntaxError as error:
        raise _syntax(error, path) from None
    taken = ctx.vault.exists(path) is not None
    ctx.confirm(taken and overwrite, {"path": path, "overwrites": True})
    done = ctx.vault.write(path, text, mode="upsert" if overwrite else "create")
    return CreatedBase(path=done.path, created_at=done.at, content_hash=done.hash)


class Applied(Record):
    views_added: int
    views_removed: int
    views_updated: int
    filters_changed: bool


class UpdatedBase(Record):
    path: str
    applied: Applied
    content_hash: str
    updated_at: str


@bases.tool("write:bases", confirm="changing the top-level filters")
def update_base(
    ctx: Context,
    path: WritePath,
    patch: Annotated[
        dict[str, Any],
        Doc("filters, formulas, properties, add_views, remove_views, update_views{name: {…}}; null removes."),
    ],
    prev_hash: Annotated[str | None, Doc("Only if the base still has this content_hash.")] = None,
) -> UpdatedBase:
    """Change a base's filters, formulas, properties or views; everything else in the file stays as it is."""
    before = _read(ctx.vault.read(path).text, path)
    changes_filters = "filters" in patch and patch["filters"] != before.data.get("filters")
    ctx.confirm(changes_filters, {"path": path, "filters": patch.get("filters")})
    try:
        done = ctx.vault.edit(path, lambda text: update(text, patch), prev_hash=prev_hash)
    except BasesSyntaxError as error:
        raise _syntax(error, path) from None
    return UpdatedBase(
        path=done.path,
        applied=Applied(
            views_added=len(patch.get("add_views") or []),
            views_removed=len(patch.get("remove_views") or []),
            views_updated=len(patch.get("update_views") or {}),
            filters_changed=changes_filters,
        ),
        content_hash=done.hash,
        updated_at=done.at,
    )


class BaseRow(Record):
    note_path: str
    columns: dict[str, Any]


class BaseGroup(Record):
    key: Any
    count: int
    summaries: dict[str, Any] | None = None


class BaseFault(Record):
    message: str
    path: str
    count: int


class BaseRows(Page.Of[BaseRow], kw_only=True):
    view_used: str
    engine: str = "native"
    groups: list[BaseGroup] | None = None
    summaries: dict[str, Any] | None = None
    faults: list[BaseFault] | None = None


@bases.tool("read:bases", "read:notes", rate="bulk")
def query_base(
    ctx: Context,
    path: ReadPath,
    view: Annotated[str | None, Doc("The view's name; the first one if absent.")] = None,
    override_filters: Annotated[Any, Doc("Filters to use instead of the base's and the view's own.")] = None,
    page: Page = Page(),
) -> BaseRows:
    """Run a view of a base over the notes you may read, with its own filters, formulas, sorting and grouping."""
    base = _read(ctx.vault.read(path).text, path)
    try:
        filters = None if override_filters is None else read_filters(override_filters)
        now = datetime.fromtimestamp(ctx.now())
        found = query(
            base, IndexedVault(ctx), view, filters=filters, this=path, now=now, budget=Budget(seconds=SECONDS)
        )
        return _answer(found, page)
    except BudgetExceeded as error:
        raise ToolError("compute_budget_exceeded", f"the view takes too long: {error}", path=path) from None
    except BasesSyntaxError as error:
        raise _syntax(error, path) from None
    except BasesError as error:
        raise ToolError("bases_syntax_error", str(error), path=path, expression=error.expression) from None


def _answer(found: Result, page: Page) -> BaseRows:
    """One page of the rows, by their place in the view's own order and their path."""
    after = page.after
    start = 0 if after is None else _place(found, after)
    rows = found.rows[start : start + page.limit]
    more = start + page.limit < len(found.rows)
    items = [BaseRow(note_path=row.file.path, columns=found.plain_cells(row)) for row in rows]
    cut = page.of(items, len(found.rows), [start + len(rows), rows[-1].file.path] if more else None)
    return BaseRows(
        items=items,
        cursor=cut.cursor,
        total_count=cut.total_count,
        view_used=found.view.name,
        groups=None if found.groups is None else [_group(g) for g in found.groups],
        summaries=_plain(found.summaries),
        faults=[BaseFault(message=str(f.error), path=f.path, count=f.count) for f in found.faults] or None,
    )


def _place(found: Result, after: Any) -> int:
    """Where the next page begins: behind the last row shown, wherever that is now."""
    count, path = after
    for number, row in enumerate(found.rows):
        if row.file.path == path:
            return number + 1
    return min(int(count), len(found.rows))


def _group(group: Group) -> BaseGroup:
    return BaseGroup(key=plain(group.key, Budget()), count=len(group.rows), summaries=_plain(group.summaries))


def _plain(summaries: dict[str, object]) -> dict[str, Any] | None:
    return {name: plain(value, Budget()) for name, value in summaries.items()} or None


def _read(text: str, path: str) -> Base:
    try:
        return read(text)
    except BasesSyntaxError as error:
        raise _syntax(error, path) from None


def _syntax(error: BasesSyntaxError, path: str) -> ToolError:
    issues = [{"field": issue.place, "message": issue.message} for issue in error.issues]
    return ToolError("bases_syntax_error", str(error), path=path, issues=issues)


def _check_name(path: str) -> None:
    if not path.lower().endswith(".base"):
        raise ToolError("invalid_input", f"{path!r} does not end with .base", path=path)


@hookimpl
def knapper_domains() -> Domain:
    return bases
