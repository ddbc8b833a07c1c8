"""The settings of the Dataview plugin that change what a query answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults are the plugin's; `.obsidian/plugins/dataview/data.json` may say otherwise."""

    render_null_as: str = "\\-"
    date_format: str = "MMMM dd, yyyy"
    date_time_format: str = "h:mm a - MMMM dd, yyyy"
    id_column: str = "File"

    @classmethod
    def from_plugin(cls, data: dict[str, object]) -> Settings:
        """Read the plugin's own settings file, leaving out what is not text."""
        names = {
            "renderNullAs": "render_null_as",
            "defaultDateFormat": "date_format",
            "defaultDateTimeFormat": "date_time_format",
            "tableIdColumnName": "id_column",
        }
        return cls(
            **{ours: value for theirs, ours in names.items() if isinstance(value := data.get(theirs), str)}
        )
