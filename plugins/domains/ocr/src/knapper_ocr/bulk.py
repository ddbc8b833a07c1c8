"""Many files: a few readers at once, a result for each file, and a broken one costs only itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import NamedTuple

from knapper import Context, ToolError
from knapper_ocr.asking import Answer, Asking
from knapper_ocr.reading import Reading, Source, load, native

Result = tuple[str, Answer | ToolError]


class _Running(NamedTuple):
    number: int
    source: Source


class Bulk:
    """One call over many files. Vault, store and index are used by its own thread; others only wait for readers."""

    def __init__(self, ctx: Context, paths: Sequence[str], force: bool, at_once: int) -> None:
        self._ctx = ctx
        self._asking = Asking(ctx)
        self._paths = paths
        self._force = force
        self._at_once = at_once
        self._stop = Event()
        self._results: dict[int, Result] = {}
        self._running: dict[Future[Reading], _Running] = {}

    def run(self) -> list[Result]:
        """A result for each file, in their order; what was read before a cancellation stays read."""
        with ThreadPoolExecutor(self._at_once, "ocr") as pool:
            try:
                for number, source in self._sources():
                    future = pool.submit(native, source, self._ctx.settings, self._stopped, _untold)
                    self._running[future] = _Running(number, source)
                    while len(self._running) >= self._at_once:
                        self._collect()
                while self._running:
                    self._collect()
            finally:
                self._stop.set()
        return [self._results[number] for number in sorted(self._results)]

    def _sources(self) -> Iterator[tuple[int, Source]]:
        """The files that have to be read; the others get their result here."""
        for number, path in enumerate(self._paths):
            try:
                source = load(self._ctx, path)
                known = None if self._force else self._asking.kept(source, "auto")
            except ToolError as error:
                self._put(number, path, error)
                continue
            if known is not None:
                self._put(number, path, known)
            else:
                yield number, source

    def _collect(self) -> None:
        done, _ = wait(self._running, timeout=0.1, return_when=FIRST_COMPLETED)
        self._ctx.check_cancelled()
        for future in done:
            number, source = self._running.pop(future)
            try:
                self._put(number, source.path, self._asking.finished(source, future.result, self._force))
            except ToolError as error:
                if error.code == "aborted":
                    raise
                self._put(number, source.path, error)

    def _put(self, number: int, path: str, result: Answer | ToolError) -> None:
        self._results[number] = (path, result)
        self._ctx.progress(len(self._results), len(self._paths), path)

    def _stopped(self) -> bool:
        return self._stop.is_set() or self._ctx.cancelled


def _untold(page: int, count: int) -> None:
    """Progress of a bulk is counted in files."""
