"""The text of a file by whichever way there is: kept, native, live; what is learnt is kept and made findable."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from knapper import Context, ToolError
from knapper.bridge import EngineName
from knapper_ocr import live
from knapper_ocr.kept import Kept
from knapper_ocr.reading import OBSIDIAN, PARTLY, TEXT, PageText, Reading, Source, load, native, program


class Answer(NamedTuple):
    """A text, and where it comes from."""

    reading: Reading
    cached: bool

    @property
    def engine(self) -> Literal["native", "obsidian"]:
        return "obsidian" if self.reading.how == OBSIDIAN else "native"


class Asking:
    """One call's way to texts; its methods belong to the thread of the call."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._kept = Kept(ctx.store, ctx.vault.vault)

    def kept(self, source: Source, engine: EngineName) -> Answer | None:
        """What was read of this content before, unless it would be read in another way today."""
        found = self._kept.find(source.hash)
        if found is None:
            return None
        here = program(self._ctx.settings)
        good = {TEXT, here.how} if here else {TEXT, PARTLY, OBSIDIAN if engine == "auto" else TEXT}
        return Answer(found, True) if found.how in good else None

    def learn(self, source: Source, reading: Reading) -> None:
        self._kept.keep(source.hash, len(source.data), reading, self._ctx.now())
        self._ctx.index.renew_texts([source.path])

    def live(self, source: Source, force: bool) -> Answer:
        """What the plugin in Obsidian reads; kept unless the file has changed meanwhile."""
        found = live.read(self._ctx, source.path, force)
        reading = Reading([PageText(found.text)], OBSIDIAN)
        if load(self._ctx, source.path).hash == source.hash:
            self.learn(source, reading)
        return Answer(reading, found.cached)

    def text(self, path: str, force: bool, engine: EngineName) -> Answer:
        """The text of one file, in the order that the engine asks for."""
        source = load(self._ctx, path)
        if engine == "obsidian":
            return self.live(source, force)
        if not force and (known := self.kept(source, engine)):
            return known

        def read() -> Reading:
            return native(source, self._ctx.settings, lambda: self._ctx.cancelled, self._ctx.progress)

        return self.finished(source, read, force, engine)

    def finished(
        self, source: Source, read: Callable[[], Reading], force: bool, engine: EngineName = "auto"
    ) -> Answer:
        """What native reads; where it lacks a program, what Obsidian does, and else what native has or what would help."""
        try:
            reading = read()
        except ToolError as error:
            if engine == "native" or error.code != "plugin_missing":
                raise
            self._check_bridge(error)
            return self.live(source, force)
        if engine == "auto" and reading.how == PARTLY and self._has_bridge():
            return self.live(source, force)
        self.learn(source, reading)
        return Answer(reading, False)

    def _has_bridge(self) -> bool:
        try:
            return self._ctx.bridge(live.KEY) is not None
        except ToolError:
            return False

    def _check_bridge(self, missing: ToolError) -> None:
        try:
            self._ctx.bridge(live.KEY)
        except ToolError as error:
            message = f"{missing.message}, and there is no live engine: {error.message}"
            raise ToolError("plugin_missing", message, **missing.details) from None


def milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
