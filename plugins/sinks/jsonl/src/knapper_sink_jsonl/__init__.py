"""One line a call in a file for each session, under the cache folder; never arguments, never answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from knapper import CallRecord, Event, Sink, hookimpl, traces


class Traces:
    """Appends to the file of the session; the server's own job removes files that are past their time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder

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

    def close(self) -> None:
        """Every line is written when it comes, so there is nothing left to do."""

    def _append(self, place: str, line: dict[str, Any]) -> None:
        traces.append(self._folder / traces.file_name(place, line["ts"]), line)


def build(server: Any) -> Traces | None:
    """The traces, unless `observability.jsonl` is off."""
    return Traces(traces.folder(server.settings)) if server.settings.observability.jsonl else None


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="jsonl", build=build)
