"""One line a call in a file for each session, under the cache folder; never arguments, never answers."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import msgspec

from knapper import CallRecord, Event, Sink, hookimpl
from knapper.config.paths import cache_dir

DAY = 86_400
SWEEP_SECONDS = 3600.0
UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


class Traces:
    """Appends to `traces/<session>.jsonl`, and removes files that are past their time."""

    def __init__(self, folder: Path, days: int) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._days = days
        self._swept = 0.0

    def call(self, record: CallRecord) -> None:
        line = {
            "ts": record.ts,
            "type": f"{record.kind}_invocation",
            "tool": record.tool,
            "vault": record.vault,
            "caller": record.caller,
            "duration_ms": round(record.duration_us / 1000, 3),
            "args_hash": record.args_hash,
            "result_size": record.result_size,
            "status": record.status,
        }
        if record.error_code:
            line["error_code"] = record.error_code
        self._append(record.session, line)

    def event(self, event: Event) -> None:
        self._append(None, {"ts": event.ts, "type": event.type, "vault": event.vault})

    def close(self) -> None:
        """Every line is written when it comes, so there is nothing left to do."""

    def _append(self, session: str | None, line: dict[str, Any]) -> None:
        with (self._folder / file_name(session)).open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")
        if time.time() - self._swept > SWEEP_SECONDS:
            self._sweep()

    def _sweep(self) -> None:
        self._swept = time.time()
        for file in self._folder.glob("*.jsonl"):
            if self._swept - file.stat().st_mtime > self._days * DAY:
                file.unlink(missing_ok=True)


def file_name(session: str | None) -> str:
    """A session's file; a name that could leave the folder becomes one that cannot."""
    safe = UNSAFE.sub("_", session or "server").strip(".")
    return f"{safe[:120] or '_'}.jsonl"


def build(settings: Any) -> Traces | None:
    """The traces, unless `observability.jsonl` is off."""
    watched = settings.observability
    return Traces(cache_dir(settings) / "traces", watched.retention.traces_days) if watched.jsonl else None


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="jsonl", build=build)
