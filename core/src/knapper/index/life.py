"""What an index does by itself: one process leads, watches and compares; the others stand by to take over."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper.index.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knapper.index.engine import Index

log = logging.getLogger("knapper.index")
BEAT = 0.5  # how often it is looked whether the leader is gone, or the file was replaced
RETRY = 5.0  # after a failure
UNWATCHED = 30.0  # how often everything is compared where watching is not possible
SOON = 1.0  # after which a watch that did not last is begun anew: twice as long each time, until one lasts
STANDS = 10.0  # how long a watch may take to stand before files are compared anyway


class Life:
    """A thread that leads when it can, for as long as the server runs."""

    def __init__(self, index: Index, settings: Any) -> None:
        self._index = index
        self._settings = settings
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)
        self._watch: Watch | None = None
        self._due = 0.0  # when to compare next; never, where it is infinite
        self._tried = float("-inf")  # when a watch was last begun
        self._pause = 0.0  # how long after that the next one may be
        self._seen = -1  # the file that was compared
        self._folder = _identity(index.disk.root)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        if self._watch is not None:
            self._watch.stop()
        if self._thread.is_alive():
            self._thread.join(10)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    @property
    def watching(self) -> bool:
        return self._watch is not None and self._watch.running

    @property
    def watch_problem(self) -> str:
        return "" if self._watch is None or self._watch.running else self._watch.problem

    def wake(self) -> None:
        """Look at once what there is to do."""
        self._wake.set()

    def compare(self) -> None:
        """Compare all files soon."""
        self._due = 0.0
        self._wake.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._beat()
            except Exception as error:  # whatever failed, the next beat tries again
                self._index.fell_behind(error)
                self._due = time.monotonic() + RETRY
                log.exception("the index could not be brought level; it is tried again")
            self._wake.wait(BEAT)
            self._wake.clear()

    def _beat(self) -> None:
        index = self._index
        index.db.check()
        if index.db.damage:
            index.db.begin_anew(index.db.epoch)
        led = index.leads
        if not index.leader.acquire():
            self._unwatch()
            if index.problem and time.monotonic() >= self._due:  # what is missing is this process's own
                index.reconcile()
            return
        if self._is_elsewhere() or not led:
            self._unwatch()
            self._due = 0.0
            index.may_be_behind()
        if self._seen != index.db.epoch or not (index.compared or index.problem or index.busy):
            self._due = 0.0
        if time.monotonic() >= self._due and not self._stop.is_set():
            self._compare()

    def _is_elsewhere(self) -> bool:
        """Whether another folder, or none, is now where the vault was: a watch stays with the old one."""
        before, self._folder = self._folder, _identity(self._index.disk.root)
        return self._folder != before

    def _compare(self) -> None:
        """Watch first, so that what changes while files are compared is not missed."""
        index, self._due = self._index, float("inf")
        self._rewatch()
        self._seen = index.db.epoch
        index.reconcile()
        index.vectors.start()
        if not self.watching and self._due == float("inf"):
            self._due = time.monotonic() + (self._pause or UNWATCHED)

    def _rewatch(self) -> None:
        """Begin a watch where none stands; what ends one, such as a name that is not UTF-8, may come many times."""
        lasted = time.monotonic() - self._tried
        if self.watching or lasted < self._pause or not self._settings.enabled or self._stop.is_set():
            return
        self._pause = SOON if lasted > UNWATCHED else min(2 * self._pause, UNWATCHED)
        self._tried = time.monotonic()
        self._watch = Watch(Path(self._index.disk.root), self._changed, self._settings, self.compare)
        self._watch.start(STANDS)

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.stop()
            self._watch, self._tried = None, float("-inf")

    def _changed(self, paths: Sequence[str]) -> None:
        try:
            self._index.refresh(paths)
        except Exception as error:  # the watch goes on, and comparing finds what was missed
            log.exception("changes of other programs could not be taken in; all files are compared")
            self._index.fell_behind(error)


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)  # noqa: PTH116  # asked for with every beat
    except OSError:
        return None
    return found.st_dev, found.st_ino
