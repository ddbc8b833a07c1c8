"""Tools that read and change .base files. The engine is imported by the first of their calls."""

from __future__ import annotations

from typing import Annotated, Any

from knapper import Context, Doc, ReadPath, Record, ToolError, WritePath
from knapper_bases.domain import bases


class BaseFile(Record):
    path: str
    base: dict[str, Any]
    content_hash: str


@bases.tool("read:bases", words="database definition structure")
def read_base(ctx: Context, path: ReadPath) -> BaseFile:
    """Read a base: its filters, formulas, properties and views."""
    from knapper_bases import texts

    file = ctx.vault.read(path)
    return BaseFile(path=path, base=texts.read(file.text, path).as_json(), content_hash=file.hash)


class CreatedBase(Record):
    path: str
    created_at: str
    content_hash: str


@bases.tool("write:bases", repeat="keyed", confirm="overwrite", words="database table view new")
def create_base(
    ctx: Context,
    path: WritePath,
    base: Annotated[dict[str, Any], Doc("filters, formulas, properties and views, as read_base gives them.")],
    overwrite: bool = False,
) -> CreatedBase:
    """Create a .base file from its views and filters."""
    from knapper_bases import texts

    _check_name(path)
    text = texts.created(base, path)
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


@bases.tool(
    "write:bases", confirm="changing the top-level filters", words="database column edit modify add row"
)
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
    from knapper_bases import texts

    before = texts.read(ctx.vault.read(path).text, path)
    changes_filters = "filters" in patch and patch["filters"] != before.data.get("filters")
    ctx.confirm(changes_filters, {"path": path, "filters": patch.get("filters")})
    done = ctx.vault.edit(path, lambda text: texts.updated(text, patch, path), prev_hash=prev_hash)
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


def _check_name(path: str) -> None:
    if not path.lower().endswith(".base"):
        raise ToolError("invalid_input", f"{path!r} does not end with .base", path=path)
