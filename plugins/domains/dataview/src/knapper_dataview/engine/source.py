"""What the engine needs to know of a vault; an index answers it, and may do so without reading notes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from knapper_dataview.engine.pages import Page


class Source(Protocol):
    """A vault as queries see it. Paths are relative to the vault; only notes are pages."""

    def all_paths(self) -> Iterable[str]:
        """Every note, in the order of paths."""

    def tagged(self, tag: str) -> Iterable[str]:
        """Notes with this tag or one below it, in any case."""

    def in_folder(self, folder: str) -> Iterable[str] | None:
        """Notes of a folder and the folders in it; None where there is no such folder."""

    def linking_to(self, path: str) -> Iterable[str]:
        """Notes with a link that resolves to this file."""

    def linked_from(self, path: str) -> Iterable[str]:
        """Files that this note's links resolve to."""

    def mentioning(self, target: str) -> Iterable[str]:
        """Notes with an unresolved link written like this."""

    def resolve(self, linkpath: str, source_path: str) -> str | None:
        """The file a link means when it stands in a note; the empty link means the note."""

    def pages(self, paths: Iterable[str]) -> Iterable[Page]:
        """These notes in this order, leaving out paths that are none."""

    def exists(self, path: str) -> bool:
        """Whether there is a file of any kind at this path."""

    def text(self, path: str) -> str | None:
        """The text of a file that is not a note, such as a CSV table."""

    def starred(self, path: str) -> bool:
        """Whether a note is bookmarked."""
