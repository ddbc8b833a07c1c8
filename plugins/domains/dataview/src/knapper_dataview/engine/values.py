"""The values of the language: Python's own where they fit, links, widgets and lazy objects beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import FunctionType

import msgspec
import regex

from knapper_dataview.engine.durations import Duration

_EMOJI_ONE = r"\p{Emoji}(?<![0-9#*])(?:\p{EMod}|\uFE0F)?(?:[\U000E0020-\U000E007F])*"
EMOJI = rf"(?:\p{{RI}}\p{{RI}}|[0-9#*]\uFE0F?\u20E3|{_EMOJI_ONE}(?:\u200D{_EMOJI_ONE})*)"

_CANONICAL = regex.compile(rf"({EMOJI})|([0-9\p{{L}}_-]+)|(\s+)|.", regex.DOTALL)


class Link(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A link to a note, or to a heading or block in it; a struct, because queries make them by the ten thousand."""

    path: str
    display: str | None = None
    subpath: str | None = None
    type: str = "file"
    embed: bool = False

    @classmethod
    def infer(cls, target: str, display: str | None = None, embed: bool = False) -> Link:
        """Build from the text of a link's target, telling headings and blocks apart."""
        if "#^" in target:
            path, block = target.split("#^")[:2]
            return cls(path, display, block, "block", embed)
        if "#" in target:
            path, heading = target.split("#")[:2]
            return cls(path, display, heading_subpath(heading), "header", embed)
        return cls(target, display, None, "file", embed)

    @classmethod
    def parse(cls, inner: str, embed: bool = False) -> Link:
        """Build from what stands between the brackets of a wikilink."""
        pipe = inner.find("|")
        while pipe > 0 and inner[pipe - 1] == "\\":
            pipe = inner.find("|", pipe + 1)
        target, display = (inner, None) if pipe < 0 else (inner[:pipe], inner[pipe + 1 :])
        return cls.infer(target.replace("\\|", "|"), display, embed)

    def at(self, path: str) -> Link:
        """The same link with its path resolved."""
        return self if path == self.path else Link(path, self.display, self.subpath, self.type, self.embed)

    def markdown(self) -> str:
        """The link as Markdown that Obsidian can open, always with a text to show."""
        target = self.path.replace("|", "\\|")
        if self.subpath is not None and self.type != "file":
            target += ("#" if self.type == "header" else "#^") + self.subpath.replace("|", "\\|")
        return f"{'!' if self.embed else ''}[[{target}|{self.display or self.title()}]]"

    def title(self) -> str:
        """What is shown where the link has no display text."""
        name = file_title(self.path)
        return name if self.type == "file" else f"{name} > {self.subpath}"


@dataclass(frozen=True, slots=True)
class ListPair:
    """A row of `LIST expression`: the note, and the value beside it."""

    key: object
    value: object


@dataclass(frozen=True, slots=True)
class ExternalLink:
    """A link out of the vault."""

    url: str
    display: str


class Record(dict[str, object]):
    """An object whose missing keys are null; rows of a query are records."""

    __slots__ = ()

    def __missing__(self, key: str) -> object:
        return None

    def full(self) -> dict[str, object]:
        """This object with every key present, for what looks at all of them."""
        return self


TYPES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    datetime: "date",
    Duration: "duration",
    Link: "link",
    list: "array",
    dict: "object",
    Record: "object",
    FunctionType: "function",
    ListPair: "widget",
    ExternalLink: "widget",
}

Function = Callable[..., object]


def type_of(value: object) -> str:
    """The name of a value's type."""
    return TYPES[type(value)]


_PLAIN = frozenset({type(None), bool, int, float, str, list, dict})


def truthy(value: object) -> bool:
    """Whether a condition holds: not null, zero, empty, or a link to nowhere."""
    if type(value) in _PLAIN:
        return bool(value)
    if isinstance(value, Link):
        return bool(value.path)
    if isinstance(value, datetime):
        return value.timestamp() != 0
    if isinstance(value, Duration):
        return value.milliseconds != 0
    return bool(value.full()) if isinstance(value, Record) else True


def entries(value: dict[str, object]) -> dict[str, object]:
    """All keys of an object, lazy or not."""
    return value.full() if isinstance(value, Record) else value


def file_title(path: str) -> str:
    """A file's name without its folders and its `.md`."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def canonical_name(key: str) -> str:
    """A field's name as queries write it: lower case, spaces as dashes, other punctuation dropped."""
    return "".join(_canonical_part(*part.groups()) for part in _CANONICAL.finditer(key))


def _canonical_part(emoji: str | None, word: str | None, space: str | None) -> str:
    return emoji or (word.lower() if word else "-" if space else "")


def heading_subpath(heading: str) -> str:
    """A heading as links name it: words and emoji, single spaces between."""
    kept = (part[1] or part[2] or " " for part in _CANONICAL.finditer(heading))
    return " ".join("".join(kept).split())
