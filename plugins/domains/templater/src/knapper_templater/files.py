"""Files: `tp.file`, the target of a template and what a template may learn of other files."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from knapper import ToolError
from knapper.script.errors import ScriptFailed, ScriptRefused
from knapper.script.scope import Scope
from knapper.script.texts import argument
from knapper.script.values import UNDEFINED, Value, nullish, to_text
from knapper.vault import moment, paths
from knapper.vault.markdown import Parsed, parse
from knapper_templater.modules import FileValue, Function, Module, flag, text_or
from knapper_templater.sections import section

if TYPE_CHECKING:
    from knapper_templater.render import Run

STAMP = "YYYY-MM-DD HH:mm"
# Stands where a cursor will be; taken out of the finished text.
CURSOR = re.compile("\U0010fff4([0-9]{0,4})\U0010fff5")
_LINK = re.compile(r"!?\[\[([^\]|#]*)(#[^\]|]*)?(?:\|[^\]]*)?\]\]")


class Target(NamedTuple):
    """The note that a template fills: what is there before, and since when."""

    path: str
    text: str
    created: datetime
    modified: datetime

    @property
    def title(self) -> str:
        """Its name without the extension."""
        return paths.name(self.path).rpartition(".")[0]


class Files(Module):
    """`tp.file`."""

    name = "tp.file"

    def __init__(self, run: Run, target: Target) -> None:
        self._run = run
        self._target = target
        values = {
            "title": lambda: target.title,
            "content": lambda: target.text,
            "tags": lambda: list(self.parsed.all_tags),
        }
        super().__init__(values, {**self._reading(), **self._changing()})

    @cached_property
    def parsed(self) -> Parsed:
        """What the target held before."""
        return parse(self._target.text)

    def _reading(self) -> dict[str, Function]:
        return {
            "creation_date": lambda given, scope: _stamp(self._target.created, given, scope),
            "last_modified_date": lambda given, scope: _stamp(self._target.modified, given, scope),
            "folder": self._folder,
            "path": self._path,
            "exists": self._exists,
            "find_tfile": self._find,
            "include": self._include,
            "selection": lambda given, scope: "",
            "cursor": _cursor,
            "cursor_append": lambda given, scope: text_or(given, 0, ""),
        }

    def _changing(self) -> dict[str, Function]:
        return {"rename": self._rename, "move": self._move, "create_new": self._create_new}

    def _folder(self, arguments: list[Value], scope: Scope) -> str:
        folder = paths.parent(self._target.path)
        return (folder or "/") if flag(arguments, 0) else paths.name(folder)

    def _path(self, arguments: list[Value], scope: Scope) -> str:
        if not flag(arguments, 0):
            raise ScriptRefused("tp.file.path() without relative = true")
        return self._target.path

    def _exists(self, arguments: list[Value], scope: Scope) -> bool:
        try:
            return self._run.ctx.vault.exists(text_or(arguments, 0, "").lstrip("/")) is not None
        except ToolError as error:
            if error.code != "acl_denied":
                raise
            return False

    def _find(self, arguments: list[Value], scope: Scope) -> FileValue | None:
        found = self._run.ctx.index.resolve(text_or(arguments, 0, ""))
        return None if found is None else FileValue(found)

    def _include(self, arguments: list[Value], scope: Scope) -> str:
        given = argument(arguments, 0)
        if isinstance(given, FileValue):
            return self._run.included(given.path, self._run.ctx.vault.read(given.path).text, self._target)
        link = _LINK.fullmatch(to_text(given).strip())
        if link is None:
            raise ScriptFailed("Invalid file format, provide an obsidian link between quotes.")
        path = self._run.ctx.index.resolve(link[1]) or self._by_path(link[1].strip())
        if path is None or not link[1].strip():
            raise ToolError(
                "note_not_found", f"the template includes {link[0][:200]!r}, which is not there", path=link[1]
            )
        text = self._run.ctx.vault.read(path).text
        part = section(text, link[2]) if link[2] else text
        if part is None:
            raise ScriptFailed(f"{path!r} has no part {link[2]!r}")
        return self._run.included(path, part, self._target)

    def _by_path(self, written: str) -> str | None:
        """The note of a whole path, for links to one that the index has not met yet."""
        try:
            path = written if written.lower().endswith(".md") else f"{written}.md"
            return path if self._run.ctx.vault.exists(path) == "file" else None
        except ToolError:
            return None

    def _rename(self, arguments: list[Value], scope: Scope) -> str:
        self._run.changes.allow("tp.file.rename")
        self._run.changes.rename(text_or(arguments, 0, ""))
        return ""

    def _move(self, arguments: list[Value], scope: Scope) -> str:
        self._run.changes.allow("tp.file.move")
        if not nullish(argument(arguments, 1)):
            raise ScriptRefused("tp.file.move() of another file")
        self._run.changes.move(text_or(arguments, 0, ""))
        return ""

    def _create_new(self, arguments: list[Value], scope: Scope) -> FileValue:
        self._run.changes.allow("tp.file.create_new")
        template, folder = argument(arguments, 0), argument(arguments, 3)
        path = self._run.changes.free(folder, text_or(arguments, 1, ""))
        text = self._run.filled(template, path) if isinstance(template, FileValue) else to_text(template)
        self._run.changes.create(path, "" if template is UNDEFINED else text)
        return FileValue(path)


def _stamp(when: datetime, arguments: list[Value], scope: Scope) -> str:
    return moment.format(when, text_or(arguments, 0, STAMP), week=scope.clock.week)


def _cursor(arguments: list[Value], scope: Scope) -> str:
    number = text_or(arguments, 0, "")
    return (
        f"\U0010fff4{number if number.isdecimal() and number.isascii() and len(number) < 5 else ''}\U0010fff5"
    )
