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
EXACT = 100.0
ALIKE = 0.6  # what a synonym counts beside the word itself
KIND = (
    1.2  # for a tool that changes something where a change is asked for, and for one that reads where none is
)
LEAD = 1.3  # for a tool whose name begins with the word that the request begins with: what is to be done
WORD = re.compile(r"[^\W_]+")
STOP = re.compile(
    r"\w|\d+|am|an|and|are|as|at|been|by|can|could|do(es)?|for|from|have|here|how|if|in(to)?|is|its?|me|my|need|of|on|one|or|our|out|please"
    r"|some(thing)?|that|the(re|se)?|this|to|up|want|was|we|were|when|where|who|will|with|would|should|tell|your?"
)
WHOLE = re.compile(
    r"\b((across|inside|throughout|within) )?(the|my|this|our|your|whole) vault\b"
)  # where else
PHRASES = [  # what is asked for in more than one word
    (re.compile(r"\bget rid of\b"), "delete"),
    (re.compile(r"\b(check|cross|tick) off\b"), "finish task"),
    (re.compile(r"\b(go|roll|bring|put) back( to)?\b"), "restore"),
    (re.compile(r"\bmake an? (copy|duplicate)( of)?\b"), "copy"),
    (re.compile(r"\bput\b(?=.* in(to)? .*\b(folder|directory)\b)"), "move"),
    (re.compile(r"\b(have|need|left) to do\b"), "task"),
    (
        re.compile(r"\b(more|less|fewer|larger|greater|older|newer) than\b|\bat (least|most)\b"),
        "property compare",
    ),
    (re.compile(r"\bhow (many|much|often)\b"), "count list"),
    (re.compile(r"\bobsidian://\S*"), "uri"),
]
BEGINNING = {  # things whose names are what is done, where a request begins with them
    "tag": "add tag", "label": "add tag", "bookmark": "add bookmark", "pin": "add bookmark", "star": "add bookmark",
    "archive": "move", "link": "add link", "file": "move",
}  # fmt: skip
ASKING = frozenset(
    [
        "what",
        "which",
        "where",
        "who",
        "whose",
        "when",
        "am",
        "is",
        "are",
        "do",
        "does",
        "did",
        "may",
        "show",
        "list",
        "find",
        "look",
    ]
)
SAME = {  # words that people use for what a tool's own text calls otherwise
    "page": "note", "document": "note", "file": "note attachment", "md": "note",
    "text": "content", "sentence": "string", "word": "string", "phrase": "string text literal", "body": "content text",
    "remove": "delete", "erase": "delete", "trash": "delete", "throw": "delete", "away": "delete", "discard": "delete",
    "rename": "move", "relocate": "move", "duplicate": "copy", "clone": "copy",
    "create": "write", "new": "create write", "make": "create", "save": "write", "store": "write", "draft": "write",
    "write": "append create", "insert": "append patch prepend", "bottom": "end append", "top": "start prepend", "beginning": "start prepend",
    "edit": "patch change update", "change": "patch update", "modify": "patch update", "replace": "patch", "set": "update",
    "fix": "rewrite update", "mark": "update status", "tick": "update task", "finish": "status", "done": "status task",
    "show": "read list", "view": "read", "open": "read", "get": "read", "fetch": "read", "see": "read", "look": "read",
    "what": "list", "which": "list find", "all": "list", "every": "list", "many": "list count",
    "find": "search", "query": "search", "lookup": "search", "where": "find", "match": "search",
    "several": "notes", "multiple": "notes", "batch": "bulk", "mass": "bulk",
    "picture": "attachment image", "image": "attachment", "photo": "attachment", "pdf": "attachment", "media": "attachment",
    "todo": "task", "checkbox": "task", "checklist": "task", "deadline": "due", "week": "due date",
    "label": "tag", "hashtag": "tag", "category": "tag",
    "frontmatter": "property", "yaml": "property", "metadata": "property", "attribute": "property", "greater": "property compare",
    "diary": "periodic day", "journal": "periodic day", "daily": "periodic day", "weekly": "periodic", "monthly": "periodic",
    "today": "day periodic", "yesterday": "day periodic",
    "broken": "unresolved dead", "dead": "unresolved", "dangling": "unresolved", "missing": "unresolved",
    "nobody": "orphan", "lonely": "orphan", "unlinked": "orphan", "reference": "link backlink", "mention": "backlink search text",
    "connection": "link", "link": "backlink", "similar": "related semantic", "topic": "semantic", "meaning": "semantic",
    "undo": "restore", "revert": "restore", "rollback": "restore", "history": "snapshot", "version": "snapshot", "older": "snapshot",
    "directory": "folder", "pattern": "regex", "expression": "regex", "diagram": "drawing excalidraw", "draw": "drawing excalidraw create",
    "sketch": "drawing", "whiteboard": "canvas", "status": "health", "doing": "health", "favourite": "bookmark", "pin": "bookmark",
    "recent": "newest list", "latest": "newest list",
    "remember": "memory entity", "know": "memory entity", "inbox": "capture", "idea": "capture", "jot": "capture", "path": "chain",
    "card": "canvas", "board": "canvas", "network": "graph", "important": "central", "connect": "link", "group": "community",
    "two": "several", "three": "several", "four": "several", "five": "several", "ten": "several bulk", "dozen": "several bulk", "few": "several",
    "fresh": "new create", "blank": "new", "swap": "replace", "wipe": "delete", "bin": "delete", "retitle": "rename", "attach": "add", "field": "property",
    "count": "number list", "url": "uri", "address": "uri",
}  # fmt: skip
CHANGING = frozenset(
    {
        *(
            "add",
            "append",
            "bookmark",
            "bulk",
            "change",
            "clone",
            "commit",
            "copy",
            "create",
            "delete",
            "discard",
            "draft",
        ),
        *(
            "draw",
            "duplicate",
            "edit",
            "erase",
            "fix",
            "insert",
            "make",
            "mark",
            "modify",
            "move",
            "new",
            "patch",
            "pin",
        ),
        *(
            "put",
            "remember",
            "remove",
            "rename",
            "replace",
            "restore",
            "revert",
            "rewrite",
            "rollback",
            "save",
            "set",
        ),
        *("sketch", "store", "throw", "tick", "trash", "undo", "update", "write"),
    }
)


class Ranking:
    """An index over one set of tools."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self.tools = tools
        self._documents = [_document(tool) for tool in tools]
        self._names = [tuple(_terms(tool.name)) for tool in tools]
        self._lengths = [sum(document.values()) for document in self._documents]
        self._mean = sum(self._lengths) / max(len(tools), 1) or 1.0
        found_in = Counter(term for document in self._documents for term in document)
        self._idf = {t: math.log(1 + (len(tools) - n + 0.5) / (n + 0.5)) for t, n in found_in.items()}
        self._most = max(self._idf.values(), default=1.0)

    @staticmethod
    @lru_cache(maxsize=16)
    def of(tools: tuple[Tool, ...]) -> Ranking:
        """The index over these tools, built once."""
        return Ranking(tools)

    def best(self, query: str, limit: int) -> list[tuple[Tool, float]]:
        """The tools that fit best, with their scores; those that do not fit at all are left out."""
        asked = _plain(query)
        words = WORD.findall(asked)
        asks = bool(words) and words[0] in ASKING
        changing = not CHANGING.isdisjoint(words) and words[:1] != ["how"] and not asks
        terms = list(dict.fromkeys(_terms(asked)))
        if asks and not all(self._knows(term) for term in terms):
            terms.append("search")  # words of no tool are what is looked for
        named = {tool.name: EXACT for tool in self.tools if tool.name == query.strip()}
        scored = [
            (tool, self._score(n, terms, changing) + named.get(tool.name, 0.0))
            for n, tool in enumerate(self.tools)
        ]
        return sorted((s for s in scored if s[1] > 0), key=lambda s: (-s[1], s[0].name))[:limit]

    def _knows(self, term: str) -> bool:
        return any(word in self._idf for word, _ in _variants(term))

    def _score(self, n: int, terms: list[str], changing: bool) -> float:
        total = matched = asked = 0.0
        for term in terms:
            points = [weight * self._points(n, word) for word, weight in _variants(term)]
            rarity = self._idf.get(term, self._most)
            asked += rarity
            matched += rarity if points[0] else rarity * ALIKE if any(points) else 0.0
            total += points[0] + max(points[1:], default=0.0)
        if not total:
            return 0.0
        fits = KIND if self.tools[n].mutating is changing else 1.0
        leads = LEAD if terms[0] == next(iter(self._names[n]), "") else 1.0
        return total * fits * leads * math.sqrt(matched / asked)

    def _points(self, n: int, word: str) -> float:
        frequency = self._documents[n].get(word, 0.0)
        if not frequency:
            return 0.0
        rarity, length = self._idf[word], self._lengths[n] / self._mean
        bm25 = rarity * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length))
        return bm25 + IN_NAME * rarity / self._most * (word in self._names[n])


def _plain(query: str) -> str:
    """A request in words that tools use of themselves."""
    asked = WHOLE.sub(" ", query.lower().replace("to-do", "todo"))
    for phrase, word in PHRASES:
        asked = phrase.sub(word, asked)
    first, space, rest = asked.partition(" ")
    return BEGINNING.get(first, first) + space + rest if space else asked


def _document(tool: Tool) -> Counter[str]:
    """The words about a tool, each as often as it stands there and as much as the place is worth."""
    first, _, rest = tool.description.partition(". ")
    parameters = tool.input_schema.get("properties", {})
    described = " ".join(
        field.get("description", "") for name, field in parameters.items() if name != "vault"
    )
    parts = (
        (tool.name, 2.0),
        (first, 2.0),
        (tool.words, 2.0),
        (rest, 1.0),
        (" ".join(name for name in parameters if name not in ("vault", "cursor", "limit", "verbosity")), 0.5),
        (described, 0.3),
        (f"{tool.domain.slug} {tool.domain.group}", 1.0),
        (tool.domain.summary, 0.5),
    )
    found: Counter[str] = Counter()
    for text, worth in parts:
        for term in _terms(text):
            found[term] += worth  # type: ignore[assignment]
    return found


def _variants(term: str) -> Iterator[tuple[str, float]]:
    yield term, 1.0
    for word in _SAME.get(term, ()):
        yield word, ALIKE


def _terms(text: str) -> Iterator[str]:
    for word in WORD.findall(text.lower().replace("_", " ")):
        if not STOP.fullmatch(word):
            yield stem(word)


def stem(word: str) -> str:
    """A word without its commonest English endings, so that `notes` and `note`, `linking` and `link` meet."""
    for ending, least, put in (
        ("ies", 5, "y"),
        ("ing", 6, ""),
        ("ed", 5, ""),
        ("ly", 6, ""),
        ("es", 5, ""),
        ("s", 4, ""),
    ):
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            cut = word[: -len(ending)] + put
            doubled = ending in ("ing", "ed") and len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "ls"
            return (cut[:-1] if doubled else cut).removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


_SAME = {stem(word): tuple(map(stem, same.split())) for word, same in SAME.items()}
