"""Changes of other programs come in batches: a burst is one, and no stream of changes puts them off for ever."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from knapper.config.model import WatchSettings
from knapper.index.watch import Watch
from knapper.testing import VaultFolder

ENOUGH = 30.0


def test_a_hundred_rapid_changes_are_one_update(vault: VaultFolder) -> None:
    batches: list[Sequence[str]] = []
    come = threading.Event()

    def changed(paths: Sequence[str]) -> None:
        batches.append(paths)
        come.set()

    settings = WatchSettings(debounce_ms=1500, max_batch_delay_ms=60_000)
    watch = Watch(vault.path, changed, settings, lambda: None)
    watch.start(ENOUGH)
    try:
        for n in range(100):
            vault[f"{n}.md"] = f"note {n}"
        assert come.wait(ENOUGH)
    finally:
        watch.stop()
    assert [len(batch) for batch in batches] == [100]


def test_changes_that_never_end_are_taken_in_all_the_same(vault: VaultFolder) -> None:
    come, done = threading.Event(), threading.Event()
    settings = WatchSettings(debounce_ms=400, max_batch_delay_ms=800)
    watch = Watch(vault.path, lambda paths: come.set(), settings, lambda: None)
    watch.start(ENOUGH)

    def go_on() -> None:
        pause, n = threading.Event(), 0
        while not done.is_set():
            vault["a.md"] = f"version {n}"
            n += 1
            pause.wait(0.02)

    writer = threading.Thread(target=go_on, daemon=True)
    writer.start()
    try:
        assert come.wait(ENOUGH)
    finally:
        done.set()
        writer.join(ENOUGH)
        watch.stop()
