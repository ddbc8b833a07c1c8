"""Makemd: the spaces of make.md, and what it keeps of the files in them."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from knapper import Context, Doc, Domain, Page, Record, ToolError, hookimpl
from knapper.bridge import EngineName
from knapper.vault import paths
from knapper_makemd import live, rows, spaces
from knapper_makemd.asked import Order, Row, chosen
from knapper_makemd.database import Damaged

makemd = Domain("makemd", summary="Read the spaces of make.md.", group="structured", may_read=spaces.MAY_READ)

Engine = Literal["native", "obsidian"]


class Column(Record):
    name: str
    type: str
    hidden: bool = False
    value: Any = None


class SpaceFound(Record):
    id: str
    name: str
    path: str
    view_count: int
    schema: list[Column] | None = None
    problem: str | None = None


class SpacesFound(Record):
    spaces: list[SpaceFound]
    engine: Engine


@makemd.tool("read:makemd", reach="what make.md keeps in the hidden folders of spaces")
def makemd_list_spaces(ctx: Context, engine: EngineName = "auto") -> SpacesFound:
    """List make.md's spaces with their columns; a space whose database is damaged is listed with what is wrong."""
    if engine == "obsidian":
        return SpacesFound(spaces=[_live_space(space) for space in live.spaces(ctx)], engine="obsidian")
    return SpacesFound(spaces=[_space(ctx, space) for space in spaces.every(ctx)], engine="native")


class SpaceRow(Record):
    terse: ClassVar[tuple[str, ...]] = ("note_path",)
    note_path: str
    columns: dict[str, Any]


class SpaceRows(Page.Of[SpaceRow], kw_only=True):
    engine: Engine


@makemd.tool("read:makemd", reach="what make.md keeps in the hidden folder of the space, and notes in it")
def makemd_query(
    ctx: Context,
    space_id: Annotated[
        str, Doc("From makemd_list_spaces; `/` is the vault's.", min_length=1, max_length=1024)
    ],
    filter: Annotated[
        dict[str, Any] | None,
        Doc("Column to value, or to {eq|ne|lt|lte|gt|gte|in|contains|exists: value}; all must hold."),
    ] = None,
    sort: Annotated[list[str] | None, Doc("Columns; one with - before it descends.", max_length=10)] = None,
    engine: EngineName = "auto",
    page: Page = Page(),
) -> SpaceRows:
    """List the files of a space with what make.md keeps of each; a note's own properties win. `note_path` is a column too."""
    if engine == "obsidian":
        return _live_rows(ctx, space_id, filter, sort, page)
    space = spaces.find(ctx, space_id)
    try:
        found, columns = rows.of(ctx, space)
    except Damaged as error:
        message = f"what make.md keeps of {space.id!r} cannot be read: {error}"
        raise ToolError("invalid_input", message, field="space_id") from None
    order = Order(sort or [], columns)
    wanted = order.sorted(chosen(found, filter, columns))
    left = wanted if page.after is None else order.behind(wanted, page.after)
    return _cut(page, left, len(wanted), order)


def _cut(page: Page, left: list[Row], total: int, order: Order) -> SpaceRows:
    shown = left[: page.limit]
    cut = page.of(shown, total, order.place(shown[-1]) if len(left) > len(shown) else None)
    items = [SpaceRow(note_path=row.path, columns=row.columns) for row in shown]
    return SpaceRows(items=items, cursor=cut.cursor, total_count=total, engine="native")


def _live_rows(
    ctx: Context, space_id: str, filter: dict[str, Any] | None, sort: list[str] | None, page: Page
) -> SpaceRows:
    found = live.rows(ctx, space_id, filter, sort, page.limit, page.after)
    cut = page.of(found.items, found.total, found.cursor)
    items = [SpaceRow(note_path=row.note_path, columns=row.columns) for row in found.items]
    return SpaceRows(items=items, cursor=cut.cursor, total_count=cut.total_count, engine="obsidian")


def _space(ctx: Context, space: spaces.Space) -> SpaceFound:
    found = SpaceFound(
        id=space.id, name=paths.name(space.path) or ctx.vault.name, path=space.path, view_count=0
    )
    try:
        columns, found.view_count = space.look(ctx)
        found.schema = None if columns is None else [_column(column) for column in columns]
        space.definition(ctx)
    except Damaged as error:
        found.problem = str(error)
    return found


def _live_space(space: live.LiveSpace) -> SpaceFound:
    return SpaceFound(
        id=space.id,
        name=space.name,
        path=space.path,
        view_count=space.view_count,
        schema=None if space.schema is None else [_column(column) for column in space.schema],
    )


def _column(found: spaces.Field | live.LiveColumn) -> Column:
    return Column(name=found.name, type=found.type, hidden=found.hidden, value=found.value)


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return makemd
