"""Workspaces: the layouts of windows and panes that are saved under names in Obsidian."""

from __future__ import annotations

from typing import Annotated, Any

from knapper import Context, Doc, Domain, Record, ToolError, hookimpl
from knapper_workspaces import file
from knapper_workspaces.layouts import Json, check, saved, shown

workspaces = Domain(
    "workspaces",
    summary="List, open and save layouts of Obsidian's windows and panes.",
    group="workspace",
    exempt={file.FILE, file.SESSION},
)

Name = Annotated[str, Doc("The workspace's name.", min_length=1, max_length=200)]


class Workspace(Record, omit_defaults=False):
    name: str
    active: bool
    modified_at: str | None = None


class Workspaces(Record):
    workspaces: list[Workspace]


@workspaces.tool("read:workspaces", words="layouts arrangements")
def list_workspaces(ctx: Context) -> Workspaces:
    """List the saved workspaces, and which of them is active."""
    layouts, active = file.load(ctx)
    return Workspaces(
        workspaces=[
            Workspace(name=name, active=name == active, modified_at=_mtime(layout))
            for name, layout in layouts.items()
        ]
    )


class OpenedWorkspace(Record):
    name: str
    opened_at: str
    layout: dict[str, Any]
    prior_workspace: str | None = None


@workspaces.tool(
    "write:workspaces",
    reach="the file of saved workspaces",
    words="switch load layout arrangement panes restore window",
)
def open_workspace(
    ctx: Context,
    name: Name,
    save_current_first: Annotated[bool, Doc("Save the layout shown now under the active name.")] = False,
) -> OpenedWorkspace:
    """Make a saved workspace the active one and hand over its layout; an Obsidian that runs keeps what it shows."""
    session = file.session(ctx) if save_current_first else None
    opened: Json = {}
    prior = ""

    def open_(layouts: dict[str, Json], active: str) -> str:
        nonlocal opened, prior
        if name not in layouts:
            raise ToolError("invalid_input", f"no workspace is called {name!r}", known=list(layouts)[:50])
        if session is not None:
            if not active:
                raise ToolError("invalid_input", "no workspace is active, so there is no name to save under")
            layouts[active] = _onto(layouts.get(active), saved(session, ctx.stamp()))
        opened, prior = layouts[name], active
        return name

    file.change(ctx, open_)
    return OpenedWorkspace(
        name=name,
        opened_at=ctx.stamp(),
        layout=shown(opened, lambda path: _readable(ctx, path)),
        prior_workspace=prior or None,
    )


class SavedWorkspace(Record):
    name: str
    saved_at: str


@workspaces.tool(
    "write:workspaces",
    repeat="keyed",
    confirm="overwrite",
    reach="the file of saved workspaces",
    words="store keep layout arrangement panes current",
)
def save_workspace(
    ctx: Context,
    name: Name,
    layout: Annotated[
        dict[str, Any] | None, Doc("As open_workspace gives it; the layout Obsidian shows if absent.")
    ] = None,
    overwrite: bool = False,
) -> SavedWorkspace:
    """Save a layout, or the one Obsidian shows now, under a name."""
    stamp = ctx.stamp()
    kept = saved(file.session(ctx) if layout is None else layout, stamp)
    check(kept)

    def save(layouts: dict[str, Json], active: str) -> str:
        if name in layouts and not overwrite:
            raise ToolError("note_exists", f"there is already a workspace {name!r}", name=name)
        layouts[name] = _onto(layouts.get(name), kept)
        return name if layout is None else active  # what is shown is from now on known by this name

    taken = name in file.load(ctx)[0]
    ctx.confirm(taken and overwrite, {"name": name, "overwrites": True})
    file.change(ctx, save)
    return SavedWorkspace(name=name, saved_at=stamp)


def _onto(old: Json | None, new: Json) -> Json:
    """The old layout changed to the new one in place, so that what is the same keeps its spelling."""
    if old is None:
        return dict(new)
    for name in set(old) - set(new):
        del old[name]
    old.update(new)
    return old


def _mtime(layout: Json) -> str | None:
    mtime = layout.get("mtime")
    return mtime if isinstance(mtime, str) else None


def _readable(ctx: Context, path: str) -> bool:
    try:
        ctx.vault.authorise("read", path)
    except ToolError as error:
        return error.code == "path_invalid"
    return True


@hookimpl
def knapper_domains() -> Domain:
    return workspaces
