"""Events in their envelope, and the spool: a file for each vault and day."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from knapper import traces

UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


class Letter(NamedTuple):
    """One event, written out."""

    vault: str
    when: datetime
    body: bytes


def letter_of(kind: str, vault: str, ts: float, data: dict[str, Any]) -> Letter:
    """An event of CloudEvents 1.0."""
    when = datetime.fromtimestamp(ts, UTC)
    envelope = {
        "specversion": "1.0",
        "id": str(uuid4()),
        "source": f"knapper/{vault}",
        "type": kind,
        "datacontenttype": "application/json",
        "time": when.isoformat(),
        "data": data,
    }
    return Letter(vault, when, msgspec.json.encode(envelope))


class Spool:
    """Appends events to `<vault>/events-<day>.jsonl`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, letter: Letter) -> None:
        folder = self._folder / safe(letter.vault)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        traces.append_encoded(folder / f"events-{letter.when:%Y-%m-%d}.jsonl", letter.body)


def safe(vault: str) -> str:
    """A vault's name as a folder that is certainly below ours."""
    name = UNSAFE.sub("_", vault)
    return "_" if not name.strip(".") else name
