"""What an edit is aimed at, and what comes of it."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias

Operation: TypeAlias = Literal["replace", "append", "prepend"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part of a note: a heading's section by name or path (`A::B`), a block by id, a line from 1, the frontmatter."""

    type: Literal["heading", "block", "frontmatter", "line"]
    heading: str = ""
    block_id: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed text: which anchor was used, spelled in full, and how many lines with text the edit dropped."""

    text: str
    anchor: str
    dropped: int = 0


def dropped_lines(old: str, new: str) -> int:
    """How many lines with text are gone."""
    gone = Counter(old.splitlines()) - Counter(new.splitlines())
    return sum(count for line, count in gone.items() if line.strip())
