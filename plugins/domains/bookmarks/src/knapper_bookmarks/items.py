"""The items of Obsidian's bookmarks file: groups within groups, and what is bookmarked in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from knapper import ToolError

Json = dict[str, Any]
WEB = re.compile(r"https?://\S+")
FIELDS = {"file": "path", "folder": "path", "search": "query", "url": "url", "graph": "title"}


class Found(NamedTuple):
    """One bookmark, and the list it stands in."""

    id: str
    type: str
    target: str
    group: str | None
    item: Json
    among: list[Json]

    @property
    def title(self) -> str:
        """The name Obsidian shows."""
        own = self.item.get("title")
        if isinstance(own, str) and own:
            return own
        if self.type in ("file", "folder", "heading", "block"):
            path, mark, subpath = self.target.partition("#")
            return path.rpartition("/")[2].removesuffix(".md") + mark + subpath
        return self.target

    @property
    def path(self) -> str | None:
        """The vault path it leads to, where it leads to one."""
        path = self.item.get("path")
        return path if isinstance(path, str) and self.item.get("type") in ("file", "folder") else None

    @property
    def created_at(self) -> str | None:
        ctime = self.item.get("ctime")
        if not isinstance(ctime, (int, float)):
            return None
        try:
            return datetime.fromtimestamp(ctime / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        except (OverflowError, OSError, ValueError):
            return None


def flat(items: list[Json]) -> Iterator[Found]:
    """Every bookmark in the order Obsidian shows them.

    Its id comes from type, target and groups, and from how often the same stood before it, so that it stays while others
    come and go.
    """
    seen: Counter[str] = Counter()
    for item, groups, among in _walk(items, ()):
        kind, target = described(item)
        facts = json.dumps([kind, target, *groups])
        own = sha256(f"{facts}{seen[facts] or ''}".encode()).hexdigest()[:16]
        seen[facts] += 1
        yield Found(own, kind, target, "/".join(groups) or None, item, among)


def _walk(items: list[Json], groups: tuple[str, ...]) -> Iterator[tuple[Json, tuple[str, ...], list[Json]]]:
    for item in items:
        inside = _inside(item)
        if inside is not None:
            yield from _walk(inside, (*groups, str(item.get("title", ""))))
        else:
            yield item, groups, items


def _inside(item: Json) -> list[Json] | None:
    return item["items"] if item.get("type") == "group" and isinstance(item.get("items"), list) else None


def described(item: Json) -> tuple[str, str]:
    """The type and the target of an item; of one that is foreign, whatever it has of a target."""
    kind = str(item.get("type", ""))
    names = (FIELDS[kind],) if kind in FIELDS else ("path", "url", "query", "title")
    target = next((item[name] for name in names if isinstance(item.get(name), str)), "")
    subpath = item.get("subpath")
    if kind == "file" and isinstance(subpath, str) and subpath:
        kind = "block" if subpath.startswith("#^") else "heading"
        target += subpath
    return kind, target


def made(kind: str, target: str, title: str | None, ctime: int) -> Json:
    """A new item, as Obsidian writes it; invalid_input where the target does not fit the type."""
    item: Json = {"type": "file" if kind in ("heading", "block") else kind, "ctime": ctime}
    if kind in ("heading", "block"):
        path, mark, rest = target.partition("#")
        if not path or not rest or rest.startswith("^") != (kind == "block") or rest == "^":
            example = "note.md#^block" if kind == "block" else "note.md#Heading"
            raise ToolError("invalid_input", f"the target of a {kind} is like {example!r}", target=target)
        item |= {"path": path, "subpath": mark + rest}
    elif kind == "url" and not WEB.fullmatch(target):
        raise ToolError("invalid_input", f"{target!r} is not a web address", target=target)
    elif kind == "graph":
        item["options"] = {}
        title = title or target
    else:
        item[FIELDS[kind]] = target
    if title:
        item["title"] = title
    return item


def group_at(items: list[Json], wanted: str, ctime: int) -> list[Json]:
    """The items of a group such as `Work/Next`; what is missing of it is made."""
    found = _group(items, wanted)
    if found is not None:
        return found
    parent, _, name = wanted.rpartition("/")
    among = group_at(items, parent, ctime) if parent else items
    inside: list[Json] = []
    among.append({"type": "group", "ctime": ctime, "items": inside, "title": name})
    return inside


def _group(items: list[Json], wanted: str) -> list[Json] | None:
    for item in items:
        inside, title = _inside(item), str(item.get("title", ""))
        if inside is None:
            continue
        if title == wanted:
            return inside
        if (
            wanted.startswith(f"{title}/")
            and (deeper := _group(inside, wanted[len(title) + 1 :])) is not None
        ):
            return deeper
    return None
