from datetime import date

import pytest

from knapper_tasks.engine import Settings, settings_from_data, toggle_line
from knapper_tasks.engine.rules import canonical_rule

TODAY = date(2024, 3, 15)


def _toggled(line: str, to: str | None = None, **data: object) -> list[str]:
    return toggle_line(line, settings_from_data(data), TODAY, to)


def test_completing_writes_the_day_and_reopening_takes_it_away() -> None:
    assert _toggled("- [ ] a") == ["- [x] a ✅ 2024-03-15"]
    assert _toggled("- [x] a ✅ 2024-03-15") == ["- [ ] a"]


def test_the_day_is_left_out_where_the_settings_say_so() -> None:
    assert _toggled("- [ ] a", setDoneDate=False) == ["- [x] a"]
    assert _toggled("- [ ] a", to="-", setCancelledDate=False) == ["- [-] a"]


def test_setting_the_status_a_task_has_changes_nothing() -> None:
    assert _toggled("- [x] a ✅ 2020-01-01", to="x") == ["- [x] a ✅ 2020-01-01"]


def test_the_next_occurrence_has_no_block_link_no_id_and_no_dependencies() -> None:
    assert _toggled("- [ ] a 🆔 b ⛔ c 🔁 every day ➕ 2024-01-01 📅 2024-03-01 ^x") == [
        "- [ ] a 🔁 every day 📅 2024-03-02",
        "- [x] a 🆔 b ⛔ c 🔁 every day ➕ 2024-01-01 📅 2024-03-01 ✅ 2024-03-15 ^x",
    ]


def test_the_next_occurrence_is_created_today_where_the_settings_ask_for_it() -> None:
    assert _toggled("- [ ] a 🔁 every day 📅 2024-03-01", setCreatedDate=True)[0] == (
        "- [ ] a 🔁 every day ➕ 2024-03-15 📅 2024-03-02"
    )


def test_the_scheduled_date_goes_where_the_settings_drop_it() -> None:
    line = "- [ ] a 🔁 every day 🛫 2024-03-01 ⏳ 2024-03-05"

    assert _toggled(line, removeScheduledDateOnRecurrence=True)[0] == "- [ ] a 🔁 every day 🛫 2024-03-02"
    assert _toggled(line)[0] == "- [ ] a 🔁 every day 🛫 2024-03-02 ⏳ 2024-03-06"


def test_the_completed_line_goes_where_the_task_says_so() -> None:
    assert _toggled("- [ ] a 🏁 delete") == []
    assert _toggled("- [ ] a 🔁 every day 🏁 delete 📅 2024-03-01") == [
        "- [ ] a 🔁 every day 🏁 delete 📅 2024-03-02"
    ]
    assert _toggled("- [ ] a 🏁 delete", to="-") == ["- [-] a 🏁 delete ❌ 2024-03-15"]


def test_the_next_occurrence_takes_the_first_open_status_that_follows() -> None:
    custom = [
        {"symbol": "x", "name": "Done", "nextStatusSymbol": "w", "type": "DONE"},
        {"symbol": "w", "name": "Waiting", "nextStatusSymbol": "!", "type": "ON_HOLD"},
        {"symbol": "!", "name": "Important", "nextStatusSymbol": "x", "type": "TODO"},
    ]

    assert _toggled("- [!] a 🔁 every day 📅 2024-03-01", statusSettings={"customStatuses": custom}) == [
        "- [!] a 🔁 every day 📅 2024-03-02",
        "- [x] a 🔁 every day 📅 2024-03-01 ✅ 2024-03-15",
    ]


def test_without_the_global_filter_only_the_checkbox_changes() -> None:
    assert _toggled("- [ ] a 🔁 every day 📅 2024-03-01", globalFilter="#task") == [
        "- [x] a 🔁 every day 📅 2024-03-01"
    ]


def test_a_rule_that_never_comes_true_again_leaves_one_line() -> None:
    assert _toggled("- [ ] a 🔁 every February on the 30th 📅 2024-03-01") == [
        "- [x] a 🔁 every February on the 30th 📅 2024-03-01 ✅ 2024-03-15"
    ]
    assert _toggled("- [ ] a 🔁 every day until March 1, 2024 📅 2024-03-01") == [
        "- [x] a 🔁 every day until March 1, 2024 📅 2024-03-01 ✅ 2024-03-15"
    ]


@pytest.mark.parametrize(
    ("rule", "due", "following"),
    [
        ("every month", "2024-01-31", "2024-02-29"),
        ("every month on the 31st", "2024-01-31", "2024-03-31"),
        ("every month on the last", "2024-01-31", "2024-02-29"),
        ("every weekday", "2024-03-15", "2024-03-18"),
        ("every 2 weeks on Monday, Friday", "2024-03-15", "2024-03-25"),
        ("every year", "2024-02-29", "2025-02-28"),
        ("every April and December on the 1st and 24th", "2024-04-24", "2024-12-01"),
        ("every month on the 2nd last Friday", "2024-03-22", "2024-04-19"),
        ("every hour", "2024-03-15", "2024-03-16"),
    ],
)
def test_rules_lead_to_their_next_day(rule: str, due: str, following: str) -> None:
    assert toggle_line(f"- [ ] a 🔁 {rule} 📅 {due}", Settings(), TODAY)[0] == (
        f"- [ ] a 🔁 {rule} 📅 {following}"
    )


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("every Monday", "every week on Monday"),
        ("every mon, wed and fri", "every week on Monday, Wednesday, Friday"),
        ("every 2 weekdays", "every 2 weeks on weekdays"),
        ("every year on February the 29th when done", "every February on the 29th when done"),
        ("every month on the third Thursday", "every month on the 3rd Thursday"),
        ("EVERY 1 DAY", "every day"),
        ("every week for 3 times", "every week for 3 times"),
        ("every day and so on", "every day"),
        ("every other day", None),
        ("every", None),
        ("daily", None),
    ],
)
def test_rules_are_rewritten_in_one_way(written: str, canonical: str | None) -> None:
    assert canonical_rule(written) == canonical
