"""Where periodic notes go and how they begin is what Obsidian's own settings say, whichever plugin has them."""

import json
from shutil import copyfile, copytree
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_periodic import periodic
from tests.known_vaults import real_folder

DAILY, PERIODIC = ".obsidian/daily-notes.json", ".obsidian/plugins/periodic-notes/data.json"
CALENDAR = ".obsidian/plugins/calendar/data.json"
PERIODS = ("daily", "weekly", "monthly", "quarterly", "yearly")


def path_of(call: Calls, period: str, day: str) -> str:
    found: str = call(periodic, "get_periodic_note", period=period, date=day)["path"]
    return found


def made(call: Calls, vault: VaultFolder, period: str, day: str, template: str) -> str:
    vault["T.md"] = template
    done = call(periodic, "create_periodic_note", period=period, date=day, template_override="T")
    return vault[done["path"]]


def test_every_period_has_its_own_folder_format_and_template(call: Calls, vault: VaultFolder) -> None:
    vault[PERIODIC] = json.dumps(
        {
            "showGettingStartedBanner": False,
            "daily": {"enabled": True, "format": "YYYY/[d]DDDD", "folder": "D/", "template": "T/d.md"},
            "weekly": {"enabled": True, "format": "", "folder": "/W", "template": "T/w"},
            "monthly": {"enabled": True, "format": "YYYY-MM MMMM", "folder": "M/N", "template": "T/m"},
            "quarterly": {"enabled": True, "format": "Q. [Quarter] YYYY", "folder": "", "template": "T/q"},
            "yearly": {"enabled": True, "format": "[Year] YYYY", "folder": "Y", "template": "T/y"},
        }
    )
    for letter in "dwmqy":
        vault[f"T/{letter}.md"] = f"{letter} {{{{date}}}}"
    done = [call(periodic, "create_periodic_note", period=period, date="2026-03-05") for period in PERIODS]
    assert [(one["path"], one["template_used"], vault[one["path"]]) for one in done] == [
        ("D/2026/d064.md", "T/d.md", "d 2026/d064"),
        ("W/2026-W10.md", "T/w.md", "w 2026-W10"),
        ("M/N/2026-03 March.md", "T/m.md", "m 2026-03 March"),
        ("1. Quarter 2026.md", "T/q.md", "q 1. Quarter 2026"),
        ("Y/Year 2026.md", "T/y.md", "y Year 2026"),
    ]
    listed = [call(periodic, "list_periodic_notes", period=period)["items"] for period in PERIODS]
    assert [(one["path"], one["date"]) for (one,) in listed] == [
        ("D/2026/d064.md", "2026-03-05"),
        ("W/2026-W10.md", "2026-03-01"),
        ("M/N/2026-03 March.md", "2026-03-01"),
        ("1. Quarter 2026.md", "2026-01-01"),
        ("Y/Year 2026.md", "2026-01-01"),
    ]


SET = {"day": {"enabled": True, "format": "DD.MM.YYYY", "folder": "Set", "templatePath": "T/set"}}


@pytest.mark.parametrize(
    ("plugin", "enabled", "path"),
    [
        ({"daily": {"enabled": True, "folder": "Plugin"}}, None, "Plugin/2026-03-05.md"),
        ({"daily": {"enabled": True, "folder": "Plugin"}}, ["periodic-notes"], "Plugin/2026-03-05.md"),
        ({"daily": {"enabled": True, "folder": "Plugin"}}, ["dataview"], "Core/5 March.md"),
        ({"daily": {"enabled": False, "folder": "Plugin"}}, None, "Core/5 March.md"),
        ({"calendarSets": [SET | {"id": "a"}], "activeCalendarSet": "a"}, None, "Set/05.03.2026.md"),
        ({"calendarSets": [{"id": "a"}], "activeCalendarSet": "a"}, None, "Core/5 March.md"),
        ({"daily": "broken", "calendarSets": "broken"}, None, "Core/5 March.md"),
        ({}, None, "Core/5 March.md"),
    ],
)
def test_periodic_notes_counts_where_it_is_in_use_and_else_daily_notes(
    call: Calls, vault: VaultFolder, plugin: dict[str, Any], enabled: list[str] | None, path: str
) -> None:
    vault[DAILY] = json.dumps({"folder": "Core", "format": "D MMMM"})
    vault[PERIODIC] = json.dumps(plugin)
    if enabled is not None:
        vault[".obsidian/community-plugins.json"] = json.dumps(enabled)
    assert path_of(call, "daily", "2026-03-05") == path


@pytest.mark.parametrize(
    "broken", ["", "{", "[1]", '{"folder": 7, "format": ["x"], "template": {}}', "\ufeff{}"]
)
def test_settings_that_cannot_be_read_leave_the_defaults(
    call: Calls, vault: VaultFolder, broken: str
) -> None:
    vault[DAILY] = vault[PERIODIC] = vault[CALENDAR] = broken
    assert path_of(call, "daily", "2026-03-05") == "2026-03-05.md"
    assert path_of(call, "weekly", "2026-03-05") == "2026-W10.md"


@pytest.mark.parametrize(
    ("calendar", "day", "path", "start"),
    [
        ({}, "2021-01-01", "2021-W01.md", "2020-12-27"),
        (
            {"localeOverride": "system-default", "weekStart": "locale"},
            "2021-01-01",
            "2021-W01.md",
            "2020-12-27",
        ),
        ({"weekStart": "monday"}, "2021-01-01", "2021-W01.md", "2020-12-28"),
        ({"weekStart": "saturday"}, "2021-01-01", "2020-W52.md", "2020-12-26"),
        ({"localeOverride": "de"}, "2021-01-01", "2020-W53.md", "2020-12-28"),
        ({"localeOverride": "de", "weekStart": "locale"}, "2021-01-03", "2020-W53.md", "2020-12-28"),
        ({"localeOverride": "de", "weekStart": "sunday"}, "2021-01-03", "2021-W01.md", "2021-01-03"),
        ({"localeOverride": "en-GB"}, "2021-01-01", "2020-W53.md", "2020-12-28"),
        ({"localeOverride": "de-LU"}, "2021-01-01", "2020-W53.md", "2020-12-28"),
        ({"localeOverride": "ar"}, "2021-01-01", "2021-W01.md", "2020-12-26"),
        ({"localeOverride": "tr"}, "2021-01-01", "2021-W01.md", "2020-12-28"),
        ({"localeOverride": "tlh-nowhere"}, "2021-01-01", "2020-W53.md", "2020-12-28"),
        ({"localeOverride": "nowhere"}, "2021-01-01", "2021-W01.md", "2020-12-27"),
        ({"localeOverride": 7, "weekStart": 7}, "2021-01-01", "2021-W01.md", "2020-12-27"),
    ],
)
def test_weeks_are_those_of_the_locale_and_first_day_that_the_calendar_is_set_to(
    call: Calls, vault: VaultFolder, calendar: dict[str, Any], day: str, path: str, start: str
) -> None:
    vault[CALENDAR] = json.dumps(calendar)
    found = call(periodic, "get_periodic_note", period="weekly", date=day)
    assert (found["path"], found["date"]) == (path, start)


def test_a_calendar_that_is_switched_off_rules_nothing(call: Calls, vault: VaultFolder) -> None:
    vault[CALENDAR] = json.dumps({"localeOverride": "de"})
    vault[".obsidian/community-plugins.json"] = "[]"
    assert path_of(call, "weekly", "2021-01-01") == "2021-W01.md"


def test_names_by_iso_weeks_do_not_ask_the_locale(call: Calls, vault: VaultFolder) -> None:
    vault[PERIODIC] = json.dumps({"weekly": {"enabled": True, "format": "GGGG-[W]WW"}})
    assert path_of(call, "weekly", "2021-01-03") == "2020-W53.md"


def test_daily_notes_are_begun_with_the_formats_of_the_templates_plugin(
    call: Calls, vault: VaultFolder
) -> None:
    vault[DAILY] = json.dumps({"format": "YYYY/MM/YYYY-MM-DD"})
    template = "{{title}}|{{date}}|{{ DATE : DD.MM. }}|{{date:[at] dddd}}|{{time:[t]}}"
    assert made(call, vault, "daily", "2026-03-05", template) == (
        "2026-03-05|2026-03-05|05.03.|at Thursday|t"
    )
    vault[".obsidian/templates.json"] = json.dumps({"dateFormat": "D. M.", "timeFormat": "[half past]"})
    assert made(call, vault, "daily", "2026-03-06", template + "{{time}}") == (
        "2026-03-06|6. 3.|06.03.|at Friday|thalf past"
    )


@pytest.mark.parametrize(
    ("period", "template", "text"),
    [
        ("daily", "{{yesterday}} {{tomorrow}}", "2026-03-04 2026-03-06"),
        ("daily", "{{date+1d}} {{date-2w}} {{date+1y}}", "2026-03-06 2026-02-19 2027-03-05"),
        ("daily", "{{date+1M:MM-DD}} {{date+1q:MM-DD}}", "04-05 06-05"),
        ("daily", "{{date+0s:YYYY}} {{date +90m:[x]}} {{time-1h:[y]}}", "2026 x y"),
        (
            "daily",
            "{{monday:DD}} {{month}} {{week}} {{title:x}}",
            "{{monday:DD}} {{month}} {{week}} {{title:x}}",
        ),
        ("daily", "{{date}", "{{date}"),
        ("weekly", "{{monday:DD}} {{Saturday:DD.MM.}} {{sunday: D }}", "02 07.03. 1"),
        ("weekly", "{{title}} {{date}} {{date:MM-DD}}", "2026-W10 2026-W10 03-01"),
        ("weekly", "{{monday}} {{yesterday}}", "{{monday}} {{yesterday}}"),
        ("monthly", "{{month}} {{month+1M}} {{month-1y:YYYY}}", "2026-03 2026-04 2025"),
        ("monthly", "{{quarter}} {{year}}", "{{quarter}} {{year}}"),
        ("quarterly", "{{quarter}} {{quarter+1Q}} {{quarter:MMMM}}", "2026-Q1 2026-Q2 January"),
        ("yearly", "{{year}} {{year-1y}} {{year+1M:MMMM}}", "2026 2025 February"),
        ("yearly", "<% tp.date.now() %> {{VALUE}}", "<% tp.date.now() %> {{VALUE}}"),
    ],
)
def test_templates_are_filled_with_what_each_period_knows_and_the_rest_stays(
    call: Calls, vault: VaultFolder, period: str, template: str, text: str
) -> None:
    assert made(call, vault, period, "2026-03-05", template) == text


def test_m_is_a_minute_and_capital_m_a_month(call: Calls, vault: VaultFolder) -> None:
    text = made(call, vault, "daily", "2026-03-05", "{{date+1440m:DD}} {{date+1M:DD}}")
    assert text == "06 05"


@pytest.mark.parametrize("shift", ["+9999y", "-9999y", "+99999999999d", "+999999999999999999999w"])
def test_a_template_that_leaves_the_calendar_is_refused_and_makes_no_note(
    call: Calls, vault: VaultFolder, shift: str
) -> None:
    with pytest.raises(ToolError) as refused:
        made(call, vault, "daily", "2026-03-05", f"{{{{date{shift}}}}}")
    assert refused.value.code == "invalid_input"
    assert list(vault) == ["T.md"]


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("period", PERIODS)
def test_the_ends_of_the_calendar_are_refused(call: Calls, period: str, day: str) -> None:
    with pytest.raises(ToolError) as refused:
        call(periodic, "get_periodic_note", period=period, date=day)
    assert refused.value.code == "invalid_input"


def test_names_past_the_calendar_are_no_periodic_notes(call: Calls, vault: VaultFolder) -> None:
    for name in ("0000-W01", "0001-W01", "9999-W54", "0000-00-00", "0000", "0000-Q1", "99999", "2026"):
        vault[f"{name}.md"] = ""
    listed = [call(periodic, "list_periodic_notes", period=period)["items"] for period in PERIODS]
    assert [[one["path"] for one in items] for items in listed] == [[], [], [], [], ["2026.md"]]


def test_a_missing_template_makes_no_note(call: Calls, vault: VaultFolder) -> None:
    vault[DAILY] = json.dumps({"template": "gone"})
    for tool, more in (("create_periodic_note", {}), ("append_to_periodic_note", {"content": "x"})):
        with pytest.raises(ToolError) as refused:
            call(periodic, tool, period="daily", date="2026-03-05", **more)
        assert refused.value.code == "note_not_found"
    assert list(vault) == [DAILY]


def test_text_for_a_heading_that_the_template_lacks_makes_no_note(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(
            periodic, "append_to_periodic_note", period="daily", date="2026-03-05", content="x", heading="Log"
        )
    assert refused.value.code == "invalid_input"
    assert list(vault) == []
    vault[DAILY] = json.dumps({"template": "T"})
    vault["T.md"] = "# Log\n\n# End\n"
    done = call(
        periodic, "append_to_periodic_note", period="daily", date="2026-03-05", content="- x", heading="Log"
    )
    assert (done["created"], vault["2026-03-05.md"]) == (True, "# Log\n- x\n\n# End\n")
    assert done["appended_bytes"] == len("- x\n")


def test_a_real_vaults_daily_notes_are_found_where_its_settings_say(call: Calls, vault: VaultFolder) -> None:
    copytree(real_folder("kepano"), vault.path, dirs_exist_ok=True, copy_function=copyfile)
    listed = call(periodic, "list_periodic_notes", period="daily")["items"]
    assert [(one["date"], one["path"]) for one in listed] == [
        ("2023-09-12", "Daily/2023-09-12.md"),
        ("2023-09-30", "Daily/2023-09-30.md"),
    ]
    done = call(periodic, "create_periodic_note", period="daily", date="2026-03-05")
    assert (done["path"], done["template_used"]) == (
        "Daily/2026-03-05.md",
        "Templates/Daily Note Template.md",
    )
    assert "{{" not in vault["Daily/2026-03-05.md"]
