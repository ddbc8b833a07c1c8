"""The host as the edge sees it: its last known tools at once, the host itself as soon as it answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from knapper.catalogue import Catalogue
from knapper.server.exchange import Exchange, Peer
from knapper.server.host import Host
from knapper_bridge_stdio.following import follow, shaken
from knapper_bridge_stdio.http import HostError
from knapper_bridge_stdio.known import Known, Shelf
from knapper_bridge_stdio.options import Options, note

if TYPE_CHECKING:
    from knapper.runtime import Runtime
    from knapper_bridge_stdio.link import Link
    from knapper_bridge_stdio.session import Greeting

LISTED = "notifications/tools/list_changed"
FIRST_SECONDS = 0.4  # for the first look at a host of which nothing is known
LIST_SECONDS = 5.0


class Remote(Host):
    """A server in another process. It is looked at by one thread, so no two looks overlap."""

    def __init__(self, options: Options, jitter: Callable[[float], float] = shaken) -> None:
        super().__init__(_elsewhere)
        self._options = options
        self._jitter = jitter
        self._shelf = Shelf(options)
        kept = self._shelf.read()
        self.known = kept or Known()
        self._first = threading.Event()  # the first look is over, or not needed
        if kept is not None:
            self._first.set()
        self._show()
        self._client: Peer | None = None
        self._greeting: Greeting | None = None
        self._greeted = threading.Event()
        self._woken = threading.Event()
        self._closing = False
        self._answers: bool | None = None  # not known before the first look
        self._linking = threading.Lock()
        self._link: Link | None = None
        self.listened = False

    def greet(self, exchange: Exchange) -> None:
        """Begin to look, in the name of the client that has introduced itself; wait a moment where nothing is known."""
        from knapper_bridge_stdio.session import Greeting

        session = exchange.session
        self._client = exchange.peer
        self._greeting = Greeting(session.version or "", session.capabilities, session.client, self)
        self._greeted.set()
        self._first.wait(FIRST_SECONDS)

    def shown(self) -> None:
        """Wait for the first look where nothing is known: not every client asks for tools a second time."""
        self._first.wait(LIST_SECONDS)

    def load(self) -> None:
        """Look at the host until the end; a host that is given up ends the process."""
        link = self.link
        self._greeted.wait()
        given_up = follow(lambda: self._look(link), self._wait, self._options.poll_seconds, self._jitter)
        if given_up is not None:
            self.failure = given_up
            self.on_failure(given_up)

    @property
    def link(self) -> Link:
        """The way to the host, made by whoever needs it first: what it imports takes a while."""
        with self._linking:
            if self._link is None:
                from knapper_bridge_stdio.link import Link

                self._link = Link(self._options, self._introduced, self.wake)
            return self._link

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the client something, unless it has not finished its handshake: then it has nothing that could be stale."""
        if self.listened and self._client is not None:
            self._client.notify(method, params)

    def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Ask the client something that belongs to none of its own requests."""
        if self._client is None:
            raise TimeoutError
        return self._client.request(method, params, seconds)

    def wake(self) -> None:
        """Look at once."""
        self._woken.set()

    def reached(self) -> None:
        """The host answers: where that is news, its tools may be too."""
        if not self._answers:
            self.wake()

    def close(self) -> None:
        self._closing = True
        self.wake()
        if self._link is not None:
            self._link.close()

    def _introduced(self) -> Greeting:
        assert self._greeting is not None
        return self._greeting

    def _wait(self, seconds: float) -> bool:
        self._woken.wait(seconds)
        self._woken.clear()
        return self._closing

    def _look(self, link: Link) -> None:
        try:
            found = link.look()
            self._learn(found)
            if not self._answers:
                note(f"connected to {self._options.origin} over {link.spoken}: {len(found.tools)} tools")
            self._answers = True
        except HostError as error:
            self._lost(error)
            raise
        finally:
            self._first.set()

    def _lost(self, error: HostError) -> None:
        """Say it once, not at every look; of a host that is given up it is said that it is."""
        given_up = self._answers is None and error.refused
        if self._answers is not False and not given_up:
            shown = (
                "the tools that were last known are shown" if self.known.tools else "no tools are known yet"
            )
            note(f"{error}; {shown}, and it is looked for again")
        self._answers = False

    def _learn(self, found: Known) -> None:
        before, self.known = self.known, found
        self._show()
        if found != before:
            self._shelf.keep(found)
        if found.hash != before.hash:
            self.notify(LISTED, {})

    def _show(self) -> None:
        tools = [bytes(tool) for tool in self.known.tools]
        self._catalogue = Catalogue(None, self.known.instructions, tools, stdio=True, http=False)


def _elsewhere() -> Runtime:
    raise RuntimeError("the server runs in another process")


def capabilities(known: Known) -> dict[str, Any]:
    """What the host can do, and that changes of its tools are told, which this process sees to."""
    return {**known.capabilities, "tools": {"listChanged": True}}
