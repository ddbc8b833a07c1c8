"""One tool for all kinds of search, which chooses the kind where it is not told."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from knapper import Context, Doc, Page, Record, ToolError
from knapper.index.queries.passages import passage
from knapper.index.queries.ranked import ChunkRow, Scored
from knapper.page import Paged
from knapper_search import dql, logic
from knapper_search.domain import Root, search

Mode = Literal["text", "regex", "semantic", "hybrid", "jsonlogic", "dql"]
# A line of DQL begins with its kind; what follows decides whether a sentence only happens to begin so.
DQL = re.compile(
    r"\s*(?:(TABLE|LIST|TASK|CALENDAR)\b(?=\s*$|\s+(?:WITHOUT\s+ID|FROM|WHERE|SORT|GROUP|FLATTEN|LIMIT)\b|.*\b(?:FROM|WHERE|SORT|FLATTEN)\s))",
    re.IGNORECASE | re.DOTALL,
)
POOL = 200


class Hit(Record):
    path: str
    score: float
    mode_used: Mode
    chunk_id: str | None = None
    snippet: str | None = None
    line: int | None = None
    page: int | None = None


class Explained(Record):
    modes_tried: list[Mode]
    chosen: Mode
    reason: str


class Hits(Paged[Hit]):
    explain: Explained | None = msgspec.field(name="_explain", default=None)


class Choice(NamedTuple):
    mode: Mode
    reason: str


@search.tool("read:notes", words="look anything contains about")
def search_vault(
    ctx: Context,
    query: Annotated[str | dict[str, Any], Doc("Words, a DQL query, or a JsonLogic rule as an object.")],
    mode: Annotated[
        Literal["auto", "text", "regex", "semantic", "hybrid", "jsonlogic", "dql"],
        Doc("How to search; auto decides by the query."),
    ] = "auto",
    root: Root = "",
    explain: Annotated[bool, Doc("Say which mode was chosen and why.")] = False,
    page: Page = Page(20),
) -> Hits:
    """Find notes by whichever kind of search fits the query, best first; one hit a note."""
    if query in ("", {}) or (isinstance(query, str) and not query.strip()):
        raise ToolError("invalid_input", "query is empty", field="query")
    if page.after is not None:
        choice = Choice(page.after[0], "the first page was found so")
    else:
        choice = _choose(ctx, query) if mode == "auto" else Choice(mode, "the caller asked for it")
    tried: list[Mode] = [choice.mode]
    found = _run(ctx, choice.mode, query, root, page)
    if mode == "auto" and not found.items and choice.mode == "dql" and page.after is None:
        choice = Choice("text", "the query found nothing as DQL")
        tried.append(choice.mode)
        found = _run(ctx, choice.mode, query, root, page)
    policy = ctx.vault_settings.auto_mode_explain  # type: ignore[attr-defined]
    if explain or policy == "always" or (policy == "on_zero_hits" and not found.items):
        found.explain = Explained(modes_tried=tried, chosen=choice.mode, reason=choice.reason)
    return found


def _choose(ctx: Context, query: str | dict[str, Any]) -> Choice:
    if isinstance(query, dict):
        return Choice("jsonlogic", "the query is an object")
    if DQL.match(query) and _offers_dql(ctx):
        return Choice("dql", "the query reads as DQL")
    if ctx.index.has_vectors and ctx.index.vectors_ready:
        return Choice("hybrid", "the query is text and the vectors are ready")
    return Choice("text", "the query is text and the vectors are not ready")


def _offers_dql(ctx: Context) -> bool:
    if not ctx.caller.may("read:dataview"):
        return False
    try:
        ctx.service("dql")
    except ToolError:
        return False
    return True


def _run(ctx: Context, mode: Mode, query: str | dict[str, Any], root: str, page: Page) -> Hits:
    if mode == "jsonlogic":
        rules, last = logic.matching(ctx, query, root, _inner(page))
        return _hits(page, mode, [Hit(path=r.path, score=1.0, mode_used=mode) for r in rules], last)
    if not isinstance(query, str):
        raise ToolError("invalid_input", f"mode {mode} takes a string, not an object", field="query")
    if mode == "dql":
        return _dql(ctx, query, root, page)
    if mode == "regex":
        return _regex(ctx, query, root, page)
    if mode == "text":
        return _text(ctx, query, root, page)
    return _ranked(ctx, mode, query, root, page)


def _text(ctx: Context, query: str, root: str, page: Page) -> Hits:
    """Notes that hold the words as they stand; where none does, notes that hold them anywhere."""
    inner = _inner(page)
    by_letter = inner.after is None or inner.after[0] == "letter"
    hits, last = ctx.index.literal(_inner(inner), query, root=root) if by_letter else ([], None)
    if hits:
        items = [
            Hit(
                path=h.path,
                score=round(h.score, 6),
                mode_used="text",
                snippet=h.snippet,
                line=h.line + 1,
                page=h.page,
            )
            for h in hits
        ]
        return _hits(page, "text", items, last and ["letter", last])
    return _ranked(ctx, "text", query, root, page)


def _inner(page: Page) -> Page:
    """The same page with the key of whoever finds it; before it stands how it was found."""
    inner = Page(page.limit)
    return inner if page.after is None else Page(page.limit, inner.cursor_at(page.after[1]))


def _regex(ctx: Context, query: str, root: str, page: Page) -> Hits:
    seconds = ctx.server.settings.governor.regex_timeout_ms / 1000
    found, last = ctx.index.regex(
        _inner(page), query, root=root, per_file=1, seconds=seconds, cancelled=lambda: ctx.cancelled
    )
    items = [
        Hit(path=m.path, score=1.0, mode_used="regex", snippet=m.snippet, line=m.line + 1, page=m.page)
        for m in found
    ]
    return _hits(page, "regex", items, last)


def _dql(ctx: Context, query: str, root: str, page: Page) -> Hits:
    if not ctx.caller.may("read:dataview"):
        raise ToolError("forbidden", "mode dql needs the scope read:dataview", scopes=["read:dataview"])
    below = root.strip("/") + "/" if root.strip("/") else ""
    paths = sorted({p for p in dql.run(ctx, query).note_paths if p.startswith(below)})
    after = _inner(page).after or ""
    left = [p for p in paths if p > after]
    items = [Hit(path=p, score=1.0, mode_used="dql") for p in left[: page.limit]]
    return _hits(page, "dql", items, items[-1].path if len(left) > page.limit else None)


def _ranked(ctx: Context, mode: Mode, query: str, root: str, page: Page) -> Hits:
    """The best passage of each note. The pool is the same for every page, so that scores and order are too."""
    after = _inner(page).after
    begun, found = ctx.index.kept_for_pages(
        (mode, query, root), after and after[-1], lambda: _pool(ctx, mode, query, root)
    )
    best = ctx.index.best_of_notes(found)
    if after is not None:
        _, score, chunk, _ = after
        best = [s for s in best if (-s.score, s.chunk) > (-score, chunk)]
    shown = best[: page.limit]
    rows = ctx.index.chunks(s.chunk for s in shown)
    items = [_hit(rows[s.chunk], s, mode, query) for s in shown if s.chunk in rows]
    last = ["rank", shown[-1].score, shown[-1].chunk, begun] if len(best) > page.limit else None
    done = _hits(page, mode, items, last)
    done.overflow = len(found) >= POOL and done.cursor is None
    return done


def _pool(ctx: Context, mode: Mode, query: str, root: str) -> list[Scored]:
    if mode == "semantic":
        return ctx.index.by_meaning(query, POOL, root=root)
    if mode == "hybrid":
        return ctx.index.by_both(query, 2 * POOL, root=root, pool=POOL)
    return ctx.index.by_words(query, POOL, root=root)


def _hit(row: ChunkRow, scored: Scored, mode: Mode, query: str) -> Hit:
    at, text = passage(row.text, query)
    return Hit(
        path=row.path,
        score=round(scored.score, 6),
        mode_used=mode,
        chunk_id=row.id,
        snippet=text,
        line=row.line + row.text.count("\n", 0, at) + 1,
        page=row.page,
    )


def _hits(page: Page, mode: Mode, items: list[Hit], last: Any) -> Hits:
    return Hits(items=items, cursor=None if last is None else page.cursor_at([mode, last]))
