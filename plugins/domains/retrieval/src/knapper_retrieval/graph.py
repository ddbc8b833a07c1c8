"""vault_graph_search: the best passages, and the best of what their notes are linked with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from knapper import Alias, Context, Doc, Record
from knapper.index.queries.around import Step
from knapper.index.queries.ranked import ChunkRow, Scored
from knapper_retrieval import answers, checks
from knapper_retrieval.answers import Freshness, Warning_
from knapper_retrieval.domain import retrieval
from knapper_retrieval.ranking import Fused, rank

KEPT_FIRST = 5
EXPANDED = 3
NEW = 3
NEIGHBOURS = 200


class Edge(Record):
    type: Literal["links_to", "linked_from"]
    source_path: str


class Reached(Record, omit_defaults=False):
    chunk_id: str
    path: str
    heading_path: list[str]
    content: str | None
    source: Literal["seed", "expansion"]
    hop: int
    via_edge: Edge | None
    root_seed: str | None
    score: float


class Walked(Record, omit_defaults=False):
    items: list[Reached]
    used_mode: str
    expanded: bool
    freshness: Freshness
    warnings: list[Warning_]


class Item(NamedTuple):
    """A passage on its way into the answer."""

    one: Fused
    step: Step | None


@retrieval.tool("read:notes", words="multi hop several connected question answer")
def vault_graph_search(
    ctx: Context,
    query: Annotated[str, Doc("What to find, at most 1000 characters.")],
    limit: Annotated[int, Doc("How many passages, 1 to 50."), Alias("final_top_k")] = 10,
    hops: Annotated[int, Doc("How many links away a neighbour may be.", ge=0, le=3), Alias("hop_limit")] = 1,
    root: Annotated[str, Doc("Only passages below this folder.")] = "",
    return_content: bool = True,
) -> Walked:
    """Find passages for a question that needs several notes: the best ones, and what their notes link with."""
    most = checks.limit(limit)
    ranking = rank(ctx, checks.query(query), None, root)
    seeds = best_of_notes(ctx, ranking.found)
    items = [Item(one, None) for one in seeds]
    new = expansion(ctx, query, seeds, hops, root, ranking.used != "lexical") if hops else []
    if new:
        items = slotted(items, new)
    shown = items[:most]
    rows = ctx.index.chunks(item.one.chunk for item in shown)
    fresh = answers.freshness(ctx)
    return Walked(
        items=[_reached(rows[i.one.chunk], i, return_content) for i in shown if i.one.chunk in rows],
        used_mode=ranking.used,
        expanded=bool(new),
        freshness=fresh,
        warnings=[*ranking.warnings, *answers.about(fresh)],
    )


def slotted(seeds: Sequence[Item], new: Sequence[Item]) -> list[Item]:
    """The first five as they are, then the neighbours, then the rest: fusing neighbours in costs more than it finds."""
    added = {item.one.chunk for item in new}
    first = list(seeds[:KEPT_FIRST])
    added -= {item.one.chunk for item in first}
    rest = [item for item in seeds[KEPT_FIRST:] if item.one.chunk not in added]
    return [*first, *(item for item in new if item.one.chunk in added), *rest]


def expansion(
    ctx: Context, query: str, seeds: Sequence[Fused], hops: int, root: str, dense: bool
) -> list[Item]:
    """The best passages of notes linked with the best seeds, which are not among the first seeds themselves."""
    index = ctx.index
    rows = index.chunks(one.chunk for one in seeds[:KEPT_FIRST])
    first = [rows[one.chunk].path for one in seeds[:KEPT_FIRST] if one.chunk in rows]
    below = f"{root.strip('/')}/" if root.strip("/") else ""
    steps = {
        s.path: s
        for s in index.walk(first[:EXPANDED], hops, NEIGHBOURS)
        if s.path not in first and s.path.startswith(below)
    }
    if not steps:
        return []
    chunks = index.chunks_in(list(steps))
    scores = _scores(ctx, query, list(chunks), seeds, dense)
    order = sorted(scores, key=lambda c: (-scores[c], steps[chunks[c]].hop, c))
    found: list[Item] = []
    for chunk in order:
        step = steps[chunks[chunk]]
        if all(item.step is None or item.step.path != step.path for item in found):
            found.append(Item(Fused(chunk, scores[chunk]), step))
        if len(found) == NEW:
            break
    return found


def _scores(
    ctx: Context, query: str, chunks: list[int], seeds: Sequence[Fused], dense: bool
) -> dict[int, float]:
    """How well neighbours fit: what the search itself said of them, else their nearness, which counts for less."""
    known = {one.chunk: one.score for one in seeds}
    near = ctx.index.cosines(query, chunks) if dense else {}
    return {chunk: known.get(chunk, 0.0) + max(0.0, near.get(chunk, 0.0)) for chunk in chunks}


def best_of_notes(ctx: Context, found: Sequence[Fused]) -> list[Fused]:
    """The first passage of each note, in the same order."""
    best = ctx.index.best_of_notes([Scored(one.chunk, one.score) for one in found])
    kept = {s.chunk for s in best}
    return [one for one in found if one.chunk in kept]


def _reached(row: ChunkRow, item: Item, content: bool) -> Reached:
    step = item.step
    edge = None
    if step is not None:
        edge = Edge(type="links_to" if step.forward else "linked_from", source_path=step.via)
    return Reached(
        chunk_id=row.id,
        path=row.path,
        heading_path=list(row.headings),
        content=row.text if content else None,
        source="seed" if step is None else "expansion",
        hop=0 if step is None else step.hop,
        via_edge=edge,
        root_seed=None if step is None else step.root,
        score=round(min(1.0, item.one.score), 6),
    )
