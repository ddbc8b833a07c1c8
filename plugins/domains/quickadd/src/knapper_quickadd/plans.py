"""Plans: what a choice is going to write; made whole before anything is written, then done at once or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from knapper import Context

Change = Callable[[str], str]


class Outcome(NamedTuple):
    """The notes that were created, and those that were changed."""

    created: list[str]
    modified: list[str]


class Plan:
    """Notes to create, to replace and to edit."""

    def __init__(self) -> None:
        self._new: dict[str, str] = {}
        self._replaced: dict[str, tuple[str, str]] = {}
        self._edits: list[tuple[str, Change]] = []

    def create(self, path: str, text: str) -> None:
        """Make a note."""
        self._new[path] = text

    def replace(self, path: str, text: str, prev_hash: str) -> None:
        """Give a note another text, as long as it has the content that was seen."""
        self._replaced[path] = text, prev_hash

    def edit(self, path: str, change: Change) -> None:
        """Change a note's text, after what is created."""
        self._edits.append((path, change))

    def check(self, ctx: Context) -> None:
        """Raise what would fail, and change nothing."""
        for path in (*self._new, *self._replaced, *(path for path, _ in self._edits)):
            ctx.vault.authorise("write", path)
        for path, change in self._edits:
            change(self._new[path] if path in self._new else ctx.vault.read(path).text)

    def apply(self, ctx: Context) -> Outcome:
        """Do it all in one step."""
        created: list[str] = []
        modified: list[str] = []
        with ctx.vault.transaction():
            for path, text in self._new.items():
                created.append(ctx.vault.write(path, text, mode="create").path)
            for path, (text, prev_hash) in self._replaced.items():
                done = ctx.vault.write(path, text, mode="overwrite", prev_hash=prev_hash)
                modified += [done.path] * (done.hash != done.prev_hash)
            for path, change in self._edits:
                done = ctx.vault.edit(path, change)
                if done.hash != done.prev_hash and done.path not in (*created, *modified):
                    modified.append(done.path)
        return Outcome(created, modified)
