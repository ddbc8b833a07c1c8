import json

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_periodic import periodic


def test_without_settings_a_daily_note_is_in_the_root(call: Calls, vault: VaultFolder) -> None:
    found = call(periodic, "get_periodic_note", period="daily", date="2026-03-05")
    assert found == {"period": "daily", "date": "2026-03-05", "path": "2026-03-05.md", "exists": False}


@pytest.mark.parametrize(
    ("period", "path", "start"),
    [
        ("weekly", "2026-W10.md", "2026-03-01"),
        ("monthly", "2026-03.md", "2026-03-01"),
        ("quarterly", "2026-Q1.md", "2026-01-01"),
        ("yearly", "2026.md", "2026-01-01"),
    ],
)
def test_the_default_names_of_the_other_periods(
    call: Calls, vault: VaultFolder, period: str, path: str, start: str
) -> None:
    found = call(periodic, "get_periodic_note", period=period, date="2026-03-05")
    assert (found["path"], found["date"]) == (path, start)


def test_folder_format_and_template_come_from_the_vault(call: Calls, vault: VaultFolder) -> None:
    vault[".obsidian/daily-notes.json"] = json.dumps(
        {"folder": "Daily", "format": "YYYY/MM/YYYY-MM-DD", "template": "T/Day"}
    )
    vault["T/Day.md"] = "# {{title}}\n{{date:dddd}} {{yesterday}} {{date+1d:YYYY-MM-DD}} {{other}} <% tp %>\n"
    made = call(periodic, "create_periodic_note", period="daily", date="2026-03-05")
    assert (made["path"], made["template_used"]) == ("Daily/2026/03/2026-03-05.md", "T/Day.md")
    assert vault["Daily/2026/03/2026-03-05.md"] == (
        "# 2026-03-05\nThursday 2026/03/2026-03-04 2026-03-06 {{other}} <% tp %>\n"
    )
    with pytest.raises(ToolError) as refused:
        call(periodic, "create_periodic_note", period="daily", date="2026-03-05")
    assert refused.value.code == "note_exists"


@pytest.mark.parametrize(
    "data",
    [
        {"weekly": {"enabled": True, "format": "GGGG-[KW]WW", "folder": "W", "template": ""}},
        {
            "activeCalendarSet": "b",
            "calendarSets": [
                {"id": "a"},
                {"id": "b", "week": {"enabled": True, "format": "GGGG-[KW]WW", "folder": "W"}},
            ],
        },
    ],
)
def test_both_forms_of_the_periodic_notes_settings_are_read(
    call: Calls, vault: VaultFolder, data: dict[str, object]
) -> None:
    vault[".obsidian/plugins/periodic-notes/data.json"] = json.dumps(data)
    assert call(periodic, "get_periodic_note", period="weekly", date="2026-03-05")["path"] == "W/2026-KW10.md"


def test_the_week_begins_where_the_calendar_says(call: Calls, vault: VaultFolder) -> None:
    vault[".obsidian/plugins/calendar/data.json"] = json.dumps({"weekStart": "monday"})
    vault[".obsidian/plugins/periodic-notes/data.json"] = json.dumps({"weekly": {"template": "T"}})
    vault["T.md"] = "{{monday:MM-DD}} {{sunday:MM-DD}}"
    made = call(periodic, "create_periodic_note", period="weekly", date="2026-03-05")
    assert (made["date"], vault[made["path"]]) == ("2026-03-02", "03-02 03-08")


def test_a_note_is_found_or_created_once(call: Calls, vault: VaultFolder) -> None:
    first = call(periodic, "find_or_create_periodic_note", period="daily", date="2026-03-05")
    vault["2026-03-05.md"] = "---\nmood: 7\n---\nhand\n"
    second = call(periodic, "find_or_create_periodic_note", period="daily", date="2026-03-05")
    assert (first["created"], second["created"], second["frontmatter"]) == (True, False, {"mood": 7})


def test_text_is_added_under_a_heading_and_nowhere_else(call: Calls, vault: VaultFolder) -> None:
    vault["2026-03-05.md"] = "# A\n\none\n\n# B\n\ntwo\n"
    call(
        periodic, "append_to_periodic_note", period="daily", date="2026-03-05", content="- more", heading="A"
    )
    assert vault["2026-03-05.md"] == "# A\n\none\n- more\n\n# B\n\ntwo\n"
    with pytest.raises(ToolError) as refused:
        call(periodic, "append_to_periodic_note", period="daily", date="2026-03-05", content="x", heading="C")
    assert refused.value.code == "invalid_input"


def test_appending_creates_a_missing_note_and_the_same_key_adds_once(call: Calls, vault: VaultFolder) -> None:
    for _ in range(2):
        done = call(
            periodic,
            "append_to_periodic_note",
            period="daily",
            date="2026-03-05",
            content="x",
            idempotency_key="k",
        )
    assert (done["created"], vault["2026-03-05.md"]) == (True, "x\n")


def test_notes_of_a_period_are_listed_by_date_and_others_are_not(call: Calls, vault: VaultFolder) -> None:
    for name in ("2026-03-05", "2026-02-01", "2025-12-31", "2026-03", "2026-13-01", "notes"):
        vault[f"{name}.md"] = ""
    listed = call(periodic, "list_periodic_notes", period="daily", from_="2026-01-01")
    assert [n["path"] for n in listed["items"]] == ["2026-02-01.md", "2026-03-05.md"]
    assert [n["path"] for n in call(periodic, "list_periodic_notes", period="monthly")["items"]] == [
        "2026-03.md"
    ]


def test_a_period_whose_folder_is_closed_is_refused(call: Calls, vault: VaultFolder) -> None:
    call.settings["acl"] = {"write_paths": ["open/**"]}
    with pytest.raises(ToolError) as refused:
        call(periodic, "create_periodic_note", period="daily", date="2026-03-05")
    assert refused.value.code == "acl_denied"
    assert dict(vault) == {}


def test_a_day_that_does_not_exist_is_refused(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(periodic, "get_periodic_note", period="daily", date="2026-02-30")
    assert refused.value.code == "invalid_input"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(periodic)
