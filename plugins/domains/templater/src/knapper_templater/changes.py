"""Changes: what a template does to files beside filling its note; it all happens at the end, at once or not at all."""

from __future__ import annotations

from knapper import Context, ToolError
from knapper.script.errors import BudgetExceeded, ScriptFailed, ScriptRefused
from knapper.script.values import Host, Value, nullish, to_text
from knapper.vault import paths
from knapper.vault.moves import move_files
from knapper.vault.refusals import changed

MOST_NOTES = 100
UNTITLED = "Untitled"


class Changes:
    """Where the note goes in the end, and which notes are made beside it."""

    def __init__(self, ctx: Context, target: str, allowed: bool) -> None:
        self._ctx = ctx
        self._target = target
        self._allowed = allowed
        self.place = target
        self.created: dict[str, str] = {}

    def allow(self, name: str) -> None:
        """Refuse what the operator has not permitted."""
        if not self._allowed:
            message = f"{name}() changes files beside the target; the setting templater.allow_file_changes permits it"
            raise ToolError("forbidden", message, construct=f"{name}()")

    def rename(self, title: str) -> None:
        """Give the note another name in its folder."""
        if any(sign in title for sign in "\\/:"):
            raise ScriptFailed("File name cannot contain any of these characters: \\ / :")
        self.move(paths.join(paths.parent(self.place), title))

    def move(self, place: str) -> None:
        """Give the note another place, a path without its extension."""
        self.place = self._writable(place)

    def free(self, folder: Value, name: str) -> str:
        """A path for a new note, numbered where the name is taken."""
        leaf = name or UNTITLED
        stem = paths.join(_folder(folder, paths.parent(self.place)), leaf)
        for number in range(MOST_NOTES * 10):
            path = self._writable(f"{stem} {number}" if number else stem)
            if path not in (self.place, *self.created) and self._ctx.vault.exists(path) is None:
                return path
        raise ScriptFailed(f"too many notes are named {leaf[:100]!r}")

    def create(self, path: str, text: str) -> None:
        """Make a note beside the target."""
        if len(self.created) >= MOST_NOTES:
            raise BudgetExceeded("it creates too many notes")
        self.created[path] = text

    def _writable(self, place: str) -> str:
        return self._ctx.vault.authorise("write", paths.canonical(f"{place.lstrip('/')}.md"))

    def apply(self, text: str, prev_hash: str | None) -> tuple[str, str, str]:
        """Make all changes at once; the note's path, hash and time."""
        vault = self._ctx.vault
        with vault.transaction():
            if prev_hash is not None and self.place != self._target:
                prev_hash = self._moved(prev_hash)
            done = vault.write(
                self.place, text, mode="create" if prev_hash is None else "overwrite", prev_hash=prev_hash
            )
            for path, content in self.created.items():
                vault.write(path, content, mode="create")
        return done.path, done.hash, done.at

    def _moved(self, prev_hash: str) -> str:
        """Take a note that is there already to its new place, and every link to it along."""
        actual = self._ctx.vault.read(self._target).hash
        if actual != prev_hash:
            raise changed(self._target, prev_hash, actual)
        move_files(self._ctx.vault, self._ctx.index, {self._target: self.place})
        return self._ctx.vault.read(self.place).hash


def _folder(value: Value, default: str) -> str:
    """A folder that is given as a path or as an object that has one."""
    if nullish(value):
        return default
    if isinstance(value, Host):
        value = value.member("path")
    if not isinstance(value, str):
        raise ScriptRefused(f"the folder {to_text(value)[:40]}")
    return value.strip("/")
