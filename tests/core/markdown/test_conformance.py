"""The parser against metadata caches that Obsidian itself wrote, and against the links it counted in a whole vault.

Every entry of every kind is equal, positions included, so there is no table of differences for the caches. In the
vault, one note has been edited since Obsidian counted: "How To/Find tasks in notes with particular tag.md" now has a
plain link where the recording has none.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knapper.vault.markdown import Link, Parsed, parse

SHARED = Path(__file__).resolve().parents[4] / "shared"
CACHES = SHARED / "conformance" / "obsidian-metadata-cache.json"
RESOLUTION = SHARED / "conformance" / "obsidian-link-resolution.json"
VAULT = SHARED / "vaults" / "tasks-demo"

Entries = dict[str, list[Any]]

COUNTS = {
    "headings": 119,
    "sections.yaml": 33,
    "sections.heading": 119,
    "sections.list": 119,
    "sections.paragraph": 27,
    "sections.code": 23,
    "sections.callout": 5,
    "sections.comment": 3,
    "sections.html": 2,
    "sections.blockquote": 1,
    "listItems": 256,
    "tags": 195,
    "links": 68,
    "embeds": 3,
    "blocks": 1,
    "frontmatter": 32,
    "frontmatterPosition": 32,
    "frontmatterLinks": 10,
    "getAllTags": 206,
    "parseFrontMatterTags": 11,
}


def recorded(expected: dict[str, Any]) -> Entries:
    """The recorded cache, as lists of entries by kind."""
    cache = dict(expected["cachedMetadata"])
    cache["blocks"] = list(cache.get("blocks", {}).values())
    for key in ("frontmatter", "frontmatterPosition"):
        cache[key] = [cache[key]] if key in cache else []
    cache["getAllTags"] = expected["getAllTags"]
    cache["parseFrontMatterTags"] = expected["parseFrontMatterTags"] or []
    return by_section_type(cache)


def found(text: str) -> Entries:
    """What the parser finds, in the shape of the recorded cache."""
    note = parse(text)
    cache: Entries = {
        "headings": [
            {"heading": h.text, "level": h.level, "position": position(note, h.start, h.end)}
            for h in note.headings
        ],
        "sections": [
            present(type=s.type, id=s.id, position=position(note, s.start, s.end)) for s in note.sections
        ],
        "listItems": [
            present(position=position(note, i.start, i.end), parent=i.parent, task=i.task, id=i.id)
            for i in note.list_items
        ],
        "blocks": [{"id": b.id, "position": position(note, b.start, b.end)} for b in note.blocks.values()],
        "tags": [{"tag": t.tag, "position": position(note, t.start, t.end)} for t in note.tags],
        "links": [link(note, each) for each in note.links if not (each.embed or each.in_frontmatter)],
        "embeds": [link(note, each) for each in note.links if each.embed],
        "frontmatterLinks": [link(note, each) for each in note.links if each.in_frontmatter],
        "frontmatter": [note.frontmatter] if note.frontmatter else [],
        "frontmatterPosition": [],
        "getAllTags": note.all_tags,
        "parseFrontMatterTags": note.frontmatter_tags,
    }
    if note.frontmatter and note.frontmatter_span:
        cache["frontmatterPosition"] = [position(note, *note.frontmatter_span)]
    return by_section_type(cache)


def by_section_type(cache: Entries) -> Entries:
    sections = cache.pop("sections", [])
    for section in sections:
        cache.setdefault(f"sections.{section['type']}", []).append(section)
    return cache


def present(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def link(note: Parsed, each: Link) -> dict[str, Any]:
    where = {"key": each.key} if each.in_frontmatter else {"position": position(note, each.start, each.end)}
    return {"link": each.link, "original": each.original, "displayText": each.display, **where}


def position(note: Parsed, start: int, end: int) -> dict[str, Any]:
    return {"start": point(note, start), "end": point(note, end)}


def point(note: Parsed, offset: int) -> dict[str, int]:
    line, _ = note.line_col(offset)
    at = note.utf16(offset)
    return {"line": line, "col": at - note.utf16(note.line_starts[line]), "offset": at}


def cases(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        pytest.skip("the recordings are not here")
    yield from json.loads(path.read_text(encoding="utf-8"))["cases"]


def test_every_entry_of_every_recorded_cache_is_found_where_obsidian_found_it() -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    wrong = []
    for case in cases(CACHES):
        expected = recorded(case["expected"])
        actual = found(case["input"]["fileContents"])
        for kind in expected.keys() | actual.keys():
            theirs, ours = expected.get(kind, []), actual.get(kind, [])
            right[kind] += sum(a == b for a, b in zip(theirs, ours, strict=False))
            total[kind] += max(len(theirs), len(ours))
            if theirs != ours:
                wrong.append((case["id"], kind, theirs, ours))
    assert wrong == []
    assert {kind: (right[kind], total[kind]) for kind in total} == {
        kind: (n, n) for kind, n in COUNTS.items()
    }


def test_as_many_links_are_found_in_each_note_of_a_vault_as_obsidian_counted() -> None:
    if not VAULT.exists():
        pytest.skip("the vault is not here")
    differing = {}
    links = 0
    for case in cases(RESOLUTION):
        note = VAULT / case["input"]
        expected = sum(map(sum, (counts.values() for counts in case["expected"].values())))
        actual = len(parse(note.read_bytes().decode("utf-8")).links)
        links += actual
        if actual != expected:
            differing[case["input"]] = (actual, expected)
    assert differing == {"How To/Find tasks in notes with particular tag.md": (1, 0)}
    assert links == 130
