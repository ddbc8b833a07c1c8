"""Bundles: many notes as one text, within a budget of bytes, cut between notes and never inside one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from knapper import Context, Doc, Domain, Record, ToolError, hookimpl
from knapper.vault import frontmatter
from knapper.vault.files import File

bundles = Domain("bundles", summary="Gather many notes into one text for a model.", group="notes")

Format = Literal["markdown", "xml"]
Budget = Annotated[int, Doc("The most the bundle may have.", ge=1, le=5_000_000)]


class Bundled(Record):
    path: str
    bytes: int


class FolderBundle(Record):
    root: str
    bundle: str
    file_count: int
    total_bytes: int
    truncated: bool
    files: list[Bundled]
    left_out: list[str] | None = None
    left_out_count: int = 0


@bundles.tool(
    "read:context",
    "read:notes",
    reach="the readable notes below root",
    words="pack export concatenate combine merge collect prompt directory",
)
def bundle_folder(
    ctx: Context,
    root: Annotated[str, Doc("The folder; empty for the whole vault.")],
    max_files: Annotated[int, Doc("The most notes to take.", ge=1, le=500)] = 100,
    max_bytes: Budget = 500_000,
    extensions: Annotated[list[str], Doc("With their dots.")] = [".md"],  # noqa: B006 - each call gets a copy
    include_frontmatter: bool = True,
    format: Format = "markdown",
) -> FolderBundle:
    """Gather a folder's notes, by path, into one text; says which notes did not fit."""
    folder = ctx.vault.authorise("read", root) if root.strip("/") else ""
    if folder and ctx.vault.exists(folder) != "folder":
        raise ToolError("path_invalid", f"{root!r} is not a folder", path=root)
    paths = [entry.path for entry in ctx.vault.walk(folder, extensions=extensions)]
    made = _bundle(ctx, paths[:max_files], max_bytes, include_frontmatter, format)
    left_out = [*made.left_out, *paths[max_files:]]
    return FolderBundle(
        root=folder,
        bundle=made.text,
        file_count=len(made.files),
        total_bytes=made.size,
        truncated=bool(left_out),
        files=made.files,
        left_out=left_out[:1000] or None,
        left_out_count=len(left_out),
    )


class FileBundle(Record):
    bundle: str
    file_count: int
    total_bytes: int
    truncated: bool
    files: list[Bundled]
    missing_paths: list[str] | None = None
    left_out: list[str] | None = None
    left_out_count: int = 0
    incomplete: str | None = None


@bundles.tool(
    "read:context",
    "read:notes",
    reach="each of paths, checked one by one",
    words="pack export concatenate combine merge collect prompt single several",
)
def bundle_files(
    ctx: Context,
    paths: Annotated[
        list[str], Doc("Paths, names or aliases, in the order they shall have.", min_length=1, max_length=200)
    ],
    max_bytes: Budget = 500_000,
    include_frontmatter: bool = True,
    format: Format = "markdown",
) -> FileBundle:
    """Gather the notes you name into one text; says which were missing and which did not fit."""
    found, missing = [], []
    for path in paths:
        try:
            found.append(path if ctx.vault.exists(path) == "file" else ctx.index.find_note(path))
        except ToolError:
            missing.append(path)  # gone, ambiguous or not theirs to read: the same to this caller
    made = _bundle(ctx, found, max_bytes, include_frontmatter, format)
    return FileBundle(
        bundle=made.text,
        file_count=len(made.files),
        total_bytes=made.size,
        truncated=bool(made.left_out),
        files=made.files,
        missing_paths=missing or None,
        left_out=made.left_out or None,
        left_out_count=len(made.left_out),
    )


class _Bundle:
    """Notes one after the other until the next would not fit."""

    def __init__(self, budget: int, wrap: tuple[str, str]) -> None:
        self._parts: list[str] = []
        left = budget - sum(len(part.encode()) for part in wrap)
        self._wrap, self._left = (wrap, left) if left >= 0 else (("", ""), 0)
        self.files: list[Bundled] = []
        self.left_out: list[str] = []

    def add(self, path: str, part: str) -> None:
        size = len(part.encode())
        if size > self._left:
            self.left_out.append(path)
            return
        self._left -= size
        self._parts.append(part)
        self.files.append(Bundled(path=path, bytes=size))

    @property
    def text(self) -> str:
        return self._wrap[0] + "".join(self._parts) + self._wrap[1]

    @property
    def size(self) -> int:
        return len(self.text.encode())


def _bundle(
    ctx: Context, paths: Iterable[str], budget: int, with_properties: bool, format: Format
) -> _Bundle:
    made = _Bundle(budget, ("<notes>\n", "</notes>\n") if format == "xml" else ("", ""))
    for path in paths:
        ctx.check_cancelled()
        try:
            made.add(path, _part(ctx.vault.read(path), with_properties, format))
        except ToolError as error:
            if error.code not in ("note_not_found", "invalid_input"):
                raise
            made.left_out.append(path)
    return made


def _part(file: File, with_properties: bool, format: Format) -> str:
    text = file.text
    if not with_properties and (block := frontmatter.find(text)):
        text = text[block.after :]
    if not text.endswith("\n"):
        text += "\n"
    if format == "xml":
        from xml.sax.saxutils import escape, quoteattr  # it brings an HTTP client along

        return f"<note path={quoteattr(file.path)}>\n{escape(text)}</note>\n"
    return f"<!-- {file.path} -->\n\n{text}\n"


@hookimpl
def knapper_domains() -> Domain:
    return bundles
