"""Tools that only look."""

from __future__ import annotations

from typing import Annotated, Literal

from knapper import Context, Doc, NotePath, Page, Record, ToolError
from knapper.touches import Access
from knapper_links.domain import links

Kind = Literal["wikilink", "markdown", "embed"]


class Outgoing(Record):
    target: str
    display_text: str
    kind: Kind
    resolved: bool
    line: int
    col: int
    in_frontmatter: bool
    target_path: str | None = None
    subpath: str | None = None


class OutgoingLinks(Record):
    path: str
    links: list[Outgoing]
    incomplete: str | None = None


@links.tool("read:notes", words="references mentions points going outbound forward")
def get_outgoing_links(
    ctx: Context,
    path: NotePath,
    kinds: Annotated[list[Kind] | None, Doc("Only these kinds.")] = None,
    include_unresolved: bool = True,
) -> OutgoingLinks:
    """List a note's links in the order they stand, each with the file it leads to."""
    found = []
    for row in ctx.index.outgoing(path):
        kind: Kind = "embed" if row.embed else "markdown" if row.kind == "markdown" else "wikilink"
        if (kinds and kind not in kinds) or (row.target is None and not include_unresolved):
            continue
        found.append(
            Outgoing(
                target=row.written,
                display_text=row.display,
                kind=kind,
                resolved=row.target is not None,
                line=row.line + 1,
                col=row.col + 1,
                in_frontmatter=row.property is not None,
                target_path=row.target,
                subpath=row.subpath or None,
            )
        )
    return OutgoingLinks(path=path, links=found)


class LinkContext(Record):
    line: int
    text: str


class Backlink(Record):
    source_path: str
    link_count: int
    contexts: list[LinkContext] | None = None


@links.tool("read:notes", words="mentions references incoming cites who links here")
def get_backlinks(
    ctx: Context,
    path: Annotated[str, Access("read", by_name=True), Doc("A path, or a note's name or alias.")],
    include_context: Annotated[bool, Doc("Add the lines the links stand on.")] = False,
    include_embeds: bool = True,
    page: Page = Page(),
) -> Page.Of[Backlink]:
    """List the notes that link to a note or an attachment, with how many links each has."""
    rows, total, last = ctx.index.backlinks(page, path, embeds=include_embeds)
    items = [Backlink(source_path=source, link_count=count) for source, count in rows]
    if include_context:
        for item in items:
            item.contexts = _contexts(ctx, path, item.source_path, include_embeds)
    return page.of(items, total, last)


class Orphan(Record):
    path: str
    outgoing_count: int


@links.tool("read:notes", words="isolated unlinked disconnected lonely unreferenced alone nobody")
def find_orphans(
    ctx: Context,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    exclude_paths: Annotated[list[str] | None, Doc("Folders or notes to leave out.")] = None,
    require_no_outgoing: Annotated[bool, Doc("Only notes that link to nothing either.")] = False,
    page: Page = Page(),
) -> Page.Of[Orphan]:
    """Find notes that no other note links to."""
    rows, total, last = ctx.index.orphans(
        page, root=root, exclude=exclude_paths or [], no_outgoing=require_no_outgoing
    )
    return page.of([Orphan(path=path, outgoing_count=count) for path, count in rows], total, last)


class Mention(Record):
    path: str
    line: int


class Unresolved(Record):
    target: str
    sources: list[Mention]


@links.tool("read:notes", words="broken dead dangling missing invalid nowhere")
def find_unresolved_links(
    ctx: Context,
    root: Annotated[str, Doc("Only in notes below this folder.")] = "",
    group_by: Annotated[
        Literal["target", "source"], Doc("Every note that misses a target, or note by note what it misses.")
    ] = "target",
    page: Page = Page(),
) -> Page.Of[Unresolved]:
    """Find links that lead to no file, with every place they stand."""
    rows, total, last = ctx.index.unresolved(page, root=root, by_source=group_by == "source")
    items = [
        Unresolved(target=name, sources=[Mention(path=other, line=line + 1) for other, line in places])
        for name, places in rows
    ]
    return page.of(items, total, last)


def _contexts(ctx: Context, path: str, source: str, embeds: bool) -> list[LinkContext]:
    try:
        lines = ctx.vault.read(source).text.split("\n")
    except ToolError:
        return []  # gone since it was indexed
    wanted = dict.fromkeys(ctx.index.backlink_lines(path, source, embeds=embeds))
    return [LinkContext(line=n + 1, text=lines[n].strip()[:300]) for n in wanted if n < len(lines)]
