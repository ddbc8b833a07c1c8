"""Extractors for tests, where worker processes can import them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from knapper.domain import Extractor
from knapper.index.rows import Note


class Shout(msgspec.Struct):
    """A word in capitals, with where it stands."""

    indexed: ClassVar[tuple[str, ...]] = ("word",)
    word: str
    line: int
    letters: list[str]
    loud: bool
    share: float | None = None


def find_shouts(note: Note) -> Iterator[Shout]:
    for number, line in enumerate(note.text.split("\n")):
        for word in line.split():
            if word.isupper() and len(word) > 1:
                yield Shout(word, number, list(word), word.endswith("!"), None if "É" in word else 0.5)


def fail_on_some(note: Note) -> Iterator[Shout]:
    if "poison" in note.text:
        raise RuntimeError("this note is more than the plugin can take")
    yield Shout("FINE", 0, [], False)


shouts = Extractor("test_shouts", Shout, find_shouts, 1)
brittle = Extractor("test_brittle", Shout, fail_on_some, 1)
