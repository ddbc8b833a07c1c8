"""From a note's text to what is kept of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime

import regex

from knapper_dataview.engine.dates import find_date
from knapper_dataview.engine.inline_fields import (
    InlineField,
    bracketed_fields,
    frontmatter_value,
    full_line_field,
    inline_value,
    line_fields,
)
from knapper_dataview.engine.outline import Outline, OutlineItem, find_links, outline
from knapper_dataview.engine.pages import ListItem, PageData
from knapper_dataview.engine.query_parser import TAG
from knapper_dataview.engine.values import Link, canonical_name, file_title

Fields = dict[str, list[object]]

_LONGEST_LINE = 32768
_ITEM_TAG = regex.compile(r"#[^\s,;.:!?'\"`()\[\]{}]+")
_WHOLE_TAG = regex.compile(TAG)
_TAG_SPLIT = re.compile(r"[,\s]+")


def extract(
    path: str,
    text: str,
    frontmatter: dict[str, object] | None = None,
    body: int = 0,
    known: Outline | None = None,
) -> PageData:
    """Everything queries may ask of a note.

    `frontmatter` is its properties with dates as texts, `body` the number of the first line after them, and `known`
    its headings, items, links and tags where the caller has parsed it already.
    """
    properties = frontmatter or {}
    lines = text.split("\n")
    found = known or outline(lines, body)
    fields: Fields = {key: [frontmatter_value(value)] for key, value in properties.items()}
    items = _items(lines, found)
    for item in items:
        if item.status is None:
            _merge(fields, item.fields)
    if "::" in text:
        _scan_lines(lines, found, fields)
    return PageData(
        fields=_finished(fields),
        tags=tags_of(found.tags, properties),
        aliases=_distinct(_property_aliases(properties)),
        links=[*_property_links(properties), *_body_links(found)],
        day=_day(path, fields),
        frontmatter=properties,
        items=items,
    )


def tags_of(body: Iterable[str], properties: dict[str, object]) -> list[str]:
    """A note's tags, those of its body first."""
    return _distinct([*body, *_property_tags(properties)])


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _scan_lines(lines: list[str], found: Outline, fields: Fields) -> None:
    for number, line in enumerate(lines):
        if "::" in line and number not in found.in_lists and len(line) <= _LONGEST_LINE:
            _add(fields, line_fields(line.strip()))


def _add(fields: Fields, found: Iterable[InlineField]) -> None:
    for field in found:
        fields.setdefault(field.key, []).append(inline_value(field.value))


def _merge(fields: Fields, more: Fields) -> None:
    for key, values in more.items():
        fields[key] = fields.get(key, []) + values


def _finished(fields: Fields) -> dict[str, object]:
    """Every field under its own name and, where no field has that one, under its canonical name."""
    canonical: Fields = {}
    for key, values in fields.items():
        name = canonical_name(key)
        if name and name not in fields:
            canonical[name] = canonical.get(name, []) + values
    return {
        key: values[0] if len(values) == 1 else values
        for key, values in (fields | canonical).items()
        if key != "file"
    }


def _day(path: str, fields: Fields) -> datetime | None:
    for key, values in fields.items():
        if key.lower() in ("date", "day"):
            value = values[0]
            if isinstance(value, list) and value:
                value = value[0]
            day = value if isinstance(value, datetime) else _linked_day(value)
            if day is not None:
                return day
    return find_date(file_title(path))


def _linked_day(value: object) -> datetime | None:
    if not isinstance(value, Link):
        return None
    return find_date(value.path) or find_date(value.subpath or "") or find_date(value.display or "")


def _property_tags(properties: dict[str, object]) -> Iterable[str]:
    for key, value in properties.items():
        if key.lower() in ("tags", "tag"):
            for tag in _split(value, _TAG_SPLIT):
                yield tag if tag.startswith("#") else f"#{tag}"


def _property_aliases(properties: dict[str, object]) -> Iterable[str]:
    for key, value in properties.items():
        if key.lower() in ("aliases", "alias") and value:
            if isinstance(value, list):
                yield from (_plain(alias).strip() for alias in value)
            else:
                yield from _split(value, re.compile(","))


def _split(value: object, pattern: re.Pattern[str]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        return [part for element in value if element for part in _split(element, pattern)]
    return [part.strip() for part in pattern.split(_plain(value)) if part.strip()]


def _plain(value: object) -> str:
    return (
        ("true" if value else "false") if isinstance(value, bool) else "null" if value is None else str(value)
    )


def _property_links(value: object) -> list[object]:
    if isinstance(value, dict):
        return [link for element in value.values() for link in _property_links(element)]
    if isinstance(value, list):
        return [link for element in value for link in _property_links(element)]
    if isinstance(value, str) and value.startswith("[[") and value.endswith("]]"):
        return [*find_links(value)]
    return []


def _body_links(found: Outline) -> list[object]:
    links = [link for line in found.links.values() for link in line]
    return [*(link for link in links if not link.embed), *(link for link in links if link.embed)]


def _items(lines: list[str], found: Outline) -> list[ListItem]:
    heading_lines = [line for line, _ in found.headings]
    kept: dict[int, ListItem] = {}
    for outlined in found.items:
        before = bisect_right(heading_lines, outlined.line) - 1
        section = found.headings[before][1] if before >= 0 else None
        kept[outlined.line] = _item(lines, outlined, section, found)
    for item in kept.values():
        if item.parent in kept:
            kept[item.parent].children.append(item.line)
        if item.status is not None and item.status not in "xX":
            _uncomplete(item, kept)
    return list(kept.values())


def _uncomplete(item: ListItem, items: dict[int, ListItem]) -> None:
    """An open task leaves every task above it not fully completed."""
    item.fully_completed = False
    above = items.get(item.parent) if item.parent is not None else None
    # A task already known to be incomplete has told those above it.
    while above is not None and (above.status is None or above.fully_completed):
        above.fully_completed = False
        above = items.get(above.parent) if above.parent is not None else None


def _item(lines: list[str], outlined: OutlineItem, section: str | None, found: Outline) -> ListItem:
    parts = [outlined.text.strip(), *(line.strip() for line in lines[outlined.line + 1 : outlined.end + 1])]
    flat = " ".join(parts)
    numbers = range(outlined.line, outlined.end + 1)
    return ListItem(
        line=outlined.line,
        line_count=outlined.end - outlined.line + 1,
        list_line=outlined.list_line,
        symbol=outlined.symbol,
        text="\n".join(parts),
        status=outlined.task,
        parent=outlined.parent,
        children=[],
        fully_completed=outlined.task is not None and outlined.task in "xX",
        section=section,
        block=outlined.block,
        tags=_item_tags(flat),
        links=[link for number in numbers for link in found.links.get(number, ())],
        fields=_item_fields(flat, outlined.task is not None),
    )


def _item_tags(text: str) -> list[str]:
    if "#" not in text:
        return []
    # The candidate has to be a tag whole: one with a sign inside that no tag may have is none.
    return _distinct(tag for tag in _ITEM_TAG.findall(text) if _WHOLE_TAG.fullmatch(tag))


def _item_fields(text: str, task: bool) -> Fields:
    fields: Fields = {}
    _add(fields, bracketed_fields(text, shorthands=True))
    if not fields and not task and (whole := full_line_field(text)):
        _add(fields, [whole])
    return fields
