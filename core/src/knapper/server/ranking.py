"""Which tools fit a request in plain words: BM25 over names, descriptions, parameters and domains."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knapper.domain import Tool

K1, B = 1.2, 0.75
IN_NAME = 5.0
WORD = re.compile(r"[^\W_]+")
STOP = re.compile(
    r"an?|and|are|as|at|by|do(es)?|for|from|how|i|in(to)?|is|its?|me|my|of|on|or|please|that|the|this|to|want|what|when"
    r"|where|which|who|will|with|your?|can|could|would|should|show|tell"
)
SAME = {  # words that people use for what a tool's own text calls otherwise
    "remove": "delete", "erase": "delete", "trash": "delete", "bin": "delete",
    "rename": "move", "relocate": "move",
    "create": "write", "new": "write", "add": "write", "make": "write", "save": "write", "store": "write",
    "edit": "patch", "change": "patch", "modify": "patch", "update": "patch",
    "view": "read", "open": "read", "get": "read", "fetch": "read", "load": "read", "content": "read",
    "find": "search", "look": "search", "lookup": "search", "query": "search",
    "picture": "attachment", "image": "attachment", "photo": "attachment", "file": "attachment", "pdf": "attachment",
    "todo": "task", "todos": "task", "label": "tag", "hashtag": "tag",
    "frontmatter": "property", "yaml": "property", "metadata": "property", "field": "property",
    "diary": "daily", "journal": "daily", "today": "daily",
    "backlink": "link", "reference": "link", "connection": "link",
    "similar": "related", "undo": "restore", "revert": "restore", "history": "snapshot", "version": "snapshot",
    "directory": "folder", "document": "note", "page": "note",
}  # fmt: skip


class Ranking:
    """An index over one set of tools."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self._tools = tools
        self._documents = [Counter(_terms(_text(tool))) for tool in tools]
        self._names = [frozenset(_terms(tool.name)) for tool in tools]
        self._lengths = [sum(document.values()) for document in self._documents]
        self._mean = sum(self._lengths) / max(len(tools), 1) or 1.0
        self._found_in = Counter(term for document in self._documents for term in document)

    @staticmethod
    @lru_cache(maxsize=16)
    def of(tools: tuple[Tool, ...]) -> Ranking:
        """The index over these tools, built once."""
        return Ranking(tools)

    def best(self, query: str, limit: int) -> list[tuple[Tool, float]]:
        """The tools that fit best, with their scores; those that do not fit at all are left out."""
        terms = list(dict.fromkeys(_terms(query)))
        scored = [(tool, self._score(n, terms)) for n, tool in enumerate(self._tools)]
        return sorted((s for s in scored if s[1] > 0), key=lambda s: (-s[1], s[0].name))[:limit]

    def _score(self, n: int, terms: list[str]) -> float:
        total = 0.0
        document, length = self._documents[n], self._lengths[n] / self._mean
        for term in terms:
            for word, weight in _variants(term):
                frequency = document.get(word, 0)
                if not frequency:
                    continue
                found_in = self._found_in[word]
                idf = math.log(1 + (len(self._tools) - found_in + 0.5) / (found_in + 0.5))
                total += weight * idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))
                total += weight * IN_NAME * (word in self._names[n])
        return total


def _variants(term: str) -> Iterator[tuple[str, float]]:
    yield term, 1.0
    if term in _SAME:
        yield _SAME[term], 0.6


def _text(tool: Tool) -> str:
    parameters = tool.input_schema.get("properties", {})
    about = [
        f"{name} {field.get('description', '')}" for name, field in parameters.items() if name != "vault"
    ]
    return " ".join(
        [tool.name, tool.description, tool.domain.slug, tool.domain.group, tool.domain.summary, *about]
    )


def _terms(text: str) -> Iterator[str]:
    for word in WORD.findall(text.lower().replace("_", " ")):
        if not STOP.fullmatch(word):
            yield stem(word)


def stem(word: str) -> str:
    """A word without its commonest English endings, so that `notes` and `note`, `linking` and `link` meet."""
    for ending, least, put in (("ies", 4, "y"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, "e"), ("s", 4, "")):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            cut = word[: -len(ending)] + put
            if ending in ("ing", "ed") and len(cut) > 3 and cut[-1] == cut[-2]:
                cut = cut[:-1]
            return cut.removesuffix("e") if len(cut) > 3 else cut
    return word.removesuffix("e") if len(word) > 3 else word


_SAME = {stem(word): stem(same) for word, same in SAME.items()}
