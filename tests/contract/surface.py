"""Every tool of every installed plugin, a vault with secrets in it, and arguments made from a tool's own types."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import msgspec

from knapper.caller import LOCAL, Caller
from knapper.config.model import Settings
from knapper.dispatch.call import Outcome
from knapper.domain import Tool
from knapper.plugins import Plugins
from knapper.registry import Registry
from knapper.runtime import Runtime
from knapper.touches import Access, accesses
from tests.fixtures_plugin import knapper_fixtures

SECRET = "XSECRET7f3aX"
ALICE = Caller("alice", LOCAL, authenticated=True, session="s-alice")
Paths = Callable[[Access], str]

NOTE = """---
tags: [plant]
aliases: [Fern]
due: 2024-05-01
---
# Ferns

A fern #green with a [[Moss]] and ![[pic.png]].

- [ ] water it 📅 2024-05-02
"""
PRIVATE = f"""---
tags: [{SECRET}tag, plant]
aliases: [{SECRET}alias]
{SECRET}key: {SECRET}value
---
# {SECRET} heading

{SECRET} body #green #{SECRET}inline [[{SECRET}link]] [[Fern note]] with plants and ferns.

- [ ] {SECRET} task 📅 2024-05-02
"""
FILES = {
    "Open/Fern note.md": NOTE,
    "Open/Moss.md": "# Moss\n\nSee [[Fern note]].\n",
    "Open/table.base": "views:\n  - type: table\n    name: All\n",
    "Open/board.canvas": '{"nodes":[{"id":"a","type":"text","text":"hi","x":0,"y":0,"width":1,"height":1}],"edges":[]}',
    "Open/drawing.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n\n## Text Elements\n",
    "Open/pic.png": "\x89PNG not really",
    f"Private/{SECRET}.md": PRIVATE,
    "Private/secret.md": PRIVATE,
    "Private/secret.canvas": f'{{"nodes":[{{"id":"s","type":"text","text":"{SECRET}","x":0,"y":0,"width":1,"height":1}}]}}',
    "Private/secret.base": f"# {SECRET}\nviews:\n  - type: table\n    name: {SECRET}\n",
    "Private/secret.png": SECRET,
    ".obsidian/app.json": "{}",
    ".obsidian/secret.json": f'{{"token":"{SECRET}"}}',
    ".git/config": SECRET,
    ".trash/gone.md": SECRET,
}
KINDS = (("canvas", "board.canvas"), ("base", "table.base"), ("attachment", "pic.png"), ("ocr", "pic.png"))


@cache
def plugins() -> Plugins:
    """All that is installed, and the plugin of the tests, as somebody else's would be."""
    found = Plugins.discover()
    if "fixtures" not in {plugin.name for plugin in found.all}:
        found.add(knapper_fixtures, "fixtures")
    return found


@cache
def registry() -> Registry:
    return Registry(plugins())


def tools() -> dict[str, Tool]:
    return dict(sorted(registry().tools.items()))


class Server:
    """A server with everything installed, over a vault of its own."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder / "home"
        for path, text in FILES.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        (folder / "work").mkdir()
        base: dict[str, Any] = {
            "vaults": [
                {"id": "home", "path": str(self.folder)},
                {"id": "work", "path": str(folder / "work")},
            ],
            "cache_dir": str(folder / "cache"),
            "throttle": {"enabled": False},
            "watch": {"enabled": False},
            "index": {"processes": 1, "vectors": False},
        }
        self.runtime = Runtime(Settings.model_validate({**base, **settings}), plugins())
        for vault in self.runtime.vaults:
            vault.index.reconcile()

    def call(self, tool: str, arguments: dict[str, Any], by: Caller = ALICE, **how: Any) -> Outcome:
        return self.runtime.call(tool, arguments, by, **how)

    def code(self, tool: str, arguments: dict[str, Any], by: Caller = ALICE) -> str:
        outcome = self.call(tool, arguments, by)
        return str(outcome.error["code"]) if outcome.error else "ok"

    def state(self) -> dict[str, str]:
        """Every file of the vault by its path, and what a call could have used up."""
        found = {
            str(path.relative_to(self.folder)): sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }
        with self.runtime.state.read() as conn:
            for table in ("idempotency_keys", "confirmations", "note_snapshots"):
                found[f"rows of {table}"] = str(
                    conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
                )
        return found

    def close(self) -> None:
        self.runtime.close()


def note_for(tool: Tool) -> str:
    """A file of the kind that a tool is about."""
    about = f"{tool.domain.slug} {tool.name}"
    return next((f"Open/{name}" for word, name in KINDS if word in about), "Open/Fern note.md")


def usual_paths(tool: Tool) -> Paths:
    """Existing files to read and delete, and a free name to write."""
    present = note_for(tool)
    extension = present.rpartition(".")[2]

    def path(access: Access) -> str:
        if access.note:
            return "Open/Fern note.md" if access.op != "write" else "Open/Moss.md"
        return present if access.op != "write" else f"Open/new.{extension}"

    return path


def arguments(
    tool: Tool, paths: Paths | None = None, text: str = "fern", whole: bool = False
) -> dict[str, Any]:
    """Arguments of the right types: the required ones and every path, or all of them."""
    chosen = paths or usual_paths(tool)
    return {
        p.wire: example(p.type, chosen, text)
        for p in tool.signature.parameters
        if p.wire not in ("vault", "idempotency_key", "cursor")
        and (whole or p.default is Parameter.empty or _touches(p.type))
    }


def _touches(hint: Any) -> bool:
    return bool(accesses(hint))


def path_places(tool: Tool) -> Iterator[tuple[str, Access]]:
    """Each parameter that holds a path, with what it is for."""
    for p in tool.signature.parameters:
        for access in sorted(accesses(p.type)):
            yield p.wire, access


def example(hint: Any, paths: Paths, text: str, limits: msgspec.Meta | None = None) -> Any:
    """A value of a type, within its limits."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        access = next((mark for mark in args[1:] if isinstance(mark, Access)), None)
        if access is not None:
            return paths(access)
        given = next((m for m in args[1:] if isinstance(m, msgspec.Meta) and _limits(m)), limits)
        return example(args[0], paths, text, given)
    if origin in (Union, types.UnionType):
        return example(next(a for a in args if a is not types.NoneType), paths, text, limits)
    if origin is Literal:
        return args[0]
    if origin in (list, set, frozenset, tuple):
        least = max(1, (limits.min_length or 0) if limits else 0)
        return [example(args[0], paths, text) for _ in range(least)]
    if origin is dict or hint is dict:
        return {"key": example(args[1], paths, text) if args else text}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _record(hint, paths, text)
    return _scalar(hint, text, limits)


def _limits(meta: msgspec.Meta) -> bool:
    return any(
        getattr(meta, name) is not None
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")
    )


def _record(model: type[msgspec.Struct], paths: Paths, text: str) -> dict[str, Any]:
    hints = typing.get_type_hints(model, include_extras=True)
    return {
        field.encode_name: example(hints[field.name], paths, text)
        for field in msgspec.structs.fields(model)
        if field.required or _touches(hints[field.name])
    }


def _scalar(hint: Any, text: str, limits: msgspec.Meta | None) -> Any:
    if hint is bool:
        return False
    if hint in (int, float):
        return hint(limits.ge if limits and limits.ge is not None else 1)
    if hint is str and limits is not None and limits.min_length:
        return text.ljust(limits.min_length, "x")
    return text
