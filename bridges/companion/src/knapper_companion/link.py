"""The link to one vault's Obsidian: what the last probe found, and requests to the companion there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from knapper.errors import ToolError
from knapper_companion import envelope
from knapper_companion.names import PREFIX
from knapper_companion.snapshot import Reach, Snapshot, read
from knapper_companion.transport import Answer, Transport, Unreached

PERHAPS = "It may have been done all the same: look before you try again."
PAUSE_SECONDS = 0.2
STALE_SECONDS = 10.0
NEVER = float("-inf")


class Link:
    """Shared by all calls to a vault; a probe's findings are swapped in as a whole."""

    def __init__(self, settings: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.configured = settings.rest_api_url is not None
        self._transport = Transport(settings)
        self._clock = clock
        self._probing = threading.Lock()
        self._known: tuple[float, Snapshot] | None = None

    @property
    def known(self) -> Snapshot | None:
        """What the last probe found; None where none was made yet."""
        return self._known[1] if self._known else None

    @property
    def stale(self) -> bool:
        """Whether Obsidian may have been started or stopped since the last probe."""
        return self._known is None or self._clock() - self._known[0] > STALE_SECONDS

    def snapshot(self, settings: Any) -> Snapshot:
        """What is known, from the first probe if it has not been made yet."""
        return self.known or self._probe_after(None, settings)

    def renewed(self, settings: Any) -> Snapshot:
        """What is known, probed again where that was long ago."""
        return self._probe_after(self._known, settings) if self.stale else self.snapshot(settings)

    def refresh(self, settings: Any) -> Snapshot:
        """Probe now, and replace what was known."""
        with self._probing:
            return self._keep(self._probe(settings))

    def _probe_after(self, before: tuple[float, Snapshot] | None, settings: Any) -> Snapshot:
        """Of callers that wait for the same probe, only the first makes it."""
        with self._probing:
            if self._known is not before and self._known is not None:
                return self._known[1]
            return self._keep(self._probe(settings))

    def _keep(self, found: Snapshot) -> Snapshot:
        self._known = (self._clock(), found)
        return found

    def _probe(self, settings: Any) -> Snapshot:
        if not self.configured:
            return Snapshot(companion="missing", problem="the vault has no rest_api_url")
        if settings.plugins.probe_skip:
            return Snapshot(companion="reachable")
        seconds = settings.bridges.probe_timeout_ms / 1000
        found = self._once(seconds)
        if found.companion == "unreachable":
            time.sleep(PAUSE_SECONDS)
            found = self._once(seconds)
        return found

    def _once(self, seconds: float) -> Snapshot:
        try:
            answer = self._transport.ask("GET", PREFIX + "/probe", None, seconds)
            if answer.status == 404 and envelope.opened(answer) is None:
                return Snapshot(companion="missing", problem="the plugin knapper-companion is not there")
            return read(envelope.result_of(answer, "companion", self._transport))
        except Unreached as error:
            return Snapshot(companion="unreachable", problem=str(error))
        except msgspec.ValidationError:
            problem = "the probe's answer has another shape"
            return Snapshot(companion="unreachable", problem=problem, answered=True)
        except ToolError as error:
            missing = error.code == "plugin_missing"
            problem = error.details.get("hint", error.message)
            reach: Reach = "missing" if missing else "unreachable"
            return Snapshot(companion=reach, problem=problem, answered=True)

    def post(
        self, route: str, body: dict[str, Any], plugin: str, milliseconds: int, *, acts: bool = False
    ) -> Any:
        """The result of a companion's route, or the ToolError that says what went wrong."""
        given = {name: value for name, value in body.items() if value is not None}
        answer = self.ask("POST", PREFIX + route, given, plugin, milliseconds, acts=acts)
        return envelope.result_of(answer, plugin, self._transport)

    def ask(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        plugin: str,
        milliseconds: int,
        *,
        acts: bool = False,
    ) -> Answer:
        """The answer to any request to the Local REST API; what acts may have been done though no answer came."""
        sent = None if body is None else msgspec.json.encode(body)
        try:
            return self._transport.ask(method, path, sent, milliseconds / 1000)
        except Unreached as error:
            self._doubt(error)
            message = f"Obsidian could not be asked for {plugin!r}: {error}"
            details = {"plugin": plugin, "hint": PERHAPS} if acts and error.sent else {"plugin": plugin}
            raise ToolError("plugin_unreachable", message, **details) from None

    def _doubt(self, error: Unreached) -> None:
        """After a connection that failed the next call looks again; a route that takes too long proves nothing."""
        if not error.waited:
            self._known = (NEVER, Snapshot(companion="unreachable", problem=str(error)))


_links: dict[tuple[Any, ...], Link] = {}
_making = threading.Lock()


def link_of(settings: Any) -> Link:
    """The link of a vault by its settings, made once; settings that can change while it runs are given to each call."""
    s = settings
    place = (s.id, s.path, s.rest_api_url, s.rest_api_key, s.rest_api_certificate)
    with _making:
        found = _links[place] = _links.get(place) or Link(settings)
        return found
