"""Putting one entry into a settings file of another program, byte-exact outside of it, comments and all."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, NamedTuple

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\],:]|[^\s{}\[\],:"/]+|\s+', re.DOTALL)


class Unreadable(ValueError):
    """The file is not what the program itself would read; it is left as it is."""


class Member(NamedTuple):
    """One member of an object: its name, and where its value begins and ends."""

    name: str
    start: int
    end: int


class Found(NamedTuple):
    """An object in a text: its members, and where its braces are."""

    members: dict[str, Member]
    opening: int
    closing: int
    comma: bool  # whether the last member is already followed by one


def put_json(text: str, section: str, name: str, value: dict[str, Any]) -> str:
    """The text with `section.name` set to this value; everything else stays as it is written."""
    if not text.strip():
        return json.dumps({section: {name: value}}, indent=2) + "\n"
    top = _object(text, 0)
    written = json.dumps(value, indent=2)
    inner = top.members.get(section)
    if inner is None:
        body = json.dumps({name: value}, indent=2)
        return _checked(text, _added(text, top, section, body, "  "), section, name, value)
    entries = _object(text, inner.start)
    known = entries.members.get(name)
    if known is None:
        return _checked(text, _added(text, entries, name, written, "    "), section, name, value)
    indented = written.replace("\n", "\n    ")
    return _checked(text, text[: known.start] + indented + text[known.end :], section, name, value)


def read_json(text: str) -> Any:
    """JSON as editors write it: with comments, and commas after the last member."""
    kept = [
        t
        for t in TOKEN.findall(text.removeprefix("\ufeff"))
        if not t.startswith(("//", "/*")) and not t.isspace()
    ]
    plain = [t for n, t in enumerate(kept) if not (t == "," and kept[n + 1 : n + 2] in (["}"], ["]"]))]
    try:
        return json.loads(" ".join(plain))
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from None


def put_toml(text: str, section: str, name: str, value: dict[str, Any]) -> str:
    """The text with the table `section.name` set to this value; everything else stays as it is written."""
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"it is not TOML: {error}") from None
    table = f"[{section}.{name}]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in value.items())
    old = re.compile(rf"^\[{section}\.{name}(\.[^\]]*)?\][^\n]*\n?(?:(?!\[)[^\n]*\n?)*", re.MULTILINE)
    if old.search(text):
        first = True

        def replaced(_: re.Match[str]) -> str:
            nonlocal first
            kept, first = (table + "\n" if first else ""), False
            return kept

        after = old.sub(replaced, text).rstrip("\n") + "\n"
    else:
        after = f"{text.rstrip()}\n\n{table}" if text.strip() else table
    before.setdefault(section, {})[name] = value
    try:
        same = tomllib.loads(after) == before
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise Unreadable("its tables are not written one below the other")
    return after


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _checked(before: str, after: str, section: str, name: str, value: dict[str, Any]) -> str:
    """What was written reads back as what was there, but for the one entry."""
    wanted = read_json(before)
    wanted.setdefault(section, {})[name] = value
    if read_json(after) != wanted:
        raise Unreadable("it is written in a way that cannot be changed safely")
    return after


def _added(text: str, into: Found, name: str, body: str, indent: str) -> str:
    """The text with a member more at the end of an object."""
    member = f"{indent}{json.dumps(name)}: " + body.replace("\n", f"\n{indent}")
    if not into.members:
        return f"{text[: into.opening + 1]}\n{member}\n{indent[2:]}{text[into.closing :]}"
    end = max(m.end for m in into.members.values())
    comma = "" if into.comma else ","
    rest = text[end : into.closing].rstrip(" \t")
    closing = "" if rest.endswith("\n") else "\n"
    return f"{text[:end]}{comma}{rest}{closing}{member}\n{indent[2:]}{text[into.closing :]}"


def _object(text: str, at: int) -> Found:
    """The object that begins at or after a position."""
    tokens = [
        (m.group(), m.start(), m.end())
        for m in TOKEN.finditer(text, at)
        if not m.group().isspace() and not m.group().startswith(("//", "/*", "\ufeff"))
    ]
    if not tokens or tokens[0][0] != "{":
        raise Unreadable("there is no object where one belongs")
    members: dict[str, Member] = {}
    depth, key, start, comma = 0, "", -1, False
    for n, (token, begin, end) in enumerate(tokens):
        if depth == 1 and token == "}":
            return Found(members, tokens[0][1], begin, comma)
        if depth == 1 and token == ",":
            comma = True
        elif depth == 1 and token == ":":
            key, start = str(json.loads(tokens[n - 1][0])), -1
        elif depth == 1 and key and start < 0:
            start, comma = begin, False
            members[key] = Member(key, start, end)
        depth += (token in "{[") - (token in "}]")
        if depth == 1 and token in ("}", "]") and key:
            members[key] = Member(key, start, end)
        if depth == 1 and key and key in members and members[key].end == end:
            key = ""
    raise Unreadable("it ends in the middle of an object")
