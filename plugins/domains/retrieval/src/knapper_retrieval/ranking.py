"""Lists of passages, and lists as one: reciprocal ranks for kinds of words and for relations, a blend for meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from knapper import Context, ToolError
from knapper.index.queries.ranked import Scored
from knapper_retrieval import answers
from knapper_retrieval.answers import Warning_

Mode = Literal["lexical", "embedding", "hybrid"]
MODES: tuple[Mode, ...] = ("lexical", "embedding", "hybrid")
POOL = 100


class Fused(NamedTuple):
    """A chunk, its score from 0 to 1, and the lists it was in."""

    chunk: int
    score: float
    lists: frozenset[str] = frozenset()


class Ranking(NamedTuple):
    """What came of a search: the mode that was used, the passages, and what the caller should know."""

    used: Mode
    found: list[Fused]
    warnings: list[Warning_]


def fuse(lists: Mapping[str, Sequence[int]], k: int) -> list[Fused]:
    """Reciprocal rank fusion: each list gives 1/(k + rank), and the sum is shown as a share of the most possible.

    Equal sums keep the order of the lists: better in the first, then in the second, then by chunk.
    """
    ranks = {
        name: {chunk: n for n, chunk in enumerate(chunks, 1)} for name, chunks in lists.items() if chunks
    }
    most = len(ranks) / (k + 1)
    scored = []
    for chunk in {chunk for found in ranks.values() for chunk in found}:
        sums = sum(1 / (k + found[chunk]) for found in ranks.values() if chunk in found)
        tie = [found.get(chunk, 1 << 40) for found in ranks.values()]
        inside = frozenset(name for name, found in ranks.items() if chunk in found)
        scored.append((-sums, tie, chunk, inside))
    scored.sort(key=lambda item: item[:3])
    return [Fused(chunk, -sums / most, inside) for sums, _, chunk, inside in scored]


def by_words(ctx: Context, query: str, root: str = "") -> list[Fused]:
    """Passages by their words and by their letters, as one list."""
    words = [s.chunk for s in ctx.index.by_words(query, POOL, root=root)]
    letters = [s.chunk for s in ctx.index.by_letter(query, POOL, root=root)]
    # A title holds letters too; without this a note would lose to one that only mentions what it is about.
    named = ctx.index.named_so(words, query)
    return fuse({"words": words, "letters": list(dict.fromkeys([*named, *letters]))}, ctx.settings.rrf_k)


def rank(ctx: Context, query: str, mode: Mode | None, root: str = "") -> Ranking:
    """Passages for a query in the wanted mode, or in the best one there is."""
    index = ctx.index
    answers.must_exist(ctx)
    if mode == "lexical" or (mode is None and not index.has_embedder):
        return Ranking("lexical", by_words(ctx, query, root), [])
    try:
        if not index.has_vectors:
            raise ToolError("embedding_provider_error", "there are no vectors yet")
        if mode == "embedding":
            return Ranking("embedding", nearest(ctx, query, root), [])
        return Ranking("hybrid", _hybrid(ctx, query, root), [])
    except ToolError as error:
        if error.code not in ("embedding_provider_error", "operation_timeout"):
            raise
        if mode == "embedding":
            raise ToolError(
                "EMBEDDING_UNAVAILABLE", f"search by meaning is not available: {error.message}"
            ) from None
        text = "search by meaning is not available; these are the results by words"
        warning = Warning_(code="EMBEDDING_UNAVAILABLE", message=text)
        return Ranking("lexical", by_words(ctx, query, root), [warning])


def nearest(ctx: Context, query: str, root: str = "") -> list[Fused]:
    """Passages by meaning; the nearest one shows 1, the last one of the pool 0."""
    return spread(ctx.index.by_meaning(query, POOL, root=root), "meaning")


def spread(found: Sequence[Scored], name: str) -> list[Fused]:
    """Scores between the best and the worst of a list, so that nothing raw is shown."""
    if not found:
        return []
    low, high = found[-1].score, found[0].score
    width = high - low or 1.0
    inside = frozenset({name})
    if high == low:
        return [Fused(s.chunk, 1.0, inside) for s in found]
    return [Fused(s.chunk, (s.score - low) / width, inside) for s in found]


def _hybrid(ctx: Context, query: str, root: str) -> list[Fused]:
    if ctx.settings.fusion == "rrf":
        lexical = [f.chunk for f in by_words(ctx, query, root)]
        dense = [s.chunk for s in ctx.index.by_meaning(query, POOL, root=root)]
        return fuse({"words": lexical, "meaning": dense}, ctx.settings.rrf_k)
    found = []
    for s in ctx.index.by_both(query, 2 * POOL, root=root, pool=POOL):
        inside = {"words"} if s.by_words is not None else set()
        found.append(Fused(s.chunk, s.score, frozenset(inside | ({"meaning"} if s.by_meaning else set()))))
    return found


def search_reason(one: Fused) -> str:
    if "meaning" in one.lists:
        return "hybrid_match" if len(one.lists) > 1 else "embedding_match"
    return "lexical_match"
