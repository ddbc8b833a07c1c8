"""The pictures a drawing embeds from the vault, as far as the caller may read them."""

from __future__ import annotations

from knapper import Context, ToolError
from knapper.vault import mime
from knapper_excalidraw.drawing import Drawing

LARGEST = 5_000_000  # bytes; a larger picture is shown as a box with its name


def embedded(ctx: Context, drawing: Drawing, path: str) -> dict[str, tuple[bytes, str]]:
    """Bytes and types of the pictures that the elements show, by file id."""
    wanted = {str(one.get("fileId")) for one in drawing.shown if one.get("type") == "image"}
    found = {}
    for own, name in drawing.files.items():
        if own in wanted and drawing.is_note and (content := _read(ctx, name, path)) is not None:
            found[own] = content
    return found


def _read(ctx: Context, name: str, source: str) -> tuple[bytes, str] | None:
    target = ctx.index.resolve(name, source)
    if target is None:
        return None
    try:
        if ctx.vault.stat(target).size > LARGEST:
            return None
        data = ctx.vault.read(target).data
    except ToolError:
        return None  # gone or not for this caller: the drawing is shown without it
    kind = mime.of(target, data[:4096])
    return (data, kind) if kind in mime.IMAGES else None
