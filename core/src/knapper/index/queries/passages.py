"""The part of a text that shows why it was found."""

from __future__ import annotations

from knapper.index.queries.ranked import terms
from knapper.index.words import fold

LONGEST = 240


def passage(text: str, query: str, most: int = LONGEST) -> tuple[int, str]:
    """Where the query's words stand closest together in a text, and what is around; the beginning where none does."""
    folded = fold(text)
    if len(folded) != len(text):
        folded = text.lower() if len(text.lower()) == len(text) else text
    at = _best(folded, query, most)
    start = max(0, min(at - most // 4, len(text) - most))
    if start > 0:
        space = text.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    end = min(len(text), start + most)
    if end < len(text) and (space := text.rfind(" ", at, end)) > start + most // 2:
        end = space
    return at, text[start:end].strip()


def _best(folded: str, query: str, most: int) -> int:
    """The place from which on a window holds most of the query's words; the whole query counts above all."""
    whole = folded.find(fold(query).strip())
    if whole >= 0:
        return whole
    wanted = [t for t in dict.fromkeys(terms(query)) if len(t) > 1 or not t.isascii()]
    places = sorted((at, t) for t in wanted for at in _places(folded, t))
    best, most_words = 0, 0
    for n, (at, _) in enumerate(places):
        inside = {t for other, t in places[n:] if other < at + most}
        # A longer word says more than a short one.
        weight = sum(len(t) for t in inside)
        if weight > most_words:
            best, most_words = at, weight
    return best


def _places(folded: str, term: str) -> list[int]:
    found: list[int] = []
    at = folded.find(term)
    while at >= 0 and len(found) < 20:
        found.append(at)
        at = folded.find(term, at + len(term))
    return found
