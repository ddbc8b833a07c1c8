"""The one door to a vault's files: every way through it checks the folder rules and leaves a trace."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal, TypeVar

from knapper.errors import ToolError
from knapper.vault import applied, paths, trash
from knapper.vault.acl import Acl, Op
from knapper.vault.disk import Disk
from knapper.vault.files import Before, Change, Deleted, Entry, File, Kind, Moved, Stat, Version, Written
from knapper.vault.journal import Journal
from knapper.vault.refusals import Busy, Changed, busy, changed, missing, taken, unusable
from knapper.vault.staging import Staging
from knapper.vault.texts import Compose, edited, written

T = TypeVar("T")
Mode = Literal["upsert", "create", "overwrite"]

_ATTEMPTS = 8
_POLITE = 2  # attempts before other processes are kept out for the whole of a change


def _ignore(_: list[Any]) -> None:
    pass


def _nothing() -> None:
    pass


class Door:
    """A vault as one caller may use it; paths are relative to the vault, and what comes back is spelled as on disk.

    `before` is called with what is there before anything changes, `changed` with what is there afterwards, when it is
    durable and before the method returns; `begin` in between, at the last moment at which it can still be refused. A
    door belongs to one call: a transaction on it is that call's.
    """

    def __init__(
        self,
        vault: str,
        name: str,
        disk: Disk,
        acl: Acl,
        journal: Journal,
        *,
        scopes: frozenset[str] = frozenset(),
        exempt: frozenset[str] = frozenset(),
        may_read: re.Pattern[str] | None = None,
        before: Callable[[list[Before]], None] = _ignore,
        changed: Callable[[list[Change]], None] = _ignore,
        begin: Callable[[], None] = _nothing,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.vault = vault
        self.name = name
        self._disk = disk
        self._acl = acl
        self._journal = journal
        self._scopes = scopes
        self._exempt = exempt
        self._may_read = may_read
        self._before = before
        self._changed = changed
        self._begin = begin
        self._clock = clock
        self._staging: Staging | None = None
        self._seen: str | None = None
        self._authorised: str | None = None

    def locate(self, path: str) -> str:
        """The canonical path: links resolved, spelled as on disk; path_invalid where it leaves the vault."""
        if path and path == self._seen:
            self._seen = None
            return path
        return (self._staging or self._disk).locate(paths.canonical(path))

    def is_file(self, path: str) -> bool:
        """Whether a canonical path is a file or leads elsewhere, for whoever asks next what it may do with it.

        What a link leads to is judged there, whether something is there or not; a file is not located again.
        """
        if self._kind(path) != "file":
            return self.locate(path) != path
        if self._staging is None and self._disk.is_exact(path):
            self._seen = path
        return True

    def authorise(self, op: Op, path: str) -> str:
        """The canonical path, if this caller may do this to it."""
        located = self._authorised = self.locate(path)
        self.check(op, located)
        return located

    def check(self, op: Op, path: str) -> None:
        """Raise acl_denied or read_only_mode unless this caller may do this to a canonical path.

        A folder may be read where something in it may: what is listed from it is filtered in any case.
        """
        try:
            self._acl.check(op, path, self._scopes, self._exemptions(op, path))
        except ToolError as error:
            if op != "read" or error.details.get("required_scopes") or not self._shows(path):
                raise

    def _exemptions(self, op: Op, path: str) -> frozenset[str]:
        """A pattern opens hidden paths for reading, and nothing of the control folders however it is written."""
        if op != "read" or self._may_read is None or paths.control_folder(path):
            return self._exempt
        return self._exempt | {path} if self._may_read.fullmatch(path) else self._exempt

    @property
    def restricted(self) -> bool:
        """Whether any folder rule is set, be it for reading, writing or deleting."""
        return not self._acl.unrestricted

    def _shows(self, folder: str) -> bool:
        if folder == "":
            return True
        if paths.hidden(folder) or paths.control_folder(folder) or self._kind(folder) != "folder":
            return False
        return self._acl.readable(f"{folder}/") or any(
            self._acl.readable(e.path) for e in self._entries(folder)
        )

    def _file(self, path: str, *ops: Op) -> str:
        located = self.locate(path)
        if not located:
            raise unusable(path, "it is the vault itself")
        for op in ops:
            self.check(op, located)
        return located

    def read(self, path: str) -> File:
        """A file's content, or note_not_found.

        What has just been located for this call is not located again: a link that came since is not followed anyway.
        """
        if path and path == self._authorised and self._staging is None:
            self._authorised, located = None, path
            self.check("read", located)
        else:
            located = self._file(path, "read")
        file = self._peek(located)
        if file is None:
            raise missing(located)
        return file

    def _peek(self, path: str) -> File | None:
        if self._staging:
            return self._staging.read(path)
        try:
            return self._disk.read(path)
        except ToolError as error:
            if error.code == "note_not_found":
                return None
            raise

    def exists(self, path: str) -> Kind | None:
        """Whether a path is a file, a folder, or nothing."""
        return self._kind(self.authorise("read", path))

    def _kind(self, path: str) -> Kind | None:
        if self._staging:
            return self._staging.kind(path)
        found = self._disk.stat(path)
        return found.kind if found else None

    def stat(self, path: str) -> Stat:
        """The facts of a file or folder, or note_not_found."""
        located = self.authorise("read", path)
        if self._staging and self._staging.kind(located) == "file":
            return self.read(path).stat
        found = self._disk.stat(located)
        if found is None:
            raise missing(located)
        return found

    def walk(
        self, folder: str = "", *, folders: bool = False, extensions: Collection[str] | None = None
    ) -> Iterator[Entry]:
        """What this caller may read below a folder, in the order of the paths; extensions as in `.md`."""
        located = self.locate(folder)
        if paths.hidden(located) or self._kind(located) != "folder":
            raise missing(located)
        wanted = None if extensions is None else tuple(extension.lower() for extension in extensions)
        return self._visible(self._entries(located), folders, wanted)

    def _entries(self, folder: str) -> Iterator[Entry]:
        return self._staging.entries(folder) if self._staging else self._disk.walk(folder)

    def _visible(
        self, entries: Iterator[Entry], folders: bool, wanted: tuple[str, ...] | None
    ) -> Iterator[Entry]:
        """A folder is shown where it may be read, or once something in it turns out to be readable."""
        held: list[Entry] = []
        for entry in entries:
            while held and not entry.path.startswith(f"{held[-1].path}/"):
                held.pop()
            readable = self._acl.readable(entry.path)
            if entry.kind == "folder":
                if readable or self._acl.readable(f"{entry.path}/"):
                    yield from (*held, entry) if folders else ()
                    held.clear()
                else:
                    held.append(entry)
            elif readable:
                yield from held if folders else ()
                held.clear()
                if wanted is None or entry.path.lower().endswith(wanted):
                    yield entry

    def write(
        self,
        path: str,
        content: str | bytes,
        *,
        mode: Mode = "upsert",
        prev_hash: str | None = None,
        create_dirs: bool = True,
    ) -> Written:
        """Write a whole file; with prev_hash only if it still has that content."""
        located = self._file(path, "write")

        def compose(old: File | None) -> bytes:
            if old is None and mode == "overwrite":
                raise missing(located)
            if old is not None and mode == "create":
                raise taken(located)
            return written(content, old, located)

        return self._store(located, compose, prev_hash, create_dirs)

    def edit(self, path: str, change: Callable[[str], str], *, prev_hash: str | None = None) -> Written:
        """Change a file's text; where another program was faster, read again and change what it wrote.

        The text comes without a byte order mark, and with plain line ends where all of them are CRLF; both are put back. The
        change may be called more than once and must only compute.
        """
        located = self._file(path, "read", "write")

        def compose(old: File | None) -> bytes:
            if old is None:
                raise missing(located)
            return edited(change, old)

        return self._store(located, compose, prev_hash, False)

    def _store(self, path: str, compose: Compose, prev_hash: str | None, create_dirs: bool) -> Written:
        if self._staging:
            return self._stage_write(self._staging, path, compose, prev_hash, create_dirs)
        with self._disk.locks.hold(path):
            return self._insisting(lambda: self._store_once(path, compose, prev_hash, create_dirs), prev_hash)

    def _store_once(self, path: str, compose: Compose, prev_hash: str | None, create_dirs: bool) -> Written:
        old = self._peek(path)
        data = _composed(path, compose, old, prev_hash)
        if old is not None and data == old.data:
            return Written(path, old.hash, old.hash, False, self._now())
        self._check_folder(path, old, create_dirs)
        self._before([_before("write", path, old)])
        stat = self._disk.put(path, data, old.version if old else None, guard=self._guard)
        new = File(path, data, stat)
        self._changed([Change(path, stat, new.hash, data)])
        return Written(path, new.hash, old.hash if old else None, old is None, self._now())

    def _check_folder(self, path: str, old: File | None, create_dirs: bool) -> None:
        if old is None and not create_dirs and self._kind(paths.parent(path)) != "folder":
            raise unusable(path, "its folder does not exist")

    def _stage_write(
        self, staging: Staging, path: str, compose: Compose, prev_hash: str | None, create_dirs: bool
    ) -> Written:
        old = staging.read(path)
        new = File(path, _composed(path, compose, old, prev_hash), Stat("file", 0, 0, 0, 0))
        if old is None or new.data != old.data:
            self._check_folder(path, old, create_dirs)
            staging.write(path, new.data)
        return Written(path, new.hash, old.hash if old else None, old is None, self._now())

    def move(self, source: str, target: str, *, overwrite: bool = False) -> Moved:
        """Give a file another path, in one step; folders on the way are made."""
        old = self._file(source, "read", "delete")
        new = self._file(target, "write")
        if new == old:  # the same file by another spelling, which is to become its name
            new = _respelled(old, paths.canonical(target))
        if self._staging:
            return self._stage_move(self._staging, old, new, overwrite)
        with self._disk.locks.hold(old, new):
            return self._insisting(lambda: self._move_once(old, new, overwrite))

    def _move_once(self, source: str, target: str, overwrite: bool) -> Moved:
        version = self._existing(source)
        if source == target:
            return Moved(source, target, version.hash, self._now())
        respelled = self._disk.locate(target) == source
        replaced = None if respelled else self._disk.version(target)
        if replaced is not None and not overwrite:
            raise taken(target)
        self._disk.check_place(target)
        self._before([self._prior("move", source, version, target), self._prior("write", target, replaced)])
        if respelled:
            self._begin()
            self._disk.respell(source, target)
        else:
            self._disk.move(source, target, replaced, guard=self._guard)
        stat = self._disk.stat(target)
        self._changed([Change(source, None), Change(target, stat, version.hash, None, source)])
        return Moved(source, target, version.hash, self._now())

    def _stage_move(self, staging: Staging, source: str, target: str, overwrite: bool) -> Moved:
        slot = staging.slot(source)
        if slot is None:
            raise missing(source)
        if source != target:
            if staging.kind(target) == "file" and not overwrite and staging.locate(target) != source:
                raise taken(target)
            staging.move(source, target)
        return Moved(source, target, slot.hash, self._now())

    def delete(self, path: str, *, hard: bool = False) -> Deleted:
        """Move a file to the vault's `.trash`, or unlink it where that is asked for or is Obsidian's setting."""
        located = self._file(path, "delete")
        soft = not hard and trash.kept(self._disk)
        if self._staging:
            return self._stage_delete(self._staging, located, soft)
        with self._disk.locks.hold(located):
            return self._insisting(lambda: self._delete_once(located, soft))

    def _delete_once(self, path: str, soft: bool) -> Deleted:
        version = self._existing(path)
        self._before([self._prior("delete", path, version)])
        place = trash.place(path, self._disk.taken) if soft else None
        if place is None:
            self._disk.remove(path, version, guard=self._guard)
        else:
            self._disk.move(path, place, None, guard=self._guard)
        self._changed([Change(path, None)])
        return Deleted(path, place, self._now())

    def _stage_delete(self, staging: Staging, path: str, soft: bool) -> Deleted:
        if staging.slot(path) is None:
            raise missing(path)
        if soft:
            return Deleted(path, staging.discard(path), self._now())
        staging.remove(path)
        return Deleted(path, None, self._now())

    def settings(self, name: str) -> dict[str, Any]:
        """One of Obsidian's settings files (`app`, `daily-notes`), for what the server itself has to follow."""
        return trash.settings(self._disk, name)

    def plugin_settings(self, plugin: str) -> dict[str, Any]:
        """The settings of one of Obsidian's community plugins, by its id; empty where it is switched off."""
        return trash.plugin_settings(self._disk, plugin)

    def known_text(self, path: str) -> str | None:
        """A file's text for what the server itself has to know, whoever may read it; None where it has none."""
        try:
            file = self._peek(self.locate(path))
            return None if file is None else file.text
        except ToolError as error:
            if error.code == "invalid_input":
                return None
            raise

    def known_hash(self, path: str) -> str | None:
        """What stands for a file's content, for what the server itself has to know; None where there is no file."""
        located = self.locate(path)
        if not located or self._kind(located) != "file":
            return None
        file = self._peek(located)
        return None if file is None else file.hash

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Go through the changes inside, with all that could refuse them while they are staged, and make none."""
        self._staging, before = Staging(self._disk), self._staging
        try:
            yield
        finally:
            self._staging = before

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make the changes inside one change: all of them or none, also when the process is killed in between.

        Reads inside see what is staged. Nothing happens before the end; an exception on the way leaves every file as it is.
        One inside another belongs to the outer one.
        """
        if self._staging is not None:
            yield
            return
        self._staging = staging = Staging(self._disk)
        try:
            yield
        finally:
            self._staging = None
        self._commit(staging)

    def _commit(self, staging: Staging) -> None:
        record = staging.record(self._now())
        if not record:
            return
        with self._disk.locks.hold(*record.touched()):
            self._before(staging.befores(record))
            with self._guard():
                staging.verify()
                self._disk.check_room(record.room)  # once it is decided, it has to be finished
                conflicts = self._journal.run(record, self._disk)
            self._changed(applied.changes(record, self._disk, conflicts))
        if conflicts:
            first = conflicts[0]
            message = f"another program changed {first.path!r} in the same moment; its version stays"
            raise ToolError("concurrent_modification", message, path=first.path, kept_as=first.kept_as)

    @contextmanager
    def _guard(self) -> Iterator[None]:
        with self._journal.guard(self._disk) as recovery:
            if recovery.changes:
                self._changed(recovery.changes)
            self._begin()
            yield

    def _insisting(self, act: Callable[[], T], prev_hash: str | None = None) -> T:
        """Try again where another program changed the file meanwhile, unless the caller named the content it means."""
        for attempt in range(_ATTEMPTS):
            apart: AbstractContextManager[None] = nullcontext() if attempt < _POLITE else self._guard()
            try:
                with apart:
                    return act()
            except Busy as found:
                raise busy(found.path) from None
            except Changed as found:
                if prev_hash is not None or attempt == _ATTEMPTS - 1:
                    raise changed(found.path, prev_hash, found.actual) from None
        raise AssertionError("unreachable")

    def _existing(self, path: str) -> Version:
        version = self._disk.version(path)
        if version is None:
            raise missing(path)
        return version

    def _prior(
        self,
        op: Literal["move", "write", "delete"],
        path: str,
        version: Version | None,
        target: str | None = None,
    ) -> Before:
        if version is None:
            return Before(op, path, None, lambda: None, target)
        return Before(op, path, version.hash, lambda: self._disk.read(path).data, target)

    def _now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))


def _before(op: Literal["write"], path: str, old: File | None) -> Before:
    return Before(op, path, old.hash if old else None, lambda: old.data if old else None)


def _respelled(path: str, wanted: str) -> str:
    leaf = paths.name(wanted)
    same = paths.folded(leaf) == paths.folded(paths.name(path))
    return paths.join(paths.parent(path), leaf) if same else path


def _composed(path: str, compose: Compose, old: File | None, prev_hash: str | None) -> bytes:
    if old is not None and prev_hash not in (None, old.hash):
        raise changed(path, prev_hash, old.hash)
    data = compose(old)
    if old is None and prev_hash is not None:
        raise changed(path, prev_hash, None)
    return data
