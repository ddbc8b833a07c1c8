"""JSON text that is changed in place: what is not touched keeps its spacing, its order and the way it is spelled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

_SPACE = re.compile(r"[ \t\n\r]*")
_INDENT = re.compile(r"\n([ \t]+)")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class _Item(NamedTuple):
    """One member or element as it stands: white space, key and colon, value, white space."""

    lead: str
    key: str | None
    head: str
    value: Any
    body: str
    trail: str


class _Source(NamedTuple):
    """Where a list or an object comes from; it holds on to the value, so that its id is not given away."""

    value: Any
    items: list[_Item]
    inside: str  # the white space of an empty one
    text: str


class Document:
    """A JSON text and its value: change the value in place, and `text()` is the old text but for that.

    `broken` says how many levels stand on lines of their own where the text shows no example.
    """

    def __init__(self, text: str, *, broken: int = 99) -> None:
        self._sources: dict[int, _Source] = {}
        self._given = text
        self._broken = broken
        try:
            start = self._skip(0)
            self.value, end = self._read(start)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        self._whole = _Item(text[:start], None, "", self.value, text[start:end], text[end:])
        if self._whole.trail.strip(" \t\n\r"):
            raise ValueError(f"there is more after the value, at character {end}")
        indent = _INDENT.search(text)
        self._indent = indent[1] if indent else None
        written = [source.items for source in self._sources.values()]
        heads = (item.head for items in reversed(written) for item in items[:1] if item.key is not None)
        self._colon = next(map(_colon, heads), ":")
        spaces = (items[1].lead for items in written if len(items) > 1 and "\n" not in items[1].lead)
        self._comma = "," + next(spaces, "")

    def text(self) -> str:
        """The text of the value as it is now."""
        whole, now = self._whole, self.value
        body = self._kept(whole, now, -1) if _same(whole.value, now) else self._write(now, 0)
        return whole.lead + body + whole.trail

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._given, at)
        return found.end() if found else at

    def _read(self, at: int) -> tuple[Any, int]:
        opening = self._given[at : at + 1]
        if opening == "{":
            return self._read_items(at, {}, "}")
        if opening == "[":
            return self._read_items(at, [], "]")
        value, end = _DECODER.raw_decode(self._given, at)
        return (_whole(value) if isinstance(value, str) else value), end

    def _read_items(self, start: int, made: Any, closing: str) -> tuple[Any, int]:
        items: list[_Item] = []
        at = self._skip(start + 1)
        inside = self._given[start + 1 : at]
        if self._given[at : at + 1] != closing:
            at, more = start + 1, True
            while more:
                item, at = self._read_item(at, closing == "}")
                items.append(item)
                more = self._given[at : at + 1] == ","
                at += more
            if self._given[at : at + 1] != closing:
                raise ValueError(f"{closing!r} or ',' is missing at character {at}")
        if closing == "}":
            made.update((item.key, item.value) for item in items)
        else:
            made.extend(item.value for item in items)
        self._sources[id(made)] = _Source(made, items, inside, self._given[start : at + 1])
        return made, at + 1

    def _read_item(self, at: int, named: bool) -> tuple[_Item, int]:
        start = body = self._skip(at)
        key = None
        if named:
            if self._given[start : start + 1] != '"':
                raise ValueError(f"a name is missing at character {start}")
            key, end = self._read(start)
            colon = self._skip(end)
            if self._given[colon : colon + 1] != ":":
                raise ValueError(f"':' is missing at character {colon}")
            body = self._skip(colon + 1)
        value, end = self._read(body)
        after = self._skip(end)
        text = self._given
        return _Item(text[at:start], key, text[start:body], value, text[body:end], text[end:after]), after

    def _write(self, value: Any, depth: int, like: _Source | None = None) -> str:
        source = self._sources.get(id(value))
        if source is None:
            lines = self._on_lines(depth) if like is None else "\n" in like.text
            return self._fresh(value, depth, lines, like is not None)
        written = list(
            self._members(source, depth) if isinstance(value, dict) else self._elements(source, depth)
        )
        opening, closing = source.text[0], source.text[-1]
        if not written:
            return opening + (source.inside if not source.items else "") + closing
        if not source.items:
            return self._wrapped(
                opening, [body for _, body in written], closing, depth, self._on_lines(depth)
            )
        return opening + "".join(self._joined(source, written)) + closing

    def _members(self, source: _Source, depth: int) -> Iterator[tuple[_Item | None, str]]:
        value, last = source.value, {item.key: item for item in source.items}
        for item in source.items:
            if item.key not in value:
                continue
            now = value[item.key]
            if last[item.key] is not item:  # the same name stands again further on, and that one counts
                yield item, item.head + item.body
                continue
            same = _same(now, item.value)
            yield item, item.head + (self._kept(item, now, depth) if same else self._write(now, depth + 1))
        colon = next((_colon(item.head) for item in source.items), self._colon)
        for key, new in value.items():
            if key not in last:
                yield None, json.dumps(key, ensure_ascii=False) + colon + self._write(new, depth + 1)

    def _elements(self, source: _Source, depth: int) -> Iterator[tuple[_Item | None, str]]:
        known = {id(item.value): item for item in source.items if isinstance(item.value, (dict, list))}
        example = next((self._sources[one] for one in known if self._sources[one].items), None)
        for place, now in enumerate(source.value):
            item = known.get(id(now))
            if item is None and place < len(source.items) and _same(source.items[place].value, now):
                item = source.items[place]
            kept = self._kept(item, now, depth) if item else self._write(now, depth + 1, example)
            yield item, kept

    def _kept(self, item: _Item, now: Any, depth: int) -> str:
        return self._write(now, depth + 1) if id(now) in self._sources else item.body

    def _joined(self, source: _Source, written: list[tuple[_Item | None, str]]) -> Iterator[str]:
        first, last = source.items[0], source.items[-1]
        lone = first.lead if "\n" in first.lead else self._comma[1:]
        between = source.items[1].lead if len(source.items) > 1 else lone
        for place, (item, body) in enumerate(written):
            own = item.lead if item is not None and item is not first else between
            lead = first.lead if place == 0 else own
            end = place == len(written) - 1
            trail = last.trail if end else item.trail if item is not None and item is not last else ""
            yield lead + body + trail + ("" if end else ",")

    def _on_lines(self, depth: int) -> bool:
        return self._indent is not None and depth < self._broken

    def _fresh(self, value: Any, depth: int, lines: bool, sampled: bool = False) -> str:
        """A new value in the style of the document."""
        if not isinstance(value, (dict, list)) or not value:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)

        def inner(child: Any) -> str:
            return self._fresh(child, depth + 1, lines if sampled else self._on_lines(depth + 1), sampled)

        if isinstance(value, list):
            return self._wrapped("[", map(inner, value), "]", depth, lines)
        names = (json.dumps(key, ensure_ascii=False) + self._colon for key in value)
        members = (name + inner(child) for name, child in zip(names, value.values(), strict=True))
        return self._wrapped("{", members, "}", depth, lines)

    def _wrapped(self, opening: str, parts: Iterable[str], closing: str, depth: int, lines: bool) -> str:
        if not lines or self._indent is None:
            return opening + self._comma.join(parts) + closing
        line = "\n" + self._indent * (depth + 1)
        return opening + line + f",{line}".join(parts) + "\n" + self._indent * depth + closing


def _whole(text: str) -> str:
    """The text with a mark for each half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _colon(head: str) -> str:
    return head[head.rindex('"') + 1 :]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; True is not 1, and 1 is not 1.0."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
