"""The tool that makes links name another target."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from knapper import Context, Doc, ReadPath, Record, ToolError
from knapper.vault.markdown import parse
from knapper.vault.moves import link_format
from knapper.vault.relink import Relinked, Retarget, retarget, retarget_canvas
from knapper.vault.resolve import Resolver, link_key
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
    reach="every note and canvas that links to from_target",
    words="redirect repoint replace rename retarget fix",
)
def rewrite_link(
    ctx: Context,
    from_target: Annotated[str, Doc("A name or path, with #heading only such links.", min_length=1)],
    to_target: Annotated[str, Doc("What they shall name.", min_length=1)],
    scope: Literal["vault", "folder"] = "vault",
    folder_path: Annotated[ReadPath | None, Doc("For scope=folder.")] = None,
    dry_run: Annotated[bool, Doc("Only say what would change.")] = True,
) -> RewrittenLinks:
    """Make every link that names or leads to one target name another, in its own style; all files or none."""
    planned = _planned(ctx, _plan(ctx, from_target, to_target), _below(ctx, scope, folder_path))
    total = sum(one.links for one in planned)
    if not dry_run:
        change = {"from_target": from_target, "to_target": to_target, "files": len(planned), "links": total}
        ctx.confirm(True, change)
        with ctx.vault.transaction():
            for one in planned:
                ctx.vault.edit(one.path, one.rewritten, prev_hash=one.hash)
    return RewrittenLinks(
        from_target=from_target,
        to_target=to_target,
        files_modified=[Modified(path=one.path, occurrences=one.links) for one in planned],
        total_replacements=total,
        dry_run=dry_run,
    )


class Planned(NamedTuple):
    """A file as it is now, and what a rewriting does to it."""

    path: str
    hash: str
    links: int
    plan: Retarget

    def rewritten(self, text: str) -> str:
        return _rewritten(self.path, text, self.plan).text


def _below(ctx: Context, scope: str, folder: str | None) -> str:
    if scope == "vault":
        return ""
    if folder is None or ctx.vault.exists(folder) != "folder":
        raise ToolError("invalid_input", "scope=folder needs a folder_path that is a folder", path=folder)
    return f"{folder}/" if folder else ""


def _plan(ctx: Context, old: str, new: str) -> Retarget:
    ctx.index.level()
    keys = {link_key(old), link_key(new)}
    return Retarget(old, new, Resolver(ctx.index.named(keys)), link_format(ctx.vault))


def _planned(ctx: Context, plan: Retarget, below: str) -> list[Planned]:
    """The readable files whose links change, each of which this caller must be allowed to write."""
    found = []
    for path in [*ctx.index.linking([link_key(plan.old)]), *ctx.index.canvases()]:
        if not path.startswith(below) or not ctx.index.readable(path):
            continue
        file = ctx.vault.read(path)
        result = _rewritten(path, file.text, plan)
        if result.broken:
            raise ToolError("invalid_input", f"a link in {path!r} cannot name {plan.new!r}", path=path)
        if result.count:
            ctx.vault.authorise("write", path)
            found.append(Planned(path, file.hash, result.count, plan))
    return sorted(found)


def _rewritten(path: str, text: str, plan: Retarget) -> Relinked:
    if not path.lower().endswith(".canvas"):
        return retarget(text, parse(text).links, path, plan)
    try:
        return retarget_canvas(text, path, plan)
    except ValueError:
        return Relinked(text)  # not a canvas any program could open, so nothing in it names a file
