"""By meaning: the chunks whose vectors are nearest to the query's."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, Doc, Record
from knapper_search.domain import Root, search


class Passage(Record):
    chunk_id: str
    path: str
    score: float
    heading_path: list[str]
    line: int
    embedding_model: str
    content: str | None = None
    page: int | None = None


class Passages(Record):
    items: list[Passage]
    vectors_ready: bool
    incomplete: str | None = None


@search.tool("read:notes", words="meaning similar topic concept about lookup")
def search_semantic(
    ctx: Context,
    query: Annotated[str, Doc("What the passages should be about.", min_length=1, max_length=10_000)],
    k: Annotated[int, Doc("How many passages.", ge=1, le=100)] = 10,
    root: Root = "",
    min_score: Annotated[float | None, Doc("Only passages at least this near.", ge=-1, le=1)] = None,
    return_content: bool = True,
) -> Passages:
    """Find the passages nearest in meaning to a query, by cosine of their vectors."""
    found = ctx.index.by_meaning(query, k, root=root)
    rows = ctx.index.chunks(s.chunk for s in found)
    model = ctx.index.embedding_model
    items = [
        Passage(
            chunk_id=row.id,
            path=row.path,
            score=round(s.score, 6),
            content=row.text if return_content else None,
            heading_path=list(row.headings),
            line=row.line + 1,
            embedding_model=model,
            page=row.page,
        )
        for s in found
        if (min_score is None or s.score >= min_score) and (row := rows.get(s.chunk)) is not None
    ]
    items.sort(key=lambda p: (-p.score, p.chunk_id))
    return Passages(items=items, vectors_ready=ctx.index.vectors_ready)
