"""One line a call in a file for each session, under the cache folder; never arguments, never answers."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from typing import Any

import msgspec

from knapper import CallRecord, Event, Sink, hookimpl, traces

MOST_OPEN = 16


class Traces:
    """Appends to the file of the session; the server's own job removes files that are past their time.

    Between calls that come close together the file stays open: to open it costs ten times the line.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._open: dict[str, FileIO] = {}

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
        self._append(traces.place(record.session, record.caller_hash), line)

    def event(self, event: Event) -> None:
        self._append(traces.SERVER, {"ts": event.ts, "type": event.type, "vault": event.vault})

    def settle(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def close(self) -> None:
        self.settle()

    def _append(self, place: str, line: dict[str, Any]) -> None:
        name = traces.file_name(place, line["ts"])
        if name not in self._open:
            if len(self._open) == MOST_OPEN:
                self.settle()
            self._open[name] = traces.opened(self._folder / name)
        try:
            traces.add(self._open[name], msgspec.json.encode(line))
        except OSError:
            self._open.pop(name).close()
            raise


def build(server: Any) -> Traces | None:
    """The traces, unless `observability.jsonl` is off."""
    return Traces(traces.folder(server.settings)) if server.settings.observability.jsonl else None


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="jsonl", build=build)
