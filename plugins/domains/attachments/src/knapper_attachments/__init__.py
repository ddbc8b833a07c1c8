"""Attachments: the files that are not notes, which notes embed or link to."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Annotated

from knapper import (
    Alias,
    Context,
    DeletePath,
    Doc,
    Domain,
    Image,
    Page,
    ReadPath,
    Record,
    ToolError,
    WritePath,
    hookimpl,
)
from knapper.errors import define
from knapper.index.rows import is_note
from knapper.vault import mime
from knapper.vault.files import File
from knapper.vault.moves import canvas_references, canvases_naming, move_files

attachments = Domain("attachments", summary="List, fetch, move and delete attachments.", group="attachments")

TOO_LARGE = define(
    "QUERY_TOO_LARGE",
    "The file is larger than may be sent.",
    recovery="Ask with allow_large, or open the file in the vault.",
    number=-32008,
)
NAMES = {"note_not_found": "ATTACHMENT_NOT_FOUND", "path_invalid": "INVALID_PATH"}
LARGEST = 50 * 1024 * 1024


class Attachment(Record):
    path: str
    size_bytes: int
    mime: str
    mtime: str
    reference_count: int


@attachments.tool("read:attachments", words="pictures images photos media unused files see pdf")
def list_attachments(
    ctx: Context,
    root: Annotated[str, Doc("Only below this folder.")] = "",
    extensions: Annotated[list[str] | None, Doc("Such as .png.")] = None,
    referenced_only: bool = False,
    orphans_only: Annotated[bool, Doc("Only those no note or canvas refers to.")] = False,
    page: Page = Page(),
) -> Page.Of[Attachment]:
    """List files that are not notes, with how many notes and canvases refer to each."""
    if referenced_only and orphans_only:
        raise ToolError("invalid_input", "referenced_only and orphans_only exclude each other")
    rows, total, last = ctx.index.references(
        page,
        root=root,
        extensions=extensions or [],
        referenced_only=referenced_only,
        orphans_only=orphans_only,
        canvases=canvas_references(ctx.vault, ctx.index),
    )
    items = [
        Attachment(
            path=path, size_bytes=size, mime=mime.by_name(path), mtime=_iso(mtime), reference_count=count
        )
        for path, size, mtime, count in rows
    ]
    return page.of(items, total, last)


class Fetched(Record):
    path: str
    size_bytes: int
    mime: str
    mtime: str
    content_hash: str
    data_base64: str | None = None


@attachments.tool("read:attachments", words="download view picture image photo media file")
def get_attachment(
    ctx: Context,
    path: Annotated[ReadPath, Alias("vault_relative_path", "vaultRelativePath")],
    download: Annotated[
        bool, Doc("Send the bytes too; a picture also comes as one."), Alias("include_data")
    ] = False,
    allow_large: Annotated[bool, Doc("Past max_bytes, up to 50 MiB."), Alias("allowLarge")] = False,
    max_bytes: Annotated[int, Doc("The most to send.", ge=1)] = 5_000_000,
) -> Fetched:
    """Look at an attachment, and fetch its bytes where asked; its type is read from its content."""
    _check_kind(path)
    file = _read(ctx, path)
    size, kind = len(file.data), mime.of(path, file.data[:4096])
    answer = Fetched(
        path=path, size_bytes=size, mime=kind, mtime=_iso(file.stat.mtime_ns), content_hash=file.hash
    )
    if download:
        if size > LARGEST or (size > max_bytes and not allow_large):
            limit = LARGEST if allow_large else max_bytes
            raise ToolError(
                TOO_LARGE,
                f"{path!r} has {size} bytes, {limit} are allowed",
                path=path,
                size=size,
                limit=limit,
            )
        if kind in mime.IMAGES:
            ctx.attach(Image(file.data, kind))
        answer.data_base64 = b64encode(file.data).decode()
    return answer


class MovedAttachment(Record):
    from_: str
    to: str
    moved_at: str
    references_updated: int


@attachments.tool(
    "write:attachments",
    "delete:attachments",
    rate="write",
    confirm="more than 10 references, crossing a top-level folder, or overwriting",
    reach="notes and canvases that refer to it",
    words="picture image photo media relocate",
)
def move_attachment(
    ctx: Context,
    from_: DeletePath,
    to: WritePath,
    update_references: Annotated[bool, Doc("Rewrite every link to it.")] = True,
    overwrite_target: bool = False,
) -> MovedAttachment:
    """Move or rename an attachment; every link and embed of it is rewritten, all files or none."""
    _check_kind(from_)
    _check_kind(to)
    if from_ == to:
        raise ToolError("invalid_input", "from and to are the same path", path=to)
    if ctx.vault.exists(from_) != "file":
        raise ToolError("note_not_found", f"there is no file {from_!r}", path=from_)
    taken = ctx.vault.exists(to) is not None
    if taken and not overwrite_target:
        raise ToolError("note_exists", f"{to!r} is taken", path=to)
    references = len(_referring(ctx, from_))
    needed = taken or references > 10 or _top(from_) != _top(to)
    ctx.confirm(needed, {"from": from_, "to": to, "references": references, "overwrites": taken})
    done = move_files(
        ctx.vault, ctx.index, {from_: to}, update_links=update_references, overwrite=overwrite_target
    )
    return MovedAttachment(from_=from_, to=to, moved_at=ctx.stamp(), references_updated=done.links)


class DeletedAttachment(Record):
    path: str
    deleted_at: str
    recoverable: bool
    references_at_delete: list[str]
    trash_path: str | None = None


@attachments.tool(
    "delete:attachments", destructive=True, words="picture image photo media remove erase unused"
)
def delete_attachment(
    ctx: Context,
    path: DeletePath,
    hard: Annotated[bool, Doc("Do not keep it in the trash.")] = False,
    force: Annotated[bool, Doc("Although notes or canvases refer to it.")] = False,
) -> DeletedAttachment:
    """Delete an attachment; one that notes or canvases refer to only with force. A person confirms it."""
    _check_kind(path)
    references = _referring(ctx, path)
    if references and not force:
        raise ToolError(
            "invalid_input",
            f"{len(references)} notes or canvases refer to {path!r}; force deletes it all the same",
            path=path,
            references=references[:50],
        )
    done = ctx.vault.delete(path, hard=hard)
    return DeletedAttachment(
        path=done.path,
        deleted_at=done.at,
        recoverable=done.trash_path is not None,
        references_at_delete=references,
        trash_path=done.trash_path,
    )


def _read(ctx: Context, path: str) -> File:
    """The file; an error also has the name that readers of attachments know it by."""
    try:
        return ctx.vault.read(path)
    except ToolError as error:
        if error.code in NAMES:
            error.details["errorCode"] = NAMES[error.code]
        raise


def _referring(ctx: Context, path: str) -> list[str]:
    ctx.index.level()  # nothing is thrown away because who needs it is not indexed yet
    return sorted([*ctx.index.referring(path), *canvases_naming(ctx.vault, ctx.index, path)])


def _check_kind(path: str) -> None:
    """Notes have tools of their own, and what is hidden is nobody's attachment."""
    if is_note(path):
        raise ToolError(
            "invalid_input",
            f"{path!r} is a note, not an attachment",
            path=path,
            errorCode="ATTACHMENT_NOT_ALLOWED",
        )


def _top(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def _iso(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@hookimpl
def knapper_domains() -> Domain:
    return attachments
