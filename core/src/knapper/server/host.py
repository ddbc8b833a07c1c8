"""What both edges answer from: the catalogue at once, the running server as soon as it is loaded."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from knapper.errors import ConfigError, KnapperError
from knapper.server.wire import INTERNAL_ERROR, ProtocolError

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.catalogue import Catalogue, Source
    from knapper.runtime import Runtime
    from knapper.server.changes import Changes, Kind


MOST_LISTS = 64
START_SECONDS = 2.0  # at most, for calls that waited for the server, before indexing takes the processor


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector: imports make many objects and no garbage, and all of them stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class Host:
    """A server that is loaded while its clients already talk to it."""

    def __init__(
        self, open: Callable[[], Runtime], catalogue: Catalogue | None = None, source: Source | None = None
    ) -> None:
        self._open = open
        self._catalogue = catalogue
        self._source = source
        self._runtime: Runtime | None = None
        self._loaded = threading.Event()
        self._calls = threading.Condition()
        self._under_way = 0
        self._life = threading.Lock()  # what is half begun cannot be ended
        self._closed = False
        self._reloaded = False
        self._listed_early = False
        self._lists: dict[tuple[frozenset[str], str | None], list[bytes]] = {}
        self.failure: Exception | None = None
        self.on_failure: Callable[[Exception], None] = lambda error: None

    def load(self) -> None:
        """Load plugins, open the vaults and begin to index; done once, by whoever starts the server."""
        try:
            with _uncollected():
                self._runtime = self._opened()
        except Exception as error:
            self.failure = error
            if not isinstance(error, KnapperError):
                import logging

                logging.getLogger("knapper.server").exception("the server could not start")
        self._loaded.set()
        if self._runtime is not None:
            with self._calls:
                self._calls.wait_for(lambda: not self._under_way, START_SECONDS)
            with self._life:
                if not self._closed:
                    self._runtime.start()
        elif self.failure is not None:
            self.on_failure(self.failure)

    def _opened(self) -> Runtime:
        from knapper.catalogue import build, keep

        since, key = time.time(), self._source.key() if self._source is not None else ""
        runtime = self._open()
        runtime.on_reload.append(self._changed)
        runtime.on_tools.append(self._relisted)
        if self._catalogue is None:
            self._catalogue = build(runtime)
            if self._source is not None:
                keep(self._catalogue, self._source, runtime, key, since)
        return runtime

    def load_in_background(self) -> None:
        threading.Thread(target=self.load, name="load", daemon=True).start()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """A call is under way: one that waits for the server is answered before the server turns to itself."""
        with self._calls:
            self._under_way += 1
        try:
            yield
        finally:
            with self._calls:
                self._under_way -= 1
                self._calls.notify()

    @property
    def ready(self) -> bool:
        return self._runtime is not None

    @property
    def runtime(self) -> Runtime:
        """The running server; waits until it is loaded."""
        if self._runtime is None:
            self._loaded.wait()
        if self._runtime is None:
            reason = str(self.failure) if isinstance(self.failure, ConfigError) else "see the server's log"
            raise ProtocolError(INTERNAL_ERROR, f"The server could not start: {reason}")
        return self._runtime

    @property
    def catalogue(self) -> Catalogue:
        """What is known before anything is loaded, where a start before this one left it; else it waits."""
        if self._catalogue is None:
            self._loaded.wait()
        if self._catalogue is None:
            _ = self.runtime  # raises with the reason
        assert self._catalogue is not None
        return self._catalogue

    def tools(self, caller: Caller) -> list[bytes]:
        """The entries of tools/list for this caller, encoded; made once for all who may see the same."""
        if caller.vault is None and "*" in caller.scopes and not self._reloaded:
            self._listed_early = True
            return self.catalogue.tools
        kind, lists = (caller.scopes, caller.vault), self._lists
        listed = lists.get(kind)
        if listed is None:
            from knapper.server.facade import items

            if len(lists) >= MOST_LISTS:
                lists.clear()
            listed = lists[kind] = items(self.runtime, caller)
        return listed

    @cached_property
    def changes(self) -> Changes:
        """What clients are told without asking."""
        from knapper.server.changes import Changes

        return Changes(self)

    @property
    def outdated(self) -> bool:
        """Whether a client may hold a list of tools from before tools came or went."""
        return self._listed_early and self._reloaded

    def _changed(self) -> None:
        """Another configuration may show other tools, and rules that let other notes be read."""
        from knapper.server.changes import LISTS

        self._relist(LISTS)

    def _relisted(self) -> None:
        """Tools came or went while the server runs."""
        self._relist(("tools",))

    def _relist(self, kinds: Iterable[Kind]) -> None:
        from knapper.server.changes import Change

        self._reloaded = True
        self._lists = {}  # a new one: who is still making a list of the old tools keeps it to itself
        for kind in kinds:
            self.changes.tell(Change(kind))

    def close(self) -> None:
        with self._life:
            self._closed = True
            if self._runtime is not None:
                self._runtime.close()
