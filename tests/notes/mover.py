"""A process that moves a note to and fro without end and says how often it has; made to be killed."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from knapper.testing import Calls
from knapper_notes import notes


def main(folder: str, cache: str) -> None:
    call = Calls(Path(folder), Path(cache))
    there = (Path(folder) / "Left Name.md").exists()
    for number in itertools.count():
        names = ("Left Name.md", "Right Name.md")
        source, target = names if there else names[::-1]
        call(notes, "move_note", from_=source, to=target)
        there = not there
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
