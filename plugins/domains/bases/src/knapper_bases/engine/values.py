"""The types of the language: Python's own where they fit, small classes where they do not."""

from dataclasses import dataclass
from datetime import datetime

import regex

from knapper_bases.engine.source import Entry

UNKNOWN = object()
"""Stands for a link's destination that nobody has looked up yet."""


class Tag(str):
    """A tag without its `#`."""

    __slots__ = ()


class Html(str):
    """A text to be rendered as HTML."""

    __slots__ = ()


class Icon(str):
    """The name of an icon."""

    __slots__ = ()


class Image(str):
    """The address of an image."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Date:
    """A moment in the vault's local time; `timed` tells a datetime from a mere date."""

    when: datetime
    timed: bool


@dataclass(frozen=True, slots=True)
class RelativeDate(Date):
    """A date that shows its distance from now, and still sorts as a date."""

    shown: str


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time in the three units that do not convert into each other exactly."""

    months: float = 0
    days: float = 0
    milliseconds: float = 0


class Link:
    """A link: its target text, its shown value, the file it is followed from, and where that leads."""

    __slots__ = ("display", "resolved", "source_path", "target")

    def __init__(self, target: str, display: object, source_path: str, resolved: object = UNKNOWN) -> None:
        self.target = target
        self.display = display
        self.source_path = source_path
        self.resolved = resolved


class File:
    """A file of the vault."""

    __slots__ = ("entry", "path")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.path = entry.path

    @property
    def full_name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0] or "/"

    @property
    def basename(self) -> str:
        name, dot, _ = self.full_name.rpartition(".")
        return name if dot and name else self.full_name

    @property
    def ext(self) -> str:
        name, dot, ext = self.full_name.rpartition(".")
        return ext if dot and name else ""

    @property
    def name(self) -> str:
        name = self.path.rpartition("/")[2]
        return name[:-3] if name[-3:].lower() == ".md" and len(name) > 3 else name


class This(File):
    """The file in whose context a base is shown: `this.x` is its property x, `this.file` the file."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Regexp:
    """A compiled regular expression with JavaScript's meaning."""

    source: str
    flags: str
    pattern: "regex.Pattern[str]"


TYPE_NAMES: dict[type, str] = {
    type(None): "Null",
    bool: "Boolean",
    int: "Number",
    float: "Number",
    str: "String",
    Tag: "Tag",
    Html: "HTML",
    Icon: "Icon",
    Image: "Image",
    Date: "Date",
    RelativeDate: "Date",
    Duration: "Duration",
    Link: "Link",
    File: "File",
    This: "File",
    list: "List",
    dict: "Object",
    Regexp: "RegExp",
}


def type_name(value: object) -> str:
    """Name a value's type as messages do."""
    return TYPE_NAMES[type(value)]
