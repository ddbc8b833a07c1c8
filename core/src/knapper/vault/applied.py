"""Carrying out a transaction's record: from any state that a crash can leave, to the same end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from knapper.errors import ToolError
from knapper.vault import paths, trash
from knapper.vault.disk import Disk
from knapper.vault.files import Change, Conflict, Stat, Version
from knapper.vault.opened import Prepared
from knapper.vault.record import Move, Put, Record, Removal
from knapper.vault.refusals import Busy, Changed, Translated

_AT_ONCE = 32  # files open at a time, far below any system's limit


def apply(record: Record, disk: Disk, *, moved: bool, note_moved: Callable[[], None]) -> list[Conflict]:
    """Bring about what the record says and make it durable; what other programs changed meanwhile stays theirs.

    Between the moves and the new contents, `note_moved` must make durable that the moves are done: a moved file
    that has been replaced since can no longer be recognised.
    """
    application = _Application(record, disk)
    if not moved:
        application.rearrange()
        if record.moves and record.puts:
            note_moved()
    application.fill()
    return application.conflicts


def changes(record: Record, disk: Disk, conflicts: list[Conflict]) -> list[Change]:
    """The state of every path that the record touched, and of every file that was put beside another's."""
    contents = {put.path: put for put in record.puts}
    origins = {move.target: move for move in record.moves}
    disputed = {conflict.path for conflict in conflicts}
    beside = [conflict.kept_as for conflict in conflicts if conflict.kept_as]
    return [
        _change(path, disk, None if path in disputed else contents.get(path), origins.get(path))
        for path in [*record.touched(), *beside]
        if not paths.hidden(path)
    ]


def _change(path: str, disk: Disk, put: Put | None, move: Move | None) -> Change:
    moved_from = move.source if move else None
    stat = disk.stat(path)
    if stat is None:
        return Change(path, None)
    if put is not None:
        return Change(path, stat, put.hash, put.data, moved_from)
    found = _version(disk, path)
    if found is _FOREIGN:
        return Change(path, None)
    return Change(path, stat, found.hash if found else None, None, moved_from)


def _version(disk: Disk, path: str) -> Version | None:
    try:
        return disk.version(path)
    except ToolError as error:
        if error.code in ("path_invalid", "acl_denied") and disk.taken(path):
            return _FOREIGN  # a folder, a link, or not a plain file
        raise


class _Application:
    def __init__(self, record: Record, disk: Disk) -> None:
        self._record = record
        self._disk = disk
        self.conflicts: list[Conflict] = []

    def rearrange(self) -> None:
        for move in self._record.moves:
            self._park(move)
        for move in self._record.moves:
            self._land(move)
        for removal in self._record.removals:
            self._remove(removal)
        self._sync([path for move in self._record.moves for path in (move.source, move.target)])

    def fill(self) -> None:
        for start in range(0, len(self._record.puts), _AT_ONCE):
            self._put(self._record.puts[start : start + _AT_ONCE])
        self._sync([put.path for put in self._record.puts])

    def _sync(self, touched: list[str]) -> None:
        self._disk.sync(paths.parent(path) for path in touched)

    def _park(self, move: Move) -> None:
        """Make room: a file whose name another one waits for steps aside first."""
        if move.parked is not None and self._whereabouts(move) == move.source:
            self._disk.move(move.source, move.parked, None, sync=False)

    def _land(self, move: Move) -> None:
        place = self._whereabouts(move)
        if place is None:  # another program deleted or replaced it; there is nothing of ours to bring
            self.conflicts.append(Conflict(move.source, None))
        elif place != move.target:
            self._bring(move, place)

    def _whereabouts(self, move: Move) -> str | None:
        places = [place for place in (move.target, move.parked, move.source) if place is not None]
        for place in places:
            found = self._disk.stat(place)
            # The spelling counts: where case is folded, the old name would answer for the new one.
            same = found is not None and found.kind == "file" and found.inode == move.inode
            if same and self._disk.locate(place) == place:
                return place
        # Not every filesystem keeps a file's inode, and a sync program may have put the same content back.
        for place in reversed(places):
            version = self._version(place)
            if version is not None and version.hash == move.hash:
                return place
        return None

    def _bring(self, move: Move, place: str) -> None:
        present = self._version(move.target)
        try:
            if present is not None and present.hash == move.hash != move.replaced:
                self._disk.remove(place, present)  # a copy across devices that was cut short
            elif present is None or present.hash == move.replaced:
                self._disk.move(place, move.target, present, sync=False)
            else:
                self._bring_aside(move, place)
        except Changed:
            self._bring_aside(move, place)

    def _bring_aside(self, move: Move, place: str) -> None:
        aside = trash.free(move.target, self._occupied) if move.trash else self._beside(move.target)
        self._disk.move(place, aside, None)
        if not move.trash:
            self.conflicts.append(Conflict(move.target, aside))

    def _remove(self, removal: Removal) -> None:
        try:
            self._disk.remove(removal.path, Version(removal.hash, _NOWHERE))
        except Changed as changed:
            if changed.actual is not None or isinstance(changed, Busy):
                self.conflicts.append(Conflict(removal.path, None))

    def _put(self, puts: list[Put]) -> None:
        """Write all contents, then make all durable, then name all: one wait for the disk serves many files."""
        with ExitStack() as stack:
            ready = [
                self._prepare(put, base, stack) for put in puts if (base := self._base(put)) is not _DONE
            ]
            for prepared, _, _ in ready:
                prepared.flush()
            for prepared, put, base in ready:
                self._place(prepared, put, base)

    def _place(self, prepared: Prepared, put: Put, base: Version | None) -> None:
        try:
            with Translated("write", put.path):
                prepared.place(base)
        except Changed:
            self._put_beside(put)

    def _base(self, put: Put) -> Version | None:
        """What the content is to replace; conflicts are settled here, and what is done already is marked so."""
        present = self._version(put.path)
        if present is None or present.hash == put.base:
            return present
        if present.hash != put.hash:
            self._put_beside(put)
        return _DONE

    def _prepare(
        self, put: Put, base: Version | None, stack: ExitStack
    ) -> tuple[Prepared, Put, Version | None]:
        with Translated("write", put.path):
            folder = stack.enter_context(self._disk.folder(paths.parent(put.path), make=True))
            prepared = Prepared(folder, put.path, put.data)
        stack.callback(prepared.discard)
        return prepared, put, base

    def _put_beside(self, put: Put) -> None:
        aside = self._beside(put.path, put.hash)
        if self._version(aside) is None:
            self._disk.put(aside, put.data, None)
        self.conflicts.append(Conflict(put.path, aside))

    def _beside(self, path: str, content: str | None = None) -> str:
        """A free name for our version; one that has the content already is from an earlier attempt."""
        label = f"conflict knapper {self._record.at[:10]}"
        return trash.free(paths.labelled(path, label), lambda name: self._occupied(name, content))

    def _occupied(self, path: str, content: str | None = None) -> bool:
        found = self._version(path)
        return found is not None and found.hash != content

    def _version(self, path: str) -> Version | None:
        return _version(self._disk, path)


_NOWHERE = Stat("file", 0, 0, 0, 0)
_FOREIGN = Version("", _NOWHERE)
_DONE = Version("done", _NOWHERE)
