"""What clients are told without asking: lists that changed, and resources they watch.

Watched files are compared by their stat, so that it works in every process whichever of them indexes the vault.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from knapper.errors import ToolError

if TYPE_CHECKING:
    from knapper.runtime import Runtime
    from knapper.server.exchange import Session
    from knapper.server.host import Host

SECONDS = 0.5
COUNT = "SELECT count(*), coalesce(max(id), 0) FROM files WHERE note = 1"
Kind = Literal["tools", "prompts", "resources", "updated"]
LISTS: tuple[Kind, ...] = ("tools", "prompts", "resources")
METHODS = {
    "tools": "notifications/tools/list_changed",
    "prompts": "notifications/prompts/list_changed",
    "resources": "notifications/resources/list_changed",
    "updated": "notifications/resources/updated",
}


class Change(NamedTuple):
    """One thing that is not any more as the client may have it."""

    kind: Kind
    uri: str = ""

    @property
    def method(self) -> str:
        return METHODS[self.kind]

    @property
    def params(self) -> dict[str, Any]:
        return {"uri": self.uri} if self.uri else {}


Listener = Callable[[Change], None]


class Changes:
    """Who listens, which resources are watched, and the thread that compares them while somebody does."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []
        self._watched: dict[str, Any] = {}
        self._watchers: dict[str, set[int]] = {}
        self._thread: threading.Thread | None = None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of changes until the returned function is called."""
        with self._lock:
            self._listeners.append(listener)
            if self._thread is None:
                self._thread = threading.Thread(target=self._compare, name="changes", daemon=True)
                self._thread.start()
        return lambda: self._forget(listener)

    def tell(self, change: Change) -> None:
        """Tell everybody; whoever takes nothing is not told again, for all others would wait for it each time."""
        for listener in list(self._listeners):
            try:
                listener(change)
            except Exception as error:  # noqa: BLE001 - what a client's connection raises is its own
                import logging

                log = logging.getLogger("knapper.server")
                log.warning("a client took no change and is told of none any more (%s)", error)
                self._forget(listener)

    def watch(self, session: Session, uri: str) -> None:
        session.subscribed.add(uri)
        with self._lock:
            self._watchers.setdefault(uri, set()).add(id(session))
            self._watched.setdefault(uri, _stat(self._host.runtime, uri))

    def unwatch(self, session: Session, uri: str) -> None:
        session.subscribed.discard(uri)
        with self._lock:
            watchers = self._watchers.get(uri, set())
            watchers.discard(id(session))
            if not watchers:
                self._watchers.pop(uri, None)
                self._watched.pop(uri, None)

    def leave(self, session: Session) -> None:
        for uri in list(session.subscribed):
            self.unwatch(session, uri)

    def _forget(self, listener: Listener) -> None:
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def _compare(self) -> None:
        """Look twice a second while somebody listens; a list that is still growing is told of when it stands still."""
        runtime = self._host.runtime
        told = before = _notes(runtime)
        pause = threading.Event()
        while not pause.wait(SECONDS):
            with self._lock:
                if not self._listeners:
                    self._thread = None
                    return
                watched = dict(self._watched)
            for uri, known in watched.items():
                now = _stat(runtime, uri)
                if now != known:
                    self._watched[uri] = now
                    self.tell(Change("updated", uri))
            notes = _notes(runtime, before)
            if notes == before and notes != told:
                told = notes
                self.tell(Change("resources"))
            before = notes


def _stat(runtime: Runtime, uri: str) -> Any:
    from knapper.server.resources import parse
    from knapper.vault.paths import canonical

    if not uri.startswith("knapper:"):
        return None
    id, given = parse(uri)
    vault = runtime.vaults.get(id)
    try:
        path = canonical(given)
        # Another configuration may have closed the path since it was subscribed to.
        found = vault.disk.stat(path) if vault.acl.readable(path) else None
    except ToolError:  # its folder cannot be reached now, and may be there again the next time
        return None
    return None if found is None else (found.size, found.mtime_ns, found.inode)


def _notes(runtime: Runtime, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """What tells whether notes came or went, by vault; asked of the index only where it has changed."""
    found = {}
    for vault in runtime.vaults:
        try:
            generation = vault.index.generation
            if before is not None and before[vault.id][0] == generation:
                found[vault.id] = before[vault.id]
                continue
            with vault.index.db.read() as conn:
                row = conn.execute(COUNT).fetchone()
        except ToolError:  # it is being built anew, or closed: nothing is known to have changed
            found[vault.id] = before[vault.id] if before is not None else (-1, ())
            continue
        found[vault.id] = (generation, tuple(row))
    return found
