"""Another program at work in the vault: `python editor.py FOLDER SEED PAUSE`, until its standard input ends.

Obsidian writes a note in place; sync programs and most editors write a temporary file and rename it over the note. Some
notes are renamed back and forth. At the end the last version of each note goes to standard output.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from pathlib import Path

NOTES = 8


def name(note: int) -> str:
    return f"E{note}.md"


def mark(note: int, version: int) -> str:
    return f"edit {note} version {version} end"


def written(note: int, version: int) -> str:
    """A version of a note, which says throughout which one it is."""
    said = mark(note, version)
    return f"# {said}\n\n" + f"{said} and some more words.\n" * (20 + version % 7) + f"that was {said}\n"


def in_place(note: int) -> bool:
    return note % 2 == 1


def edit(folder: Path, note: int, version: int) -> None:
    file, text = folder / name(note), written(note, version)
    if in_place(note):
        file.write_text(text, newline="")
    else:
        fresh = folder / f".{file.name}.tmp"
        fresh.write_text(text, newline="")
        fresh.replace(file)


def rename(folder: Path) -> None:
    """A note that goes back and forth between two names."""
    here, there = folder / "Here.md", folder / "There.md"
    if here.exists():
        here.replace(there)
    elif there.exists():
        there.replace(here)
    else:
        here.write_text("Now here, now there.\n", newline="")


def until_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def main() -> None:
    folder, chance, pause = Path(sys.argv[1]), random.Random(sys.argv[2]), float(sys.argv[3])
    versions, edits = dict.fromkeys(range(NOTES), 1), 0
    over = threading.Event()
    threading.Thread(target=until_end, args=(over,), daemon=True).start()
    while not edits or not over.wait(pause):
        if chance.random() < 0.1:
            rename(folder)
        note = chance.randrange(NOTES)
        versions[note] += 1
        edit(folder, note, versions[note])
        edits += 1
    sys.stdout.write(json.dumps({"versions": versions, "edits": edits}))


if __name__ == "__main__":
    main()
