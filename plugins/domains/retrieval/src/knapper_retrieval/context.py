"""vault_context: as much of the best passages as fits a budget, note by note, with where each comes from."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from knapper import Context, Doc, Record
from knapper.index.queries.ranked import ChunkRow
from knapper_retrieval import answers, checks
from knapper_retrieval.answers import Freshness, Warning_
from knapper_retrieval.domain import retrieval
from knapper_retrieval.graph import best_of_notes, expansion
from knapper_retrieval.ranking import rank

PER_NOTE = 4
LEAST = 40
BLANK = 1  # token of the lines between two passages


class Source(Record, omit_defaults=False):
    path: str
    title: str
    chunk_ids: list[str]
    lines: list[int]
    score: float
    pages: list[int] | msgspec.UnsetType = msgspec.UNSET


class Packed(Record, omit_defaults=False):
    context: str
    sources: list[Source]
    tokens: int
    budget: int
    passages: int
    truncated: bool
    freshness: Freshness
    warnings: list[Warning_]


@retrieval.tool("read:notes", words="question answer relevant gather prompt background")
def vault_context(
    ctx: Context,
    query: Annotated[str, Doc("What the context is for, at most 1000 characters.")],
    max_tokens: Annotated[int, Doc("The most tokens of text.", ge=100, le=100_000)] = 4000,
    root: Annotated[str, Doc("Only passages below this folder.")] = "",
    follow_links: Annotated[bool, Doc("Also from notes linked with the best ones.")] = True,
) -> Packed:
    """Pack the passages that answer a question into a token budget, grouped by note, each with its source."""
    ranking = rank(ctx, checks.query(query), None, root)
    order = [one.chunk for one in ranking.found]
    if follow_links:
        seeds = best_of_notes(ctx, ranking.found)
        new = [i.one.chunk for i in expansion(ctx, query, seeds, 1, root, ranking.used != "lexical")]
        order = [*order[:5], *(c for c in new if c not in order[:5]), *(c for c in order[5:] if c not in new)]
    scores = {one.chunk: one.score for one in ranking.found}
    chosen, used, truncated = _choose(ctx, order, max_tokens)
    sources = _sources(chosen, scores)
    fresh = answers.freshness(ctx)
    return Packed(
        context=_written(chosen),
        sources=sources,
        tokens=used,
        budget=max_tokens,
        passages=sum(len(rows) for rows in chosen.values()),
        truncated=truncated,
        freshness=fresh,
        warnings=[*ranking.warnings, *answers.about(fresh)],
    )


def tokens(text: str) -> int:
    """About how many tokens a text is; scripts without spaces take about one a letter."""
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return math.ceil((len(text) - wide) / 4) + wide


def _choose(
    ctx: Context, order: list[int], budget: int
) -> tuple[dict[str, list[tuple[ChunkRow, str]]], int, bool]:
    """Passages in their order while they fit; one that does not is cut at a line where enough of it is left."""
    chosen: dict[str, list[tuple[ChunkRow, str]]] = {}
    used, truncated = 0, False
    for start in range(0, len(order), 50):
        rows = ctx.index.chunks(order[start : start + 50])
        for chunk in order[start : start + 50]:
            row = rows.get(chunk)
            if row is None or len(chosen.get(row.path, ())) >= PER_NOTE:
                continue
            around = BLANK + tokens(_above(row)) + (0 if row.path in chosen else tokens(_head(row)))
            text = row.text
            if used + around + tokens(text) > budget:
                truncated = True
                text = _cut(text, budget - used - around)
                if not text:
                    continue
            chosen.setdefault(row.path, []).append((row, text))
            used += around + tokens(text)
        if used + LEAST > budget:
            break
    return chosen, used, truncated


def _cut(text: str, most: int) -> str:
    if most < LEAST:
        return ""
    kept = text
    while tokens(kept) > most:
        kept = kept[: int(len(kept) * min(0.95, most / tokens(kept)))]
    line = kept.rfind("\n")
    return (kept[:line] if line > len(kept) // 2 else kept).rstrip()


def _head(row: ChunkRow) -> str:
    """What stands above the passages of a note."""
    return f"## {row.title} ({row.path})\n\n"


def _above(row: ChunkRow) -> str:
    """What stands above a passage: its page, or the headings it is under."""
    trail = " > ".join(h for h in row.headings if h != row.title)
    trail = trail if row.page is None else f"Page {row.page}"
    return f"### {trail}\n" if trail else ""


def _written(chosen: dict[str, list[tuple[ChunkRow, str]]]) -> str:
    """Notes in the order of their best passage, the passages of a note in the order they stand in it."""
    parts = []
    for rows in chosen.values():
        ordered = sorted(rows, key=lambda pair: pair[0].number)
        body = "\n\n".join(_above(row) + text for row, text in ordered)
        parts.append(_head(rows[0][0]) + body)
    return "\n\n".join(parts)


def _sources(chosen: dict[str, list[tuple[ChunkRow, str]]], scores: dict[int, float]) -> list[Source]:
    found = []
    for path, rows in chosen.items():
        ordered = sorted((row for row, _ in rows), key=lambda row: row.number)
        found.append(
            Source(
                path=path,
                title=ordered[0].title,
                chunk_ids=[row.id for row in ordered],
                lines=[row.line + 1 for row in ordered],
                score=round(min(1.0, max(scores.get(row.chunk, 0.0) for row in ordered)), 6),
                pages=[row.page for row in ordered if row.page is not None] or msgspec.UNSET,
            )
        )
    return found
