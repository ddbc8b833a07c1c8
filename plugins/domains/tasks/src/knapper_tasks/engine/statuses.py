"""Statuses: what the character between a task's brackets means, and which follows which."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

TYPES = ("TODO", "DONE", "IN_PROGRESS", "ON_HOLD", "CANCELLED", "NON_TASK", "EMPTY")


class Status(msgspec.Struct, frozen=True):
    """One registered status."""

    symbol: str
    name: str
    next_symbol: str
    type: str


DEFAULT_STATUSES = (
    Status(" ", "Todo", "x", "TODO"),
    Status("x", "Done", " ", "DONE"),
    Status("/", "In Progress", "x", "IN_PROGRESS"),
    Status("-", "Cancelled", " ", "CANCELLED"),
)


class Statuses:
    """The statuses of a vault by symbol; of two definitions of a symbol the first counts."""

    def __init__(self, statuses: Iterable[Status] = DEFAULT_STATUSES) -> None:
        self._by_symbol: dict[str, Status] = {}
        for status in statuses:
            self._by_symbol.setdefault(status.symbol, status)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statuses) and [*self] == [*other]

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __iter__(self) -> Iterator[Status]:
        return iter(self._by_symbol.values())

    def get(self, symbol: str) -> Status:
        """The status of a symbol, an unknown one being a todo that leads to done."""
        return self._by_symbol.get(symbol) or Status(symbol, "Unknown", "x", "TODO")

    def after(self, status: Status) -> Status:
        """The status that toggling leads to."""
        return self.get(status.next_symbol)

    def of_next_occurrence(self, completed: Status) -> Status:
        """The status of a recurring task's next occurrence: the first open one that follows."""
        chain = [self.after(completed)]
        for _ in range(len(self._by_symbol) - 1):
            chain.append(self.after(chain[-1]))
        for wanted in ("TODO", "IN_PROGRESS"):
            for status in chain:
                if status.type == wanted:
                    return status
        return self.get(" ")


def statuses_from_settings(data: Mapping[str, Any]) -> Statuses:
    """The statuses of the plugin's data.json, or the plugin's defaults where it names none."""
    settings = data.get("statusSettings")
    if not isinstance(settings, Mapping):
        return Statuses()
    listed = [
        status
        for key in ("coreStatuses", "customStatuses")
        for entry in settings.get(key) or ()
        if (status := status_from_entry(entry)) is not None
    ]
    return Statuses(listed) if listed else Statuses()


def status_from_entry(entry: Any) -> Status | None:
    """A status from its entry in data.json, or None for an entry without a symbol."""
    if not isinstance(entry, Mapping):
        return None
    symbol, kind = entry.get("symbol"), entry.get("type")
    if not isinstance(symbol, str) or len(symbol) != 1:
        return None
    return Status(
        symbol,
        str(entry.get("name") or ""),
        str(entry.get("nextStatusSymbol") or " "),
        kind if isinstance(kind, str) and kind in TYPES else "TODO",
    )
