"""HTTP beside stdio in one process: a thread of its own, which ends when the stdio client leaves."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from knapper.errors import KnapperError

if TYPE_CHECKING:
    from knapper.server.host import Host
    from knapper.server.http.listener import Listener

STOP_SECONDS = 1.0


class Beside:
    """A listener that starts when the server is loaded."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._listener: Listener | None = None
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        if self._listener is not None:
            self._listener.stop()
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        try:
            runtime = self._host.runtime
            del runtime
            from knapper.server.http.listener import Listener

            self._listener = Listener(self._host)
            self._listener.run()
        except KnapperError as error:
            logging.getLogger("knapper.http").error("HTTP could not be served: %s", str(error))
        except Exception:
            logging.getLogger("knapper.http").exception("HTTP could not be served")
