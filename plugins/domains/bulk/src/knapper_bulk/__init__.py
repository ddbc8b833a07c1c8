"""Bulk: the same change to many notes, with a result for each."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from knapper import Context, DeleteNotePath, Doc, Domain, Record, ToolError, WriteNotePath, hookimpl
from knapper.vault import frontmatter
from knapper.vault.frontmatter import FrontmatterError
from knapper.vault.markdown import parse
from knapper.vault.moves import move_files

bulk = Domain("bulk", summary="Create, change and move many notes at once.", group="notes")

MANY = 50
Mode = Literal["create", "overwrite", "upsert"]


class NewNote(msgspec.Struct, forbid_unknown_fields=True):
    path: WriteNotePath
    content: str
    frontmatter: dict[str, Any] | None = None
    mode: Mode = "create"


class CreatedItem(Record):
    path: str
    ok: bool
    mode_used: str | None = None
    content_hash: str | None = None
    error: dict[str, Any] | None = None


class CreatedAll(Record):
    processed: int
    succeeded: int
    failed: int
    results: list[CreatedItem]
    duration_ms: int


@bulk.tool(
    "write:notes",
    "bulk:notes",
    repeat="keyed",
    confirm="more than 50 notes, or any overwrite",
    words="mass batch several dozens import generate",
)
def bulk_create_notes(
    ctx: Context,
    items: Annotated[list[NewNote], Doc("The notes to write.", min_length=1, max_length=200)],
    stop_on_first_error: bool = False,
    max_concurrent: Annotated[
        int, Doc("Accepted for compatibility; writes go one after the other.", ge=1, le=16)
    ] = 4,
) -> CreatedAll:
    """Write up to 200 notes; each has its own result."""
    replaced = [i.path for i in items if i.mode != "create" and ctx.vault.exists(i.path) == "file"]
    ctx.confirm(len(items) > MANY or bool(replaced), {"notes": len(items), "overwrites": replaced})

    def write(item: NewNote) -> CreatedItem:
        text = frontmatter.merge(item.content, item.frontmatter) if item.frontmatter else item.content
        done = ctx.vault.write(item.path, text, mode=item.mode)
        return CreatedItem(
            path=done.path,
            ok=True,
            mode_used="create" if done.created else "overwrite",
            content_hash=done.hash,
        )

    started = time.monotonic()
    results = _each(
        ctx,
        items,
        write,
        lambda i, error: CreatedItem(path=i.path, ok=False, error=error),
        stop_on_first_error,
    )
    return CreatedAll(**_counts(results, started), results=results)


class SetItem(Record):
    path: str
    ok: bool
    prev_value: Any = None
    content_hash: str | None = None
    error: dict[str, Any] | None = None


class SetAll(Record):
    processed: int
    succeeded: int
    failed: int
    results: list[SetItem]
    duration_ms: int


@bulk.tool(
    "write:notes",
    "bulk:notes",
    confirm="more than 50 notes",
    words="mass batch several frontmatter metadata update every",
)
def bulk_set_property(
    ctx: Context,
    paths: Annotated[list[WriteNotePath], Doc("The notes to change.", min_length=1, max_length=500)],
    key: str,
    value: Any,
    stop_on_first_error: bool = False,
) -> SetAll:
    """Set one property in up to 500 notes; every other byte of them stays as it is."""
    ctx.confirm(len(paths) > MANY, {"notes": len(paths), "key": key})

    def change(path: str) -> SetItem:
        before = (parse(ctx.vault.read(path).text).frontmatter or {}).get(key)
        done = ctx.vault.edit(path, lambda text: frontmatter.set_key(text, key, value))
        return SetItem(path=done.path, ok=True, prev_value=before, content_hash=done.hash)

    started = time.monotonic()
    results = _each(
        ctx, paths, change, lambda p, error: SetItem(path=p, ok=False, error=error), stop_on_first_error
    )
    return SetAll(**_counts(results, started), results=results)


class Move(msgspec.Struct, forbid_unknown_fields=True, rename={"from_": "from"}):
    from_: DeleteNotePath
    to: WriteNotePath


class MovedItem(Record):
    from_: str
    to: str
    ok: bool
    backlinks_updated: int | None = None
    error: dict[str, Any] | None = None


class MovedAll(Record):
    processed: int
    results: list[MovedItem]
    total_backlinks_updated: int
    dry_run: bool


@bulk.tool(
    "write:notes",
    "delete:notes",
    "bulk:notes",
    repeat="keyed",
    confirm="a real run",
    reach="notes and canvases that link to what is moved",
    words="mass batch several reorganise rename relocate folder",
)
def bulk_move_notes(
    ctx: Context,
    moves: Annotated[
        list[Move], Doc("From where to where; chains and swaps work.", min_length=1, max_length=100)
    ],
    update_backlinks: bool = True,
    dry_run: bool = True,
) -> MovedAll:
    """Move up to 100 notes and rewrite every link to them; the whole set lands or none of it."""
    _refuse_colliding(ctx, moves)
    wanted = {move.from_: move.to for move in moves}
    links = move_files(ctx.vault, ctx.index, wanted, update_links=update_backlinks, dry_run=True).counts
    if not dry_run:
        ctx.confirm(
            True,
            {"moves": [{"from": move.from_, "to": move.to} for move in moves], "links": links.total()},
        )
        links = move_files(ctx.vault, ctx.index, wanted, update_links=update_backlinks).counts
    results = [
        MovedItem(from_=m.from_, to=m.to, ok=True, backlinks_updated=links.get(m.from_, 0)) for m in moves
    ]
    return MovedAll(
        processed=len(moves), results=results, total_backlinks_updated=links.total(), dry_run=dry_run
    )


def _refuse_colliding(ctx: Context, moves: list[Move]) -> None:
    """Everything that would make the set impossible, found before anything moves and named for each move."""
    sources = [move.from_ for move in moves]
    targets = [move.to for move in moves]
    problems = []
    for move in moves:
        if ctx.vault.exists(move.from_) != "file":
            problems.append({"from": move.from_, "code": "note_not_found"})
        elif move.from_ == move.to or sources.count(move.from_) > 1 or targets.count(move.to) > 1:
            problems.append({"from": move.from_, "to": move.to, "code": "invalid_input"})
        elif move.to not in sources and ctx.vault.exists(move.to) is not None:
            problems.append({"from": move.from_, "to": move.to, "code": "note_exists"})
    if problems:
        raise ToolError(
            "bulk_partial",
            f"{len(problems)} of {len(moves)} moves are impossible; none was made",
            results=problems,
        )


def _each(
    ctx: Context,
    items: list[Any],
    act: Callable[[Any], Any],
    fail: Callable[[Any, dict[str, Any]], Any],
    stop: bool,
) -> list[Any]:
    """A result for each item, in order; a failing one costs only itself, or ends the run where that was asked for."""
    results = []
    for number, item in enumerate(items):
        ctx.progress(number, len(items))
        try:
            results.append(act(item))
        except FrontmatterError as error:
            results.append(
                fail(
                    item, ToolError("invalid_input", f"its properties cannot be changed: {error}").envelope()
                )
            )
        except ToolError as error:
            results.append(fail(item, error.envelope()))
        if stop and not results[-1].ok:
            break
    return results


def _counts(results: list[Any], started: float) -> dict[str, int]:
    succeeded = sum(result.ok for result in results)
    return {
        "processed": len(results),
        "succeeded": succeeded,
        "failed": len(results) - succeeded,
        "duration_ms": int((time.monotonic() - started) * 1000),
    }


@hookimpl
def knapper_domains() -> Domain:
    return bulk
