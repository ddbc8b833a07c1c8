"""Following what other programs do to the files: batched, so that a checkout of thousands is one update."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

log = logging.getLogger("knapper.index")


class Stop(threading.Event):
    """Says when to stop; and knows since when it is asked, which is when the watch stands."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def is_set(self) -> bool:
        self.asked.set()
        return super().is_set()


class Watch:
    """A thread that waits for changes below a folder and hands their paths on; it ends where it cannot go on."""

    def __init__(
        self, root: Path, changed: Callable[[Sequence[str]], None], settings: Any, ended: Callable[[], None]
    ) -> None:
        self._root = str(root)
        self._changed = changed
        self._ended = ended
        self._longest = settings.max_batch_delay_ms
        self._step = settings.debounce_ms
        self._stop = Stop()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self.running = False
        self.problem = ""

    def start(self, patience: float) -> None:
        """Begin, and wait until the watch stands: what changes from then on is not missed."""
        self._thread.start()
        self._stop.asked.wait(patience)

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        try:
            from watchfiles import watch

            self.running = True
            for batch in watch(
                self._root,
                watch_filter=None,
                stop_event=self._stop,
                debounce=self._longest,
                step=self._step,
                rust_timeout=1000,
                yield_on_timeout=False,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                paths = sorted({rel for _, raw in batch if (rel := self._relative(raw)) is not None})
                if paths:
                    self._changed(paths)
        except Exception as error:  # noqa: BLE001  # a watch can fail in as many ways as there are file systems
            self.problem = f"{type(error).__name__}: {error}"
            log.warning("watching the vault failed: %s", type(error).__name__)
        finally:
            self.running = False
            self._stop.asked.set()
            self._ended()

    def _relative(self, raw: str) -> str | None:
        """The vault path, or None for what is not part of the vault: anything hidden."""
        if not raw.startswith(self._root):
            return None
        rel = raw[len(self._root) :].replace("\\", "/").strip("/")
        return None if not rel or rel.startswith(".") or "/." in rel else rel
