"""search: passages for a query, by words, by meaning or by both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from knapper import Alias, Context, Doc, Record
from knapper.index.queries.files import FileRow
from knapper.index.queries.passages import passage
from knapper.index.queries.ranked import ChunkRow
from knapper_retrieval import answers, checks, rerank
from knapper_retrieval.answers import Freshness, Result, Warning_
from knapper_retrieval.domain import retrieval
from knapper_retrieval.ranking import Fused, Mode, rank, search_reason

ModeName = Annotated[str | None, Doc("lexical, embedding or hybrid; absent: the best there is.")]
Limit = Annotated[int, Doc("How many results, 1 to 50.")]


class Found(Record, omit_defaults=False):
    requested_mode: Mode
    used_mode: Mode
    limit: int
    results: list[Result]
    freshness: Freshness
    warnings: list[Warning_]
    rerank: str


@retrieval.tool("read:notes", words="answer question passages relevant about")
def search(
    ctx: Context,
    query: Annotated[str, Doc("What to find, at most 1000 characters.")],
    mode: ModeName = None,
    limit: Limit = 10,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
) -> Found:
    """Find the passages that answer a query best, with snippets, ids and how fresh the index is.

    A snippet is never the whole passage: it is empty where a passage is short, and get_chunk reads that.
    """
    wanted, most = checks.mode(mode), checks.limit(limit)
    ranking = rank(ctx, checks.query(query), wanted, root)
    order, outcome = rerank.reordered(ctx, query, ranking.found)
    results = cited(ctx, order, most, query)
    if ranking.used != "embedding":
        results = _with_bare_notes(ctx, query, root, most, results)
    fresh = answers.freshness(ctx)
    return Found(
        requested_mode=wanted or "hybrid",
        used_mode=ranking.used,
        limit=most,
        results=results,
        freshness=fresh,
        warnings=[*ranking.warnings, *answers.about(fresh)],
        rerank=outcome,
    )


def cited(ctx: Context, found: Sequence[Fused], most: int, query: str) -> list[Result]:
    """Passages as results, each with the part that shows why it was found."""
    rows = ctx.index.chunks(one.chunk for one in found[:most])
    files: dict[str, FileRow | None] = {}
    results = []
    for one in found[:most]:
        row = rows.get(one.chunk)
        if row is None:
            continue
        if row.path not in files:
            files[row.path] = ctx.index.file(row.path)
        file = files[row.path]
        if file is not None:
            results.append(result(ctx, row, file, one.score, search_reason(one), snippet(row.text, query)))
    return results


def result(ctx: Context, row: ChunkRow, file: FileRow, score: float, reason: str, shown: str) -> Result:
    """One passage as a result."""
    return Result(
        id=row.id,
        type="chunk",
        note_id=row.note_id,
        chunk_index=row.number,
        path=row.path,
        title=row.title,
        heading=row.headings[-1] if row.headings else None,
        heading_path=list(row.headings),
        snippet=shown,
        score=round(min(1.0, max(0.0, score)), 6),
        reason=reason,
        metadata=answers.metadata(ctx, file),
        page=msgspec.UNSET if row.page is None else row.page,
    )


def snippet(text: str, query: str) -> str:
    """At most 240 characters around a match; nothing where that would be the whole passage."""
    shown = passage(text, query)[1]
    return "" if shown == text.strip() else shown


def _with_bare_notes(ctx: Context, query: str, root: str, most: int, before: list[Result]) -> list[Result]:
    """Notes that have no passages but whose names fit, below everything that has.

    By meaning every passage is an answer, so the list is always full: a note that is called what was asked for takes the
    last place, or it would never be found.
    """
    free = most - len(before)
    bare = ctx.index.chunkless(query, min(max(free, 1), 20), root=root, every_word=free <= 0)
    if free <= 0:
        if not bare or most == 1:
            return before
        before = before[:-1]
    lowest = min((r.score for r in before), default=1.0)
    return before + [
        answers.note_result(ctx, row, round(0.5 * lowest * (1 - 0.05 * n), 6), "lexical_match")
        for n, row in enumerate(bare)
    ]


NoteId = Annotated[str, Doc("A note's id, from a result."), Alias("noteId")]
