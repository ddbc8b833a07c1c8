"""A transaction before it is decided: what each path would hold, over what the disk holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from knapper.vault import paths, trash
from knapper.vault.disk import Disk
from knapper.vault.files import Before, Entry, File, Kind, Stat, Version, digest
from knapper.vault.record import Move, Put, Record, Removal
from knapper.vault.refusals import changed, unusable


@dataclass(frozen=True)
class Slot:
    """What a path would hold: a file of the disk (its origin), new content, or that file with new content."""

    origin: str | None
    hash: str
    data: bytes | None = None


class Staging:
    """The staged state of a vault; nothing here touches the disk but to read it."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._slots: dict[str, Slot | None] = {}
        self._bases: dict[str, Version | None] = {}
        self._spellings: dict[str, str] = {}

    def locate(self, path: str) -> str:
        """As the disk does, and a file that only exists here keeps the spelling it was staged under."""
        found = self._disk.locate(path)
        return self._spellings.get(self._key(found), found)

    def _key(self, path: str) -> str:
        return paths.folded(path) if self._disk.folds_case else paths.nfc(path)

    def slot(self, path: str) -> Slot | None:
        if path in self._slots:
            return self._slots[path]
        base = self._base(path)
        return None if base is None else Slot(path, base.hash)

    def _base(self, path: str) -> Version | None:
        if path not in self._bases:
            self._bases[path] = self._disk.version(path)
        return self._bases[path]

    def kind(self, path: str) -> Kind | None:
        if path in self._slots:
            return "file" if self._slots[path] else None
        if any(slot and name.startswith(f"{path}/") for name, slot in self._slots.items()):
            return "folder"
        found = self._disk.stat(path)
        return found.kind if found else None

    def read(self, path: str) -> File | None:
        """The staged content; a later change of this path is based on what was read here."""
        if path not in self._slots and path not in self._bases:
            return self._read_base(path)
        slot = self.slot(path)
        if slot is None:
            return None
        if slot.data is not None:
            return File(path, slot.data, Stat("file", len(slot.data), 0, 0, 0))
        original = self._disk.read(slot.origin or path)
        return File(path, original.data, original.stat)

    def _read_base(self, path: str) -> File | None:
        if self._disk.stat(path) is None:
            self._bases[path] = None
            return None
        file = self._disk.read(path)
        self._bases[path] = file.version
        return file

    def write(self, path: str, data: bytes) -> None:
        self._check_place(path)
        slot = self.slot(path)
        self._set(path, Slot(slot.origin if slot else None, digest(data), data))

    def move(self, source: str, target: str) -> None:
        self._check_place(target)
        slot = self.slot(source)
        self.slot(target)
        self._set(source, None)
        self._set(target, slot)

    def remove(self, path: str) -> None:
        self.slot(path)
        self._set(path, None)

    def discard(self, path: str) -> str | None:
        """Stage the file on the disk into the trash; one that only existed here just goes."""
        slot = self.slot(path)
        self._set(path, None)
        if slot is None or slot.origin is None:
            return None
        place = trash.place(path, lambda name: self._slots.get(name) is not None or self._disk.taken(name))
        self._bases[place] = None
        original = self._bases[slot.origin]
        self._set(place, Slot(slot.origin, original.hash if original else slot.hash))
        return place

    def _set(self, path: str, slot: Slot | None) -> None:
        self._slots[path] = slot
        if slot is None:
            self._spellings.pop(self._key(path), None)
        else:
            self._spellings[self._key(path)] = path

    def _check_place(self, path: str) -> None:
        self._disk.check_place(path)
        if any(self._slots.get(folder) for folder in _ancestors(path)):
            raise unusable(path, "a part of it is a file")
        if any(slot and name.startswith(f"{path}/") for name, slot in self._slots.items()):
            raise unusable(path, "it is a folder")

    def entries(self, folder: str) -> Iterator[Entry]:
        """The walk of a folder as it would be."""
        found = {entry.path: entry for entry in self._disk.walk(folder)} if self._disk.stat(folder) else {}
        for path, slot in self._slots.items():
            found.pop(path, None)
            if slot is not None and not paths.hidden(path) and (not folder or path.startswith(f"{folder}/")):
                found[path] = Entry(path, *self._stat(slot))
                for above in _ancestors(path):
                    if len(above) > len(folder):
                        found.setdefault(above, Entry(above, "folder", 0, 0, 0, 0))
        yield from sorted(found.values(), key=lambda entry: entry.path + "/" * (entry.kind == "folder"))

    def _stat(self, slot: Slot) -> Stat:
        base = self._bases[slot.origin] if slot.origin else None
        if slot.data is not None:
            return Stat("file", len(slot.data), base.stat.mtime_ns if base else 0, 0, 0)
        return base.stat if base else Stat("file", 0, 0, 0, 0)

    def verify(self) -> None:
        """Raise concurrent_modification where a path is no longer what its change is based on."""
        for path in self._slots:
            base, found = self._bases[path], self._disk.version(path)
            if (base and base.hash) != (found and found.hash):
                raise changed(path, base and base.hash, found and found.hash)

    def record(self, at: str) -> Record:
        """The least that leads from the disk to the staged state."""
        going = {
            slot.origin: path
            for path, slot in self._slots.items()
            if slot is not None and slot.origin is not None and slot.origin != path
        }
        return Record(
            self._disk.root,
            at,
            moves=[self._move(source, target, going) for source, target in going.items()],
            removals=[Removal(path, base.hash) for path, base in self._vanishing(going)],
            puts=[
                Put(path, slot.data, slot.hash, base)
                for path, slot in self._slots.items()
                if slot is not None and slot.data is not None
                if (base := self._put_base(path, slot, going)) != slot.hash
            ],
        )

    def _vanishing(self, going: dict[str, str]) -> Iterator[tuple[str, Version]]:
        for path, slot in self._slots.items():
            base = self._bases[path]
            if slot is None and base is not None and path not in going:
                yield path, base

    def _move(self, source: str, target: str, going: dict[str, str]) -> Move:
        original, present = self._bases[source], self._bases[target]
        assert original is not None
        chained = target in going or source in going.values() or self._key(source) == self._key(target)
        return Move(
            source,
            target,
            original.hash,
            original.stat.inode,
            replaced=present.hash if present is not None and target not in going else None,
            parked=paths.join(paths.parent(source), f"{paths.PARKED}{os.urandom(8).hex()}")
            if chained
            else None,
            trash=target.startswith(f"{trash.FOLDER}/"),
        )

    def _put_base(self, path: str, slot: Slot, going: dict[str, str]) -> str | None:
        """The content that is at the path once the moves are done."""
        base = self._bases[slot.origin or path]
        if base is None or (slot.origin is None and path in going):
            return None
        return base.hash

    def befores(self, record: Record) -> list[Before]:
        """What each path that will change holds now."""
        targets = {move.source: move.target for move in record.moves if not move.trash}
        return [self._before(path, targets.get(path)) for path in record.touched() if not paths.hidden(path)]

    def _before(self, path: str, target: str | None) -> Before:
        base = self._bases[path]
        op: Literal["move", "write", "delete"] = (
            "move" if target is not None else "write" if self._slots[path] else "delete"
        )
        if base is None:
            return Before(op, path, None, lambda: None)
        return Before(op, path, base.hash, lambda: self._disk.read(path).data, target)


def _ancestors(path: str) -> Iterator[str]:
    while path := paths.parent(path):
        yield path
