"""Where Obsidian keeps layouts: the saved ones, and the one it shows now."""

from __future__ import annotations

from collections.abc import Callable

from knapper import Context, ToolError
from knapper.vault.files import Written
from knapper.vault.jsontext import Document
from knapper_workspaces.layouts import Json

FILE = ".obsidian/workspaces.json"
SESSION = ".obsidian/workspace.json"
EMPTY = '{\n  "workspaces": {},\n  "active": ""\n}'


def load(ctx: Context) -> tuple[dict[str, Json], str]:
    """The saved layouts by name, and the name of the active one or nothing."""
    value = _opened(_text(ctx)).value
    return value["workspaces"], _active(value)


def session(ctx: Context) -> Json:
    """The layout Obsidian shows, or showed when it was closed; invalid_input where there is none."""
    if ctx.vault.exists(SESSION) is None:
        raise ToolError(
            "invalid_input", "Obsidian has not stored a current layout in this vault", path=SESSION
        )
    try:
        value = Document(ctx.vault.read(SESSION).text).value
    except ValueError as error:
        raise _broken(SESSION, str(error)) from None
    if not isinstance(value, dict):
        raise _broken(SESSION, "it is not an object")
    return value


def change(ctx: Context, act: Callable[[dict[str, Json], str], str]) -> Written:
    """Change the saved layouts in place; what `act` returns becomes the active one. The rest stays as it is."""

    def changed(text: str) -> str:
        document = _opened(text)
        before = _active(document.value)
        active = act(document.value["workspaces"], before)
        if active != before:
            document.value["active"] = active
        return document.text()

    if ctx.vault.exists(FILE) is None:
        return ctx.vault.write(FILE, changed(EMPTY), mode="create")
    return ctx.vault.edit(FILE, changed)


def _text(ctx: Context) -> str:
    return EMPTY if ctx.vault.exists(FILE) is None else ctx.vault.read(FILE).text


def _active(value: Json) -> str:
    active = value.get("active")
    return active if isinstance(active, str) else ""


def _opened(text: str) -> Document:
    try:
        document = Document(text if text.strip() else EMPTY)
    except ValueError as error:
        raise _broken(FILE, str(error)) from None
    if not isinstance(document.value, dict):
        raise _broken(FILE, "it is not an object")
    listed = document.value.setdefault("workspaces", {})
    if not isinstance(listed, dict) or not all(isinstance(layout, dict) for layout in listed.values()):
        raise _broken(FILE, "workspaces is not an object of layouts")
    return document


def _broken(path: str, reason: str) -> ToolError:
    return ToolError("invalid_input", f"Obsidian's file {path!r} is broken: {reason}", path=path)
