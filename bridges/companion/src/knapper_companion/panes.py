"""Word to Obsidian of what the server wrote, so that an open pane shows it; best effort, behind every call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from knapper.errors import ToolError
from knapper_companion.link import Link, link_of

log = logging.getLogger("knapper.companion")
ROUTE = "/notes/refresh"
MOST = 200
WAITING = 5_000


class Panes:
    """Gathers changed paths by vault, and sends them on a thread of its own."""

    def __init__(self, settings_of: Callable[[str], Any]) -> None:
        self._settings_of = settings_of
        self._waiting: dict[str, dict[str, None]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def changed(self, vault: str, paths: Sequence[str]) -> None:
        """Take the paths and return at once; where Obsidian was just found not to answer there is nobody to tell."""
        settings = self._settings_of(vault)
        link = link_of(settings)
        if settings.mode == "headless" or not link.configured or not (_reached(link) or link.stale):
            return
        with self._changed:
            waiting = self._waiting.setdefault(vault, {})
            if len(waiting) + len(paths) <= WAITING:
                waiting.update(dict.fromkeys(paths))
            self._start()
            self._changed.notify()

    def close(self) -> None:
        """Stop; what still waits is left to Obsidian's own watching."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="panes", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while taken := self._take():
            vault, paths = taken
            for start in range(0, len(paths), MOST):
                self._tell(vault, paths[start : start + MOST])

    def _take(self) -> tuple[str, list[str]] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            vault, paths = self._waiting.popitem()
            return vault, [*paths]

    def _tell(self, vault: str, paths: list[str]) -> None:
        settings = self._settings_of(vault)
        link = link_of(settings)
        if not _reached(link) and link.renewed(settings).companion != "reachable":
            return
        try:
            link.post(ROUTE, {"paths": paths}, "companion", settings.bridges.timeout_ms)
        except ToolError as error:
            log.debug("vault %s: Obsidian was not told of changes: %s", vault, error.message)


def _reached(link: Link) -> bool:
    return link.known is not None and link.known.companion == "reachable"
