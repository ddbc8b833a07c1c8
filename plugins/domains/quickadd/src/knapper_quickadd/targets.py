"""Targets: which note a choice writes to, as far as that can be told without a person."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from knapper import Page, ToolError
from knapper.vault import paths
from knapper_quickadd.choices import flag, part, texts
from knapper_quickadd.formats import Formats
from knapper_quickadd.inputs import one_of
from knapper_quickadd.sources import EXTENSION, with_extension

MOST_NUMBERS = 10_000
_NUMBERED = re.compile(r"(.*?)([0-9]{0,15})")


def folder_of(formats: Formats, choice: dict[str, Any]) -> str:
    """The folder of a template choice's new note."""
    rules = part(choice, "folder")
    if not flag(rules, "enabled"):
        return default_folder(formats)
    if flag(rules, "createInSameFolderAsActiveFile"):
        return paths.parent(formats.need_active("the note that is open, whose folder is used"))
    listed = [formats.fill(folder).strip("/") for folder in texts(rules, "folders")]
    anywhere = flag(rules, "chooseWhenCreatingNote")
    below = flag(rules, "chooseFromSubfolders")
    if len(listed) == 1 and not (anywhere or below):
        return listed[0]
    options = _folders(formats, [] if anywhere else listed, below or anywhere)
    given = formats.inputs.text("folder")
    if given is None:
        return formats.inputs.need("folder", "the folder of the new note", options)
    return one_of(given.strip("/"), options, "folder")


def default_folder(formats: Formats) -> str:
    """Where Obsidian is set to put new notes."""
    app = formats.ctx.vault.settings("app")
    if app.get("newFileLocation") == "folder" and isinstance(app.get("newFileFolderPath"), str):
        return str(app["newFileFolderPath"]).strip("/")
    if app.get("newFileLocation") == "current" and formats.active is not None:
        return paths.parent(formats.active)
    return ""


def _folders(formats: Formats, listed: list[str], below: bool) -> list[str]:
    if not below:
        return listed
    roots = listed or [""]
    index = formats.ctx.index
    return list(dict.fromkeys(one for root in roots for one in (root, *index.folders(root))))


def capture_target(formats: Formats, wanted: str) -> str:
    """The note that a capture goes to: a path, or one the caller picks in a folder or among those with a tag."""
    name = wanted.strip().lstrip("/")
    if name.startswith("#"):
        return _picked(formats, _tagged(formats, name), f"a note tagged {name}")
    folder = name.rstrip("/")
    if not folder or name.endswith("/") or (not EXTENSION.search(name) and _is_folder(formats, folder)):
        return _picked_in(formats, folder)
    return paths.canonical(with_extension(name))


def _is_folder(formats: Formats, path: str) -> bool:
    return formats.ctx.vault.exists(path) == "folder" and formats.ctx.vault.exists(f"{path}.md") is None


def _tagged(formats: Formats, tag: str) -> list[str]:
    rows, _, _ = formats.ctx.index.notes_by_tag(Page(limit=1000), [tag])
    return [path for path, _, _ in rows]


def _picked(formats: Formats, options: list[str], about: str) -> str:
    given = formats.inputs.text("capture_to")
    if given is None:
        return formats.inputs.need("capture_to", about, options, placeholder="x.md")
    return one_of(with_extension(given.strip("/")), options, "capture_to")


def _picked_in(formats: Formats, folder: str) -> str:
    """A note in a folder, which may be a new one."""
    given = formats.inputs.text("capture_to")
    if given is None:
        there = formats.ctx.vault.exists(folder) == "folder"
        notes = formats.ctx.vault.walk(folder, extensions=[".md"]) if there else ()
        about = f"a note in {folder or 'the vault'}"
        return formats.inputs.need(
            "capture_to", about, [e.path for e in islice(notes, 100)], placeholder="x.md"
        )
    path = paths.canonical(with_extension(given))
    if not folder or path.startswith(f"{folder}/"):
        return path
    if "/" not in path:
        return paths.join(folder, path)
    raise ToolError("invalid_input", f"{path!r} is not in {folder!r}", field="args")


def incremented(path: str, taken: Callable[[str], bool]) -> str:
    """The first free path with a higher number at the end of its name: `a.md`, `a1.md`; `b07.md`, `b08.md`."""
    stem, dot, extension = path.rpartition(".")
    found = _NUMBERED.fullmatch(paths.name(stem))
    assert found is not None
    name, digits = found[1], found[2]
    for step in range(1, MOST_NUMBERS):
        number = str(int(digits or 0) + step).zfill(len(digits))
        candidate = paths.join(paths.parent(path), f"{name}{number}{dot}{extension}")
        if not taken(candidate):
            return candidate
    raise ToolError("note_exists", f"every number of {path!r} is taken", path=path)
