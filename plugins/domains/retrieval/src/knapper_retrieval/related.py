"""related: passages like a note or a passage, and what is linked with it."""

from __future__ import annotations

from typing import Annotated, Literal

from knapper import Context, Doc, Record, ToolError
from knapper.index.chunks import LINK
from knapper.index.queries.ranked import ChunkRow
from knapper_retrieval import answers, checks
from knapper_retrieval.answers import Freshness, Result, Warning_
from knapper_retrieval.domain import retrieval
from knapper_retrieval.finding import Limit, ModeName, result, snippet
from knapper_retrieval.ranking import POOL, Fused, Mode, fuse
from knapper_retrieval.reading import find_chunk, find_note

LONGEST = 4000


class Given(Record):
    type: Literal["note", "chunk"]
    id: str


class Related(Record, omit_defaults=False):
    input: Given
    requested_mode: Mode
    used_mode: Mode
    limit: int
    results: list[Result]
    freshness: Freshness
    warnings: list[Warning_]


@retrieval.tool("read:notes", words="similar alike like recommendations")
def related(
    ctx: Context,
    type: Annotated[str, Doc("note or chunk.")],
    id: Annotated[str, Doc("The id of that note or chunk.")],
    mode: ModeName = None,
    limit: Limit = 10,
) -> Related:
    """Find passages related to a note or a passage: by words, by meaning, and by links."""
    if type not in ("note", "chunk"):
        raise ToolError("INVALID_TYPE", "type is neither note nor chunk", field="type")
    wanted, most = checks.mode(mode), checks.limit(limit)
    answers.must_exist(ctx)
    path, rows, own = _input(ctx, type, id)
    used, lists, warnings = _lists(ctx, wanted, rows, own)
    linked = ctx.index.first_chunks(ctx.index.linked(path)[:POOL])
    lists["links"] = [chunk for chunk in linked.values() if chunk not in own]
    found = fuse(lists, ctx.settings.rrf_k)[:most]
    fresh = answers.freshness(ctx)
    return Related(
        input=Given(type="note" if type == "note" else "chunk", id=id),
        requested_mode=wanted or ("embedding" if ctx.index.has_embedder else "lexical"),
        used_mode=used,
        limit=most,
        results=_results(ctx, found, rows[0].title if rows else ""),
        freshness=fresh,
        warnings=[*warnings, *answers.about(fresh)],
    )


def _input(ctx: Context, type: str, id: str) -> tuple[str, list[ChunkRow], set[int]]:
    """The note's path, the passages that are compared, and those that are no answer."""
    if type == "chunk":
        row = find_chunk(ctx, *checks.chunk_id(id))
        return row.path, [row], {row.chunk}
    path = find_note(ctx, id)
    rows = ctx.index.chunks_of(path)
    return path, rows, {row.chunk for row in rows}


def _lists(
    ctx: Context, wanted: Mode | None, rows: list[ChunkRow], own: set[int]
) -> tuple[Mode, dict[str, list[int]], list[Warning_]]:
    index = ctx.index
    warnings: list[Warning_] = []
    used: Mode = wanted or ("embedding" if index.has_embedder else "lexical")
    vector = index.vector_of([row.chunk for row in rows]) if used != "lexical" and rows else None
    if used != "lexical" and vector is None:
        if wanted == "embedding":
            raise ToolError("EMBEDDING_UNAVAILABLE", "there are no vectors of this passage")
        used = "lexical"
        text = "relation by meaning is not available; these are the results by words and links"
        warnings.append(Warning_(code="EMBEDDING_UNAVAILABLE", message=text))
    lists: dict[str, list[int]] = {}
    if used != "embedding":
        text = "\n".join([rows[0].title, *(row.text for row in rows)])[:LONGEST] if rows else ""
        words = index.telling_words(LINK.sub(" ", text))  # links have a list of their own
        found = index.by_words(words, POOL + len(own)) if words else []
        lists["words"] = [s.chunk for s in found if s.chunk not in own][:POOL]
    if vector is not None:
        near = index.near(vector, POOL + len(own))
        lists["meaning"] = [s.chunk for s in near if s.chunk not in own][:POOL]
    return used, lists, warnings


def _results(ctx: Context, found: list[Fused], title: str) -> list[Result]:
    rows = ctx.index.chunks(one.chunk for one in found)
    results = []
    for one in found:
        row = rows.get(one.chunk)
        file = ctx.index.file(row.path) if row is not None else None
        if row is not None and file is not None:
            shown = snippet(row.text, title)
            results.append(result(ctx, row, file, one.score, _reason(one), shown))
    return results


def _reason(one: Fused) -> str:
    if len(one.lists) > 1:
        return "related_hybrid"
    names = {"words": "related_lexical", "meaning": "related_embedding", "links": "related_link"}
    return names[next(iter(one.lists))]
