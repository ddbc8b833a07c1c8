"""Tools that change links."""

from __future__ import annotations

from typing import Annotated, Literal

from knapper import Context, Doc, Record, ToolError
from knapper.vault.markdown import parse
from knapper.vault.relink import Relinked, rewrite_targets
from knapper.vault.resolve import link_key
from knapper_links.domain import links


class Modified(Record):
    path: str
    occurrences: int


class RewrittenLinks(Record):
    from_target: str
    to_target: str
    files_modified: list[Modified]
    total_replacements: int
    dry_run: bool


@links.tool(
    "write:notes",
    rate="bulk",
    repeat="keyed",
    confirm="a real run",
    reach="every note that links to from_target",
)
def rewrite_link(
    ctx: Context,
    from_target: Annotated[str, Doc("The target as links name it: a name or a path.", min_length=1)],
    to_target: Annotated[str, Doc("What they shall name.", min_length=1)],
    scope: Literal["vault", "folder"] = "vault",
    folder_path: Annotated[str | None, Doc("For scope=folder.")] = None,
    dry_run: bool = True,
) -> RewrittenLinks:
    """Make every link that names one target name another, keeping aliases, headings and style; all files or none."""
    if scope == "folder" and not folder_path:
        raise ToolError("invalid_input", "scope=folder needs folder_path")
    below = f"{(folder_path or '').strip('/')}/" if scope == "folder" else ""
    paths = [path for path in ctx.index.linking([link_key(from_target)]) if path.startswith(below)]
    planned = [(path, count) for path in paths if (count := _count(ctx, path, from_target, to_target))]
    total = sum(count for _, count in planned)
    if not dry_run:
        ctx.confirm(
            True, {"from_target": from_target, "to_target": to_target, "files": len(planned), "links": total}
        )
        with ctx.vault.transaction():
            for path, _ in planned:
                ctx.vault.edit(path, lambda text: _rewritten(text, from_target, to_target).text)
    return RewrittenLinks(
        from_target=from_target,
        to_target=to_target,
        files_modified=[Modified(path=path, occurrences=count) for path, count in planned],
        total_replacements=total,
        dry_run=dry_run,
    )


def _count(ctx: Context, path: str, old: str, new: str) -> int:
    if not ctx.index.readable(path):
        return 0
    found = _rewritten(ctx.vault.read(path).text, old, new)
    if found.broken:
        raise ToolError("invalid_input", f"a link in {path!r} cannot be written as {new!r}", path=path)
    return found.count


def _rewritten(text: str, old: str, new: str) -> Relinked:
    return rewrite_targets(text, parse(text).links, {old: new})
