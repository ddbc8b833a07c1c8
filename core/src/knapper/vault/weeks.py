"""How a vault counts its weeks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knapper.vault.moment_locale import Week

if TYPE_CHECKING:
    from knapper.vault.door import Door

_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def week_of(door: Door) -> Week | None:
    """The week as the Calendar plugin is set to it, ISO weeks where Monday begins it; None for the locale's own."""
    start = door.settings("plugins/calendar/data").get("weekStart")
    if start not in _DAYS:
        return None
    day = _DAYS.index(start)
    return Week(day, 4 if day == 1 else day + 6)
