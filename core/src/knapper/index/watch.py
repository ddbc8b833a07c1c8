"""Following what other programs do to the files: batched, so that a checkout of thousands is one update."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

log = logging.getLogger("knapper.index")


class Watch:
    """A thread that waits for changes below a folder and hands their paths on."""

    def __init__(
        self, root: Path, changed: Callable[[Iterable[str]], None], settings: Any, lost: Callable[[str], None]
    ) -> None:
        self._root = root
        self._changed = changed
        self._lost = lost
        self._debounce = settings.max_batch_delay_ms
        self._step = settings.debounce_ms
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self.running = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(2)

    def _run(self) -> None:
        from watchfiles import watch

        try:
            self.running = True
            for batch in watch(
                self._root,
                watch_filter=None,
                stop_event=self._stop,
                debounce=self._debounce,
                step=self._step,
                rust_timeout=1000,
                yield_on_timeout=False,
                raise_interrupt=False,
            ):
                paths = sorted({rel for _, raw in batch if (rel := self._relative(raw)) is not None})
                if paths:
                    self._take(paths)
        except Exception as error:
            self._lost(type(error).__name__)
        finally:
            self.running = False

    def _take(self, paths: list[str]) -> None:
        try:
            self._changed(paths)
        except Exception:
            log.exception("changes of other programs could not be taken in; comparing all files")
            self._lost("update failed")

    def _relative(self, raw: str) -> str | None:
        """The vault path, or None for what is not part of the vault: anything hidden."""
        try:
            rel = Path(raw).relative_to(self._root)
        except ValueError:
            return None
        return None if not rel.parts or any(part.startswith(".") for part in rel.parts) else rel.as_posix()
