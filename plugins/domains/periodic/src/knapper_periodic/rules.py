"""Where a vault keeps its periodic notes: folder, format and template of each period, from Obsidian's own settings."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from knapper import Context
from knapper.vault import moment
from knapper.vault.moment import Week
from knapper.vault.weeks import week_of

Period = Literal["daily", "weekly", "monthly", "quarterly", "yearly"]
FORMATS: dict[Period, str] = {
    "daily": "YYYY-MM-DD",
    "weekly": "gggg-[W]ww",
    "monthly": "YYYY-MM",
    "quarterly": "YYYY-[Q]Q",
    "yearly": "YYYY",
}
UNITS: dict[Period, str] = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
}
LITERAL = re.compile(r"\[[^\]]*\]")
PLUGIN = "periodic-notes"


class Rules(NamedTuple):
    """How one period's notes are named and begun."""

    period: Period
    folder: str
    format: str
    template: str
    week: Week | None
    date_format: str
    time_format: str = "HH:mm"

    @property
    def first_day(self) -> int:
        """The weekday a week begins with, 0 for Sunday; names by ISO weeks make it Monday."""
        if "G" in LITERAL.sub("", self.format):
            return 1
        return self.week.first_day if self.week else 0

    def path(self, when: datetime) -> str:
        """The note of the period that a day lies in."""
        name = moment.format(self.start(when), self.format, week=self.week)
        return f"{self.folder}/{name}.md" if self.folder else f"{name}.md"

    def start(self, when: datetime) -> datetime:
        """The first day of the period that a day lies in."""
        day = when.replace(hour=0, minute=0, second=0, microsecond=0)
        if self.period == "weekly":
            return day - timedelta(days=(day.isoweekday() - self.first_day) % 7)
        if self.period == "daily":
            return day
        if self.period == "monthly":
            return day.replace(day=1)
        if self.period == "quarterly":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        return day.replace(month=1, day=1)

    def recognise(self, path: str) -> datetime | None:
        """The first day of the period whose note this is, None for any other file."""
        prefix = f"{self.folder}/" if self.folder else ""
        if not path.startswith(prefix) or not path.lower().endswith(".md"):
            return None
        try:
            when = moment.parse(path[len(prefix) : -3], self.format, week=self.week)
            return None if when is None or self.path(when) != path else self.start(when)
        except (OverflowError, ValueError):  # a name at the end of the calendar, whose week begins before it
            return None


def rules(ctx: Context, period: Period) -> Rules:
    """The rules of a period: the Periodic Notes plugin's where it is set up, else Daily Notes', else the defaults."""
    own = _plugin(ctx, period)
    core = period == "daily" and not own
    found = ctx.vault.settings("daily-notes") if core else own
    format = _text(found, "format") or FORMATS[period]
    folder = _text(found, "folder").strip("/")
    template = (_text(found, "template") or _text(found, "templatePath")).strip("/")
    known = Rules(period, folder, format, template, week_of(ctx.vault), date_format=format)
    return _spoken(ctx, known) if core else known


def _spoken(ctx: Context, known: Rules) -> Rules:
    """Daily Notes fills its templates as the core plugin Templates does, with that one's formats."""
    found = ctx.vault.settings("templates")
    return known._replace(
        date_format=_text(found, "dateFormat") or FORMATS["daily"],
        time_format=_text(found, "timeFormat") or known.time_format,
    )


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value.strip() if isinstance(value, str) else ""


def _plugin(ctx: Context, period: Period) -> dict[str, Any]:
    data = ctx.vault.plugin_settings(PLUGIN)
    sets = data.get("calendarSets")
    if isinstance(sets, list) and sets:
        active = data.get("activeCalendarSet")
        chosen = next((one for one in sets if isinstance(one, dict) and one.get("id") == active), sets[0])
        data = {p: chosen.get(unit) for p, unit in UNITS.items()} if isinstance(chosen, dict) else {}
    found = data.get(period)
    return found if isinstance(found, dict) and found.get("enabled", True) else {}
