"""Bookmarks: what the user pinned in Obsidian's Bookmarks pane."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from knapper import Context, Doc, Domain, Page, Record, ToolError, hookimpl
from knapper_bookmarks import file
from knapper_bookmarks.items import Found, Json, flat, group_at, made

bookmarks = Domain(
    "bookmarks",
    summary="Read and change what is bookmarked in Obsidian.",
    group="workspace",
    exempt={file.FILE, file.OLDER},
)

Kind = Literal["file", "folder", "search", "graph", "url", "heading", "block"]


class Bookmark(Record):
    terse: ClassVar[tuple[str, ...]] = ("id", "type", "target")
    id: str
    type: str
    title: str
    target: str
    group: str | None = None
    created_at: str | None = None
    missing: bool = False


@bookmarks.tool("read:bookmarks", words="favourites starred pinned saved")
def list_bookmarks(
    ctx: Context,
    group: Annotated[
        str | None, Doc("Only this group's, and those of groups in it: Work or Work/Next.")
    ] = None,
    page: Page = Page(),
) -> Page.Of[Bookmark]:
    """List bookmarks in the order Obsidian shows them, each with its group; a file that is gone is marked as missing."""
    listed = [found for found in flat(file.load(ctx)) if _in(found, group) and _may_see(ctx, found)]
    start = _start(listed, page)
    shown = listed[start : start + page.limit]
    more = start + len(shown) < len(listed)
    items = [_bookmark(ctx, found) for found in shown]
    return page.of(items, len(listed), [start + len(shown), shown[-1].id] if more else None)


class AddedBookmark(Record):
    id: str
    type: str
    target: str
    created_at: str
    added: bool


@bookmarks.tool(
    "write:bookmarks", repeat="keyed", reach="the file of bookmarks", words="favourite star pin save"
)
def add_bookmark(
    ctx: Context,
    type: Kind,
    target: Annotated[
        str, Doc("A path, note.md#Heading, note.md#^block, a query, an address or a name.", min_length=1)
    ],
    title: Annotated[str | None, Doc("The name to show instead of the target's own.")] = None,
    group: Annotated[str | None, Doc("Such as Work/Next; made if missing.")] = None,
    allow_duplicate: Annotated[
        bool, Doc("Although the same is bookmarked already, in whatever group.")
    ] = False,
) -> AddedBookmark:
    """Bookmark a file, a folder, a heading, a block, a search, a graph or a web address."""
    target = _checked_target(ctx, type, target)
    ctime = int(ctx.now() * 1000)
    item = made(type, target, title, ctime)
    wanted = "/".join(part for part in (group or "").split("/") if part)
    answer: Found | None = None
    added = False

    def add(items: list[Json]) -> None:
        nonlocal answer, added
        same = next((one for one in flat(items) if (one.type, one.target) == (type, target)), None)
        added = same is None or allow_duplicate
        if added:
            fresh = dict(item)
            (group_at(items, wanted, ctime) if wanted else items).append(fresh)
            same = next(one for one in flat(items) if one.item is fresh)
        answer = same

    file.change(ctx, add)
    if answer is None:
        raise AssertionError("a bookmark was neither found nor made")
    return AddedBookmark(
        id=answer.id, type=type, target=target, created_at=answer.created_at or ctx.stamp(), added=added
    )


class RemovedBookmark(Record):
    id: str
    removed: bool


@bookmarks.tool("delete:bookmarks", reach="the file of bookmarks", words="favourite unstar unpin delete")
def remove_bookmark(
    ctx: Context, id: Annotated[str, Doc("As list_bookmarks gives it.", min_length=1)]
) -> RemovedBookmark:
    """Remove a bookmark; what it leads to stays, and removing it again changes nothing."""
    removed = False

    def remove(items: list[Json]) -> None:
        nonlocal removed
        found = next((one for one in flat(items) if one.id == id and _may_see(ctx, one)), None)
        removed = found is not None
        if found is not None:
            found.among[:] = [item for item in found.among if item is not found.item]

    file.change(ctx, remove)
    return RemovedBookmark(id=id, removed=removed)


def _checked_target(ctx: Context, kind: Kind, target: str) -> str:
    """The target as it is kept: a path as it is spelled on disk, of something that is there."""
    if kind not in ("file", "folder", "heading", "block"):
        return target
    path, mark, subpath = target.partition("#") if kind in ("heading", "block") else (target, "", "")
    located = ctx.vault.authorise("read", path)
    wanted = "folder" if kind == "folder" else "file"
    if ctx.vault.exists(located) != wanted:
        raise ToolError("invalid_input", f"there is no {wanted} {located!r} to bookmark", path=located)
    return located + mark + subpath


def _in(found: Found, group: str | None) -> bool:
    return group is None or found.group == group or (found.group or "").startswith(f"{group}/")


def _may_see(ctx: Context, found: Found) -> bool:
    """A bookmark says that a path exists, so it is shown to those who may know it."""
    if found.path is None:
        return True
    try:
        ctx.vault.authorise("read", found.path)
    except ToolError as error:
        return error.code == "path_invalid"
    return True


def _missing(ctx: Context, found: Found) -> bool:
    if found.path is None:
        return False
    try:
        return ctx.vault.exists(found.path) is None
    except ToolError:
        return True


def _bookmark(ctx: Context, found: Found) -> Bookmark:
    return Bookmark(
        id=found.id,
        type=found.type,
        title=found.title,
        target=found.target,
        group=found.group,
        created_at=found.created_at,
        missing=_missing(ctx, found),
    )


def _start(listed: list[Found], page: Page) -> int:
    """Where the next page begins: behind the last bookmark shown, wherever that is now."""
    if page.after is None:
        return 0
    count, own = page.after
    return next((n + 1 for n, found in enumerate(listed) if found.id == own), min(int(count), len(listed)))


@hookimpl
def knapper_domains() -> Domain:
    return bookmarks
