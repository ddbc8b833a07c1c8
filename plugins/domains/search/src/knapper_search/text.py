"""By letter and by pattern."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, Doc, Page, Record, ToolError
from knapper_search.domain import Root, search

FLAGS = frozenset("imsu")


class TextMatch(Record):
    path: str
    line: int
    col: int
    snippet: str
    score: float
    page: int | None = None


@search.tool("read:notes", words="phrase word exact contains mention literal")
def search_text(
    ctx: Context,
    query: Annotated[str, Doc("The exact characters to find.", min_length=1, max_length=10_000)],
    case_sensitive: bool = False,
    whole_word: bool = False,
    root: Root = "",
    page: Page = Page(),
) -> Page.Of[TextMatch]:
    """Find every note, and page of an attachment whose text was read, that holds a literal string; best first."""
    hits, last = ctx.index.literal(
        page, query, case_sensitive=case_sensitive, whole_word=whole_word, root=root
    )
    items = [
        TextMatch(
            path=h.path,
            line=h.line + 1,
            col=h.col + 1,
            snippet=h.snippet,
            score=round(h.score, 6),
            page=h.page,
        )
        for h in hits
    ]
    return page.of(items, last_key=last)


class PatternMatch(Record):
    terse = ("path", "line", "match")

    path: str
    line: int
    col: int
    match: str
    snippet: str
    page: int | None = None


@search.tool("read:notes", words="regular expression pattern match")
def search_regex(
    ctx: Context,
    pattern: Annotated[str, Doc("A regular expression.", min_length=1, max_length=1000)],
    flags: Annotated[str, Doc("Of i, m, s and u.", max_length=8)] = "i",
    root: Root = "",
    max_matches_per_file: Annotated[int, Doc("At most so many matches a note.", ge=1, le=1000)] = 10,
    page: Page = Page(),
) -> Page.Of[PatternMatch]:
    """Find places that match a regular expression, by path and place; a pattern that takes too long is stopped."""
    unknown = sorted(set(flags) - FLAGS)
    if unknown:
        raise ToolError(
            "invalid_input", f"flags: {''.join(unknown)!r} is none of i, m, s and u", field="flags"
        )
    hits, last = ctx.index.regex(
        page,
        pattern,
        flags,
        root=root,
        per_file=max_matches_per_file,
        seconds=ctx.server.settings.governor.regex_timeout_ms / 1000,
        cancelled=lambda: ctx.cancelled,
    )
    items = [
        PatternMatch(
            path=h.path, line=h.line + 1, col=h.col + 1, match=h.match, snippet=h.snippet, page=h.page
        )
        for h in hits
    ]
    return page.of(items, last_key=last)
