"""The tool that thins out a hub note."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, Doc, Record, ToolError, WriteNotePath
from knapper_links.domain import links
from knapper_links.hub import Hub
from knapper_links.policies import Judge, Kind, Policy, chosen
from knapper_links.removal import without


class RemovedLink(Record):
    target: str
    reason: str
    line: int


class Pruned(Record):
    path: str
    policy_used: Kind
    links_before: int
    links_after: int
    removed: list[RemovedLink]
    dry_run: bool
    left_over: int = 0
    content_hash: str | None = None
    updated_at: str | None = None


@links.tool("write:notes", repeat="keyed", confirm="a real run", words="too many excessive reduce trim")
def prune_hub_links(
    ctx: Context,
    path: WriteNotePath,
    policy: Annotated[Policy, Doc("Which links go.")],
    max_removals: Annotated[int, Doc("The most that go at once; left_over says how many remain.", ge=1)] = 50,
    dry_run: Annotated[bool, Doc("Only say what would go.")] = True,
) -> Pruned:
    """Take links out of a note that has too many; text beside them stays. Links in its properties are not touched."""
    file = ctx.vault.read(path)
    hub = Hub(file.text)
    found = list(chosen(Judge(ctx, path, hub), policy))
    gone = sorted(found[:max_removals], key=lambda one: one.placed.link.start)
    text = without(
        hub, [one.placed for one in gone], with_annotation=policy.kind == "drop_unannotated_list_items"
    )
    if text is None:
        raise ToolError("invalid_input", "these links cannot be taken out without changing more", path=path)
    answer = Pruned(
        path=path,
        policy_used=policy.kind,
        links_before=len(hub.links),
        links_after=len(hub.links) - len(gone),
        removed=[
            RemovedLink(target=one.placed.link.target, reason=one.reason, line=one.placed.line)
            for one in gone
        ],
        dry_run=dry_run,
        left_over=len(found) - len(gone),
    )
    if not dry_run:
        ctx.confirm(True, {"path": path, "policy": policy.kind, "links_removed": len(gone)})
        done = ctx.vault.write(path, text, mode="overwrite", prev_hash=file.hash)
        answer.content_hash, answer.updated_at = done.hash, done.at
    return answer
