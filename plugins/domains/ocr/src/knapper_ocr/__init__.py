"""Ocr: the text of pictures, scans and documents, which search then finds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from knapper import Context, Doc, Domain, ReadPath, Record, ToolError, hookimpl
from knapper.bridge import EngineName
from knapper.domain import FileText
from knapper_ocr.asking import Answer, Asking, milliseconds
from knapper_ocr.kept import TABLES, Kept
from knapper_ocr.settings import OcrSettings

if TYPE_CHECKING:
    from knapper.index.derived import Unread
    from knapper.store.state import DomainStore

ocr = Domain(
    "ocr",
    summary="Read the text of images and scanned documents.",
    group="attachments",
    settings=OcrSettings,
    tables=TABLES,
)

MANY = 20
MOST_TEXT = 200_000  # characters in one answer; the rest is kept, searchable, and had file by file


class PageOfText(Record):
    page: int
    text: str
    confidence: float | None = None


class TextOfFile(Record):
    path: str
    text: str
    cached: bool
    duration_ms: int
    engine: Literal["native", "obsidian"]
    pages: list[PageOfText] | None = None
    unread_pages: list[int] | None = None


@ocr.tool("read:ocr", rate="write", words="scan scanned extract recognise handwriting document")
def ocr_attachment(
    ctx: Context,
    path: ReadPath,
    force: Annotated[bool, Doc("Read it anew, although its text is kept.")] = False,
    engine: EngineName = "auto",
) -> TextOfFile:
    """Read the text of a PDF or picture, page by page; search finds it from then on. Kept until its content changes."""
    started = time.monotonic()
    answer = Asking(ctx).text(path, force, engine)
    return TextOfFile(
        path=path,
        text=answer.reading.text,
        cached=answer.cached,
        duration_ms=milliseconds(started),
        engine=answer.engine,
        pages=_pages(answer),
        unread_pages=[n for n, page in enumerate(answer.reading.pages, 1) if page.unread] or None,
    )


class BulkText(Record):
    path: str
    ok: bool
    text: str | None = None
    error: dict[str, Any] | None = None


class BulkTexts(Record):
    processed: int
    results: list[BulkText]
    total_duration_ms: int
    texts_left_out: int = 0


@ocr.tool(
    "read:ocr",
    rate="bulk",
    confirm="more than 20 files",
    reach="the files below root",
    words="scan scanned extract recognise all",
)
def ocr_bulk(
    ctx: Context,
    paths: Annotated[list[ReadPath] | None, Doc("The files to read.", max_length=1000)] = None,
    root: Annotated[str | None, Doc("Or all below this folder; the vault where neither is given.")] = None,
    extensions: Annotated[
        list[str], Doc("Which files below root; these six where absent: .pdf .png .jpg .jpeg .tiff .webp.")
    ] = [  # noqa: B006 (copied for each call)
        ".pdf",
        ".png",
        ".jpg",
        ".jpeg",
        ".tiff",
        ".webp",
    ],
    force: Annotated[bool, Doc("Read them anew, although their texts are kept.")] = False,
    max_concurrent: Annotated[int, Doc("Files read at once.", ge=1, le=4)] = 2,
) -> BulkTexts:
    """Read the text of many PDFs and pictures, so that search finds it; a result for each. texts_left_out counts texts too long for the answer."""
    from knapper_ocr.bulk import Bulk

    started = time.monotonic()
    wanted = _wanted(ctx, paths, root, extensions)
    ctx.confirm(len(wanted) > MANY, {"files": len(wanted), "root": root or "", "first": wanted[:5]})
    results = Bulk(ctx, wanted, force, max_concurrent).run()
    shown, left_out = _shown(results)
    return BulkTexts(
        processed=len(shown),
        results=shown,
        total_duration_ms=milliseconds(started),
        texts_left_out=left_out,
    )


@ocr.texts(".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif", ".bmp")
def kept_texts(store: DomainStore, vault: str, files: Sequence[Unread]) -> Iterable[FileText]:
    """What was read of files, for the index."""
    return Kept(store, vault).texts(files)


def _pages(answer: Answer) -> list[PageOfText] | None:
    if answer.engine == "obsidian":
        return None
    return [
        PageOfText(page=number, text=page.text, confidence=page.confidence)
        for number, page in enumerate(answer.reading.pages, 1)
    ]


def _wanted(ctx: Context, paths: list[str] | None, root: str | None, extensions: list[str]) -> list[str]:
    if paths is not None and root is not None:
        raise ToolError("invalid_input", "give paths or root, not both", field="root")
    if paths is not None:
        return list(dict.fromkeys(paths))
    endings = [f".{extension.lower().lstrip('.')}" for extension in extensions]
    return [entry.path for entry in ctx.vault.walk(root or "", extensions=endings)]


def _shown(results: list[tuple[str, Answer | ToolError]]) -> tuple[list[BulkText], int]:
    shown, size, left_out = [], 0, 0
    for path, result in results:
        if isinstance(result, ToolError):
            shown.append(BulkText(path=path, ok=False, error=result.envelope()))
            continue
        text = result.reading.text
        fits = size + len(text) <= MOST_TEXT
        size, left_out = (size + len(text), left_out) if fits else (size, left_out + 1)
        shown.append(BulkText(path=path, ok=True, text=text if fits else None))
    return shown, left_out


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return ocr
