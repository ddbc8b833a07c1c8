"""Excalidraw: drawings in the vault, read, made, changed and seen with Obsidian closed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, Domain, Image, ReadPath, Record, ToolError, WritePath, hookimpl
from knapper_excalidraw import live, note
from knapper_excalidraw.changes import Applied, Change, apply
from knapper_excalidraw.drawing import BLANK, PLAIN, Drawing
from knapper_excalidraw.pictures import embedded
from knapper_excalidraw.svg import png, render

excalidraw = Domain("excalidraw", summary="Read, change and draw Excalidraw drawings.", group="structured")

Elements = Annotated[
    list[dict[str, Any]] | None,
    Doc("Excalidraw elements: type, x, y, width, height, and text or points; the rest is filled in."),
]


class EmbeddedFile(Record):
    id: str
    name: str


class ReadDrawing(Record):
    path: str
    source_used: str
    elements: list[dict[str, Any]] | None = None
    text_content: str | None = None
    embedded_files: list[EmbeddedFile] | None = None
    app_state: dict[str, Any] | None = None
    content_hash: str | None = None


@excalidraw.tool("read:excalidraw", words="sketch diagram shapes show")
def read_excalidraw(
    ctx: Context,
    path: ReadPath,
    format: Annotated[Literal["elements", "text", "both"], Doc("What to answer with.")] = "both",
    source: Annotated[
        Literal["auto", "native", "obsidian"], Doc("obsidian asks the running plugin for the text.")
    ] = "auto",
) -> ReadDrawing:
    """Read a drawing: its elements, its texts from top to bottom, and the files embedded in it."""
    _check_name(path)
    file = ctx.vault.read(path)
    if source == "obsidian":
        return ReadDrawing(
            path=path,
            source_used="obsidian",
            text_content=live.text(ctx, path, format),
            content_hash=file.hash,
        )
    drawing = _opened(file.text, path)
    found = ReadDrawing(path=path, source_used="native", content_hash=file.hash)
    if format != "text":
        found.elements = drawing.shown
        found.app_state = drawing.app_state
        found.embedded_files = [EmbeddedFile(id=own, name=name) for own, name in drawing.files.items()]
    if format != "elements":
        found.text_content = "\n\n".join(drawing.texts())
    return found


class CreatedDrawing(Record):
    path: str
    created_at: str
    content_hash: str
    plugin_used: bool
    renamed_ids: dict[str, str] | None = None


@excalidraw.tool(
    "write:excalidraw", repeat="keyed", confirm="overwrite", words="sketch diagram draw new shapes"
)
def create_excalidraw(
    ctx: Context,
    path: WritePath,
    template: Annotated[
        Literal["blank", "compressed-json", "custom"],
        Doc("compressed-json stores the drawing compressed; custom needs elements."),
    ] = "blank",
    elements: Elements = None,
    overwrite: bool = False,
) -> CreatedDrawing:
    """Create a drawing that Excalidraw opens: a .excalidraw.md note, or a plain .excalidraw file."""
    is_note = path.lower().endswith(".excalidraw.md")
    if not is_note and not path.lower().endswith(".excalidraw"):
        raise ToolError(
            "invalid_input", f"{path!r} ends neither with .excalidraw.md nor .excalidraw", path=path
        )
    if template == "custom" and not elements:
        raise ToolError("invalid_input", "the template custom needs elements", field="elements")
    if template == "compressed-json" and not is_note:
        raise ToolError("invalid_input", "only a .excalidraw.md note can be compressed", path=path)
    start = BLANK if is_note else PLAIN
    made = apply(start, path, Change(elements or [], frozenset(), {}, {}), _ms(ctx))
    text = note.compressed(made.text) if template == "compressed-json" else made.text
    taken = ctx.vault.exists(path) is not None
    ctx.confirm(taken and overwrite, {"path": path, "overwrites": True})
    done = ctx.vault.write(path, text, mode="upsert" if overwrite else "create")
    return CreatedDrawing(
        path=done.path,
        created_at=done.at,
        content_hash=done.hash,
        plugin_used=False,
        renamed_ids=made.renamed or None,
    )


class UpdatedDrawing(Record):
    path: str
    applied: Applied
    content_hash: str
    updated_at: str
    renamed_ids: dict[str, str] | None = None


@excalidraw.tool("write:excalidraw", words="sketch diagram edit change shapes")
def update_excalidraw(
    ctx: Context,
    path: WritePath,
    add_elements: Elements = None,
    remove_element_ids: Annotated[list[str] | None, Doc("Texts inside of them go too.")] = None,
    update_elements: Annotated[dict[str, dict[str, Any]] | None, Doc("By id, the fields to set.")] = None,
    update_app_state: Annotated[
        dict[str, Any] | None, Doc("Settings of the drawing; null removes one.")
    ] = None,
    prev_hash: Annotated[str | None, Doc("Only if the drawing still has this content_hash.")] = None,
) -> UpdatedDrawing:
    """Add, remove and update elements of a drawing; all other elements, fields and sections stay as they are."""
    _check_name(path)
    change = Change(
        add_elements or [],
        frozenset(remove_element_ids or ()),
        update_elements or {},
        update_app_state or {},
    )
    applied, renamed, now = Applied(), dict[str, str](), _ms(ctx)

    def changed(text: str) -> str:
        nonlocal applied, renamed
        text, applied, renamed = apply(text, path, change, now)
        return text

    done = ctx.vault.edit(path, changed, prev_hash=prev_hash)
    return UpdatedDrawing(
        path=done.path,
        applied=applied,
        content_hash=done.hash,
        updated_at=done.at,
        renamed_ids=renamed or None,
    )


class ExportedDrawing(Record):
    path: str
    format: str
    mime: str
    width: int
    height: int
    element_count: int
    svg: str | None = None


@excalidraw.tool("read:excalidraw", words="sketch diagram image svg png picture")
def export_excalidraw(
    ctx: Context,
    path: ReadPath,
    format: Annotated[Literal["png", "svg"], Doc("png comes as a picture, svg as text.")] = "png",
    scale: Annotated[float, Doc("Pixels for each unit of the drawing.", ge=0.1, le=4)] = 1.0,
    background: Annotated[bool, Doc("Paint the drawing's background.")] = True,
) -> ExportedDrawing:
    """Render a drawing to a picture, so that it can be seen."""
    _check_name(path)
    drawing = _opened(ctx.vault.read(path).text, path)
    files = drawing.scene.get("files")
    picture = render(
        drawing.shown,
        drawing.app_state,
        files if isinstance(files, dict) else {},
        embedded(ctx, drawing, path),
        background=background,
    )
    answer = ExportedDrawing(
        path=path,
        format=format,
        mime="image/svg+xml",
        width=round(picture.width),
        height=round(picture.height),
        element_count=len(drawing.shown),
    )
    if format == "svg":
        answer.svg = picture.svg
        return answer
    data, answer.width, answer.height = png(picture, scale)
    answer.mime = "image/png"
    ctx.attach(Image(data, "image/png"))
    return answer


def _opened(text: str, path: str) -> Drawing:
    return Drawing(text.replace("\r\n", "\n"), path)


def _check_name(path: str) -> None:
    if not path.lower().endswith((".excalidraw", ".md")):
        raise ToolError("invalid_input", f"{path!r} is neither a .excalidraw file nor a note", path=path)


def _ms(ctx: Context) -> int:
    return int(ctx.now() * 1000)


@hookimpl
def knapper_domains() -> Domain:
    return excalidraw
