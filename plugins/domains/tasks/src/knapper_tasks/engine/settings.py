"""Settings: what the plugin's data.json says about the vault's tasks."""

from collections.abc import Mapping
from typing import Any

import msgspec

from .statuses import Statuses, statuses_from_settings

EMOJI, DATAVIEW = "tasksPluginEmoji", "dataview"

DEFAULT_PRESETS: Mapping[str, str] = {
    "this_file": "path includes {{query.file.path}}",
    "this_folder": "folder includes {{query.file.folder}}",
    "this_folder_only": "filter by function task.file.folder === query.file.folder",
    "this_root": "root includes {{query.file.root}}",
    "hide_date_fields": "hide due date\nhide scheduled date\nhide start date\n"
    "hide created date\nhide done date\nhide cancelled date",
    "hide_non_date_fields": "hide id\nhide depends on\nhide recurrence rule\nhide on completion\nhide priority",
    "hide_query_elements": "hide toolbar\nhide postpone button\nhide edit button\nhide backlinks",
    "hide_everything": "preset hide_date_fields\npreset hide_non_date_fields\npreset hide_query_elements",
}


class Settings(msgspec.Struct, frozen=True):
    """The settings that change how tasks are read, written and queried."""

    global_filter: str = ""
    global_query: str = ""
    task_format: str = EMOJI
    set_created_date: bool = False
    set_done_date: bool = True
    set_cancelled_date: bool = True
    filename_as_scheduled: bool = False
    filename_format: str = ""
    filename_folders: tuple[str, ...] = ()
    next_occurrence_below: bool = False
    drop_scheduled_on_recurrence: bool = False
    presets: Mapping[str, str] = msgspec.field(default_factory=lambda: DEFAULT_PRESETS)
    statuses: Statuses = msgspec.field(default_factory=Statuses)


PLAIN = Settings()  # the plugin's defaults


def settings_from_data(data: Mapping[str, Any]) -> Settings:
    """Read the plugin's data.json; what is missing or of another type keeps the plugin's default."""
    folders = data.get("filenameAsDateFolders")
    return Settings(
        global_filter=_text(data, "globalFilter"),
        global_query=_text(data, "globalQuery"),
        task_format=DATAVIEW if data.get("taskFormat") == DATAVIEW else EMOJI,
        set_created_date=_flag(data, "setCreatedDate", False),
        set_done_date=_flag(data, "setDoneDate", True),
        set_cancelled_date=_flag(data, "setCancelledDate", True),
        filename_as_scheduled=_flag(data, "useFilenameAsScheduledDate", False),
        filename_format=_text(data, "filenameAsScheduledDateFormat"),
        filename_folders=tuple(map(str, folders)) if isinstance(folders, list) else (),
        next_occurrence_below=_flag(data, "recurrenceOnNextLine", False),
        drop_scheduled_on_recurrence=_flag(data, "removeScheduledDateOnRecurrence", False),
        presets=_presets(data),
        statuses=statuses_from_settings(data),
    )


def _presets(data: Mapping[str, Any]) -> Mapping[str, str]:
    # The key was called 'includes' before it was called 'presets'.
    for key in ("presets", "includes"):
        named = data.get(key)
        if isinstance(named, Mapping):
            return {str(name): text for name, text in named.items() if isinstance(text, str)}
    return DEFAULT_PRESETS


def _flag(data: Mapping[str, Any], key: str, default: bool) -> bool:
    value = data.get(key)
    return value if isinstance(value, bool) else default


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
