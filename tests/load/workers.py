"""A worker: one session that reads, writes, moves and searches, and knows what each answer has to be."""

from __future__ import annotations

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from tests.load.clients import Refused, Session
from tests.load.editor import NOTES, in_place, name, written

OWN = 5
LOGS = 4
WORDS = 40
LOG_SECONDS = 30  # then the next one: what a call costs is not to grow with the run
COUNTER = "Shared/counter.md"
MOST_TRIES = 200


class Wrong(AssertionError):
    """An answer that is not what it has to be."""


@dataclass
class Told:
    """What a worker has seen, and what it was promised."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    appended: list[tuple[str, str]] = field(default_factory=list)
    raised: int = 0
    retried: int = 0
    moved: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return sum(map(len, self.seconds.values()))


class Worker:
    """Owns the notes of one folder, and shares logs and a counter with all others."""

    def __init__(self, number: int, session: Session, seed: int = 0) -> None:
        self.number = number
        self.told = Told()
        self._session = session
        self._began = time.monotonic()
        self._chance = random.Random(f"{seed}/{number}")
        self._versions = dict.fromkeys(range(OWN), 0)
        self._places = {note: f"W{number}/w{number}k{note}a.md" for note in range(OWN)}
        self._seen: Counter[int] = Counter()
        self._acts: list[tuple[Callable[[], None], int]] = [
            (self.read, 30),
            (self.read_edited, 15),
            (self.search, 15),
            (self.write, 15),
            (self.append, 10),
            (self.count, 5),
            (self.move, 5),
            (self.names, 5),
        ]

    def begin(self) -> None:
        for note in range(OWN):
            self._call("write_note", path=self._places[note], content=self.text(note))

    def act(self) -> None:
        """One thing of the mixture; what is wrong about it is kept."""
        acts, weights = zip(*self._acts, strict=True)
        try:
            self._chance.choices(acts, weights)[0]()
        except (Wrong, Refused) as problem:
            self.told.wrong.append(f"worker {self.number}: {problem}")

    def expected(self) -> dict[str, str]:
        """The worker's notes as they have to be on the disk."""
        return {self._places[note]: self.text(note) for note in range(OWN)}

    def marks(self) -> dict[str, str]:
        """What each of its notes is found by."""
        return {self._places[note]: self._mark(note) for note in range(OWN)}

    def text(self, note: int) -> str:
        """The first note links to all others, so that their moves rewrite it."""
        links = "".join(f"- [[{PurePosixPath(self._places[n]).stem}]]\n" for n in range(1, OWN))
        return f"# {self._mark(note)}\n\n" + (links if note == 0 else "Some words.\n" * 20)

    def _mark(self, note: int) -> str:
        """What tells this version from those shortly before; people too use the same words again."""
        return f"own{self.number}k{note}v{self._versions[note] % WORDS}e"

    def read(self) -> None:
        note = self._chance.randrange(OWN)
        self._same(self._call("read_note", path=self._places[note])["content"], self.text(note))

    def write(self) -> None:
        """Overwrite what was read, and find the new text and no longer the old one."""
        note = self._chance.randrange(OWN)
        path, old = self._places[note], self._mark(note)
        known = self._call("read_note", path=path)["content_hash"]
        self._versions[note] += 1
        self._call("write_note", path=path, content=self.text(note), mode="overwrite", prev_hash=known)
        self._same(self._found(self._mark(note)), [path])
        self._same(self._found(old), [])

    def search(self) -> None:
        note = self._chance.randrange(OWN)
        self._same(self._found(self._mark(note)), [self._places[note]])

    def move(self) -> None:
        note = self._chance.randrange(1, OWN)
        old = self._places[note]
        new = old.replace("a.md", "b.md") if old.endswith("a.md") else old.replace("b.md", "a.md")
        self._call("move_note", **{"from": old, "to": new})
        self._places[note] = new
        self.told.moved += 1
        self._same(self._call("note_exists", path=old)["exists"], False)
        self._same(self._call("read_note", path=self._places[0])["content"], self.text(0))
        self._same(self._found(self._mark(note)), [new])

    def names(self) -> None:
        found = self._call("list_notes", root=f"W{self.number}")["items"]
        self._same(sorted(item["path"] for item in found), sorted(self._places.values()))

    def append(self) -> None:
        turn = int(time.monotonic() - self._began) // LOG_SECONDS
        log = f"Shared/log{self._chance.randrange(LOGS)}-{turn}.md"
        line = f"w{self.number}-{len(self.told.appended)}"
        self._call("append_note", path=log, content=line, create_if_missing=True)
        self.told.appended.append((log, line))

    def count(self) -> None:
        """Raise the counter that all share by one: read it, and write it if nobody was faster."""
        for _ in range(MOST_TRIES):
            read = self._call("read_note", path=COUNTER)
            value = f"count {int(read['content'].split()[1]) + 1}\n"
            try:
                self._call(
                    "write_note",
                    path=COUNTER,
                    content=value,
                    mode="overwrite",
                    prev_hash=read["content_hash"],
                )
            except Refused as refused:
                if refused.code != "concurrent_modification":
                    raise
                self.told.retried += 1
            else:
                self.told.raised += 1
                return
        raise Wrong(f"the counter could not be raised in {MOST_TRIES} tries")

    def read_edited(self) -> None:
        """A whole version that is no older than one seen before; while it is written in place also a part of it."""
        note = self._chance.randrange(NOTES)
        text = self._call("read_note", path=f"Obsidian/{name(note)}")["content"]
        mark = re.match(rf"# edit {note} version (\d+) end\n", text)
        if mark is None:
            first = f"# edit {note} version "
            part = "\n" not in text and (first.startswith(text) or text.startswith(first))
            if not (in_place(note) and part):
                raise Wrong(f"{name(note)} is none of its versions: {text[:40]!r}")
            return
        version = int(mark[1])
        whole = written(note, version)
        if text != whole and not (in_place(note) and whole.startswith(text)):
            raise Wrong(f"{name(note)} is not version {version}: {len(text)} of {len(whole)} characters")
        if version < self._seen[note]:
            raise Wrong(f"{name(note)} went back from {self._seen[note]} to {version}")
        self._seen[note] = version

    def _found(self, mark: str) -> list[str]:
        return [item["path"] for item in self._call("search_text", query=mark)["items"]]

    def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        began = time.perf_counter()
        try:
            return self._session.call(tool, **arguments)
        finally:
            self.told.seconds[tool].append(time.perf_counter() - began)

    def _same(self, got: object, wanted: object) -> None:
        if got != wanted:
            raise Wrong(f"got {got!r:.200} and not {wanted!r:.200}")
