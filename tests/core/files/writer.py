"""A process that changes a vault without end and says what it has done; made to be killed."""

from __future__ import annotations

import itertools
import random
import sys
from hashlib import sha256
from pathlib import Path

from knapper.vault.acl import Acl
from knapper.vault.disk import Disk
from knapper.vault.door import Door
from knapper.vault.journal import Journal

GROUP = 6


def stamped(number: int, size: int) -> str:
    """A text whose first line proves that the rest of it is whole."""
    body = f"{number}\n{'x' * size}\n"
    return f"{sha256(body.encode()).hexdigest()}\n{body}"


def main(root: str, cache: str, start: int) -> None:
    disk, journal = Disk(root), Journal(Path(cache), "home")
    journal.recover(disk)
    door = Door("home", "Home", disk, Acl(), journal)
    chance = random.Random(start)
    for number in itertools.count(start):
        step = chance.choice([_write, _append, _group, _group, _swap, _replace])
        step(door, number, chance.choice([10, 3_000, 40_000]))
        sys.stdout.write(f"{step.__name__} {number}\n")
        sys.stdout.flush()


def _write(door: Door, number: int, size: int) -> None:
    door.write("single.md", stamped(number, size))


def _append(door: Door, number: int, size: int) -> None:
    door.edit("log.md", lambda text: f"{text}{number}\n")


def _group(door: Door, number: int, size: int) -> None:
    """Files that must always be of one generation."""
    with door.transaction():
        for index in range(GROUP):
            door.write(f"group/{index}/note.md", stamped(number, size // GROUP))


def _swap(door: Door, number: int, size: int) -> None:
    """Two files change places, and a third says who is where."""
    with door.transaction():
        left = door.read("left.md").text
        door.move("left.md", "between.md")
        door.move("right.md", "left.md")
        door.move("between.md", "right.md")
        door.write("who.md", f"right is {left}")


def _replace(door: Door, number: int, size: int) -> None:
    """A file goes to the trash and a new one takes its place."""
    with door.transaction():
        door.delete("phoenix.md")
        door.write("phoenix.md", stamped(number, size))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
