"""A drawing inside a Markdown note: where its sections are, and how one entry of them changes."""

from __future__ import annotations

import re
from typing import NamedTuple

from knapper_excalidraw.lzstring import compress, decompress

FRONT = re.compile(r"\A---[ \t\r]*\n(?P<yaml>.*?)^---[ \t\r]*$", re.MULTILINE | re.DOTALL)
PLUGIN = re.compile(r"^excalidraw-plugin[ \t]*:[ \t]*\S", re.MULTILINE)
FENCED = re.compile(
    r"^##? Drawing\s*^```(?P<kind>compressed-json|json)[ \t\r]*\n(?P<data>.*?)\n?^```",
    re.MULTILINE | re.DOTALL,
)
BARE = re.compile(r"^##? Drawing\s*^(?P<data>\{.*\})", re.MULTILINE | re.DOTALL)
HEADING = re.compile(
    r"^##? (?:Text Elements|Element Links|Embedded Files|Drawing)[ \t\r]*$|^%%[ \t\r]*$", re.MULTILINE
)
TEXTS = re.compile(r"^##? Text Elements[ \t\r]*\n", re.MULTILINE)
LINKS = re.compile(r"^##? Element Links[ \t\r]*\n", re.MULTILINE)
FILES = re.compile(r"^##? Embedded Files[ \t\r]*\n", re.MULTILINE)
MARK = re.compile(r"[ \t]\^(?P<id>[A-Za-z0-9_-]{8})[ \t]*(?:[\r\n]+|\Z)")
FILE = re.compile(r"^(?P<id>[A-Za-z0-9_-]+):[ \t]*(?P<target>\S.*?)[ \t\r]*$", re.MULTILINE)
WIKILINK = re.compile(r"\[\[(?P<path>[^\]|#^]+)[^\]]*\]\]")
PIECE = 256
FRAME = """---

excalidraw-plugin: parsed
tags: [excalidraw]

---
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==


# Excalidraw Data

## Text Elements
%%
## Drawing
```json
{}
```
%%
"""


class Scene(NamedTuple):
    """The drawing's data in a note: where it stands, how it is stored, and its JSON."""

    start: int
    end: int
    compressed: bool
    json: str


class Entry(NamedTuple):
    """One text of the section of texts."""

    id: str
    text: str
    start: int
    end: int


def is_drawing(text: str) -> bool:
    """Whether a note's properties say that it is a drawing."""
    front = FRONT.match(text)
    return front is not None and PLUGIN.search(front["yaml"]) is not None


def scene(text: str) -> Scene:
    """The last drawing of a note; a ValueError where there is none or it cannot be decoded."""
    found = [*FENCED.finditer(text)] or [*BARE.finditer(text)]
    if not found:
        raise ValueError("it has no section Drawing with data")
    data = found[-1]
    packed = data.re is FENCED and data["kind"] == "compressed-json"
    source = data["data"]
    if packed:
        source = decompress(re.sub(r"\s", "", source))
        source = source[: source.rfind("}") + 1]  # a sync that was cut short leaves rubbish behind
    return Scene(data.start("data"), data.end("data"), packed, source)


def with_scene(text: str, json: str) -> str:
    """The note with another drawing, stored as the one before."""
    old = scene(text)
    if json == old.json:
        return text
    return text[: old.start] + (packed(json) if old.compressed else json) + text[old.end :]


def packed(json: str) -> str:
    """A drawing compressed, in the pieces that the plugin cuts it into."""
    letters = compress(json)
    return "\n\n".join(letters[at : at + PIECE] for at in range(0, len(letters), PIECE))


def compressed(text: str) -> str:
    """The note with its drawing stored compressed."""
    old = scene(text)
    stored = text[: old.start] + packed(old.json) + text[old.end :]
    return stored[: old.start].removesuffix("```json\n") + "```compressed-json\n" + stored[old.start :]


def texts(text: str) -> list[Entry]:
    """The texts of a note's section of texts, by the ids of their elements."""
    span = _section(text, TEXTS)
    if span is None:
        return []
    at, end = span
    found = []
    for mark in MARK.finditer(text, at, end):
        found.append(Entry(mark["id"], text[at : mark.start()].strip("\r\n"), at, mark.end()))
        at = mark.end()
    return found


def with_text(text: str, own: str, new: str | None) -> str:
    """The note with one text set, or taken away."""
    line = "" if new is None else f"{new} ^{own}\n\n"
    for entry in texts(text):
        if entry.id == own:
            return text if entry.text == new else text[: entry.start] + line + text[entry.end :]
    return _added(text, TEXTS, "## Text Elements", line)


def with_link(text: str, own: str, link: str | None) -> str:
    """The note with the link of one element set, or taken away."""
    span = _section(text, LINKS)
    line = "" if link is None else f"{own}: {link}\n"
    old = re.compile(rf"^{re.escape(own)}:.*\n?", re.MULTILINE).search(text, *span) if span else None
    if old is not None:
        return text[: old.start()] + line + text[old.end() :]
    return _added(text, LINKS, "## Element Links", line)


def files(text: str) -> dict[str, str]:
    """What is embedded, by its id: a vault path, an address or a formula."""
    span = _section(text, FILES)
    if span is None:
        return {}
    found = {}
    for line in FILE.finditer(text, *span):
        link = WIKILINK.match(line["target"])
        found[line["id"]] = link["path"].strip() if link else line["target"]
    return found


def _section(text: str, heading: re.Pattern[str]) -> tuple[int, int] | None:
    """Where a section's entries stand; the last of that name before the drawing."""
    end = _drawing_at(text)
    found = [*heading.finditer(text, 0, end)]
    if not found:
        return None
    start = found[-1].end()
    following = HEADING.search(text, start, end)
    return start, following.start() if following else end


def _drawing_at(text: str) -> int:
    found = [*FENCED.finditer(text)] or [*BARE.finditer(text)]
    return found[-1].start() if found else len(text)


def _added(text: str, heading: re.Pattern[str], title: str, line: str) -> str:
    """The note with another line at the end of a section, which is made where it is missing."""
    if not line:
        return text
    span = _section(text, heading)
    if span is not None:
        body = text[: span[1]].rstrip("\r\n")
        first = len(body) < span[0]
        gap = "\n" if first or heading is LINKS else "\n\n"
        rest = text[span[1] :]
        return body + gap + line + ("" if line.endswith("\n\n") or not rest else "\n") + rest
    at = _drawing_at(text)
    embedded = FILES.search(text, 0, at)
    at = embedded.start() if embedded else at
    at -= len("%%\n") if text[:at].endswith("%%\n") else 0
    return text[:at] + f"{title}\n{line}" + ("" if line.endswith("\n\n") else "\n") + text[at:]
