import pytest

from knapper_tasks.engine import Settings, TaskRow, parse_line, serialize, settings_from_data

EMOJI = Settings()
DATAVIEW = settings_from_data({"taskFormat": "dataview"})


def _read(line: str, settings: Settings = EMOJI) -> TaskRow:
    row = parse_line(line, settings)
    assert row is not None
    return row


@pytest.mark.parametrize("line", ["-[ ] a", "- [] a", "- [xx] a", "- a", "text [ ] a", "", "- [ a"])
def test_a_line_without_a_checkbox_is_no_task(line: str) -> None:
    assert parse_line(line, EMOJI) is None


def test_no_blank_is_needed_after_the_checkbox() -> None:
    assert _read("- [ ]text").description == "text"


def test_the_global_filter_is_a_plain_part_of_the_text() -> None:
    settings = settings_from_data({"globalFilter": "#task"})

    assert parse_line("- [ ] a", settings) is None
    assert _read("- [ ] a #tasks", settings).tags == ("#tasks",)
    assert _read("- [ ] a #task #b", settings).tags == ("#b",)
    assert _read("- [ ] a #task #b", settings).description == "a #task #b"


def test_text_after_a_field_makes_all_before_it_description() -> None:
    row = _read("- [ ] a 📅 2024-01-02 and more")

    assert (row.description, row.due) == ("a 📅 2024-01-02 and more", None)


def test_of_two_equal_fields_the_left_one_counts() -> None:
    assert _read("- [ ] a 📅 2024-01-02 📅 2024-01-03").due == "2024-01-02"


def test_a_day_that_does_not_exist_is_kept_as_written() -> None:
    row = _read("- [ ] a 📅 2024-02-30")

    assert row.due == "2024-02-30"
    assert serialize(row, EMOJI) == "- [ ] a 📅 2024-02-30"


def test_a_rule_that_is_not_understood_is_dropped() -> None:
    row = _read("- [ ] a 🔁 whenever 📅 2024-01-02")

    assert row.recurrence is None
    assert serialize(row, EMOJI) == "- [ ] a 📅 2024-01-02"


def test_fields_are_written_in_the_plugins_order() -> None:
    scattered = (
        "- [x] a ✅ 2024-01-06 ❌ 2024-01-07 📅 2024-01-05 ⏳ 2024-01-04 🛫 2024-01-03 ➕ 2024-01-02 "
        "🏁 delete 🔁 every day ⏫ ⛔ b,c 🆔 d ^block"
    )

    assert serialize(_read(scattered), EMOJI) == (
        "- [x] a 🆔 d ⛔ b,c ⏫ 🔁 every day 🏁 delete ➕ 2024-01-02 🛫 2024-01-03 ⏳ 2024-01-04 📅 2024-01-05 "
        "❌ 2024-01-07 ✅ 2024-01-06 ^block"
    )


def test_tags_between_fields_move_to_the_description() -> None:
    row = _read("- [ ] a 📅 2024-01-02 #b ⏫ #c/d")

    assert row.description == "a #b #c/d"
    assert row.tags == ("#b", "#c/d")


def test_a_number_is_a_tag_here() -> None:
    assert _read("- [ ] a #123 #日本").tags == ("#123", "#日本")


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("- [ ] a [due:: 2024-01-02]", "2024-01-02"),
        ("- [ ] a (due:: 2024-01-02)", "2024-01-02"),
        ("- [ ] a [due:: 2024-01-02],", "2024-01-02"),
        ("- [ ] a [due:: 2024-01-02)", None),
        ("- [ ] a 📅 2024-01-02", None),
        ("- [ ] a (see b) [x](y) [due:: 2024-01-02]", "2024-01-02"),
    ],
)
def test_dataview_fields_stand_in_brackets_that_match(line: str, due: str | None) -> None:
    assert _read(line, DATAVIEW).due == due


def test_dataview_fields_are_written_after_two_blanks() -> None:
    row = _read("- [ ] a [priority:: high] [repeat:: every Monday] [due:: 2024-01-02] ^x", DATAVIEW)

    assert serialize(row, DATAVIEW) == (
        "- [ ] a  [priority:: high]  [repeat:: every week on Monday]  [due:: 2024-01-02] ^x"
    )


def test_a_hard_break_survives_and_a_single_blank_does_not() -> None:
    assert serialize(_read("- [ ] a 📅 2024-01-02   "), EMOJI) == "- [ ] a 📅 2024-01-02   "
    assert serialize(_read("- [ ] a 📅 2024-01-02 "), EMOJI) == "- [ ] a 📅 2024-01-02"


def test_variation_selectors_after_emoji_are_read() -> None:
    row = _read("- [ ] a ⏫\ufe0f 🗓\ufe0f 2024-01-02 ⛔\ufe0f b")

    assert (row.priority_name, row.due, row.depends_on) == ("high", "2024-01-02", ("b",))


def test_statuses_come_from_the_settings_and_the_first_definition_counts() -> None:
    settings = settings_from_data(
        {
            "statusSettings": {
                "coreStatuses": [{"symbol": " ", "name": "Todo", "nextStatusSymbol": "x", "type": "TODO"}],
                "customStatuses": [
                    {"symbol": "w", "name": "Waiting", "nextStatusSymbol": " ", "type": "ON_HOLD"},
                    {"symbol": "w", "name": "Later", "nextStatusSymbol": " ", "type": "DONE"},
                    {"symbol": "", "name": "Nothing", "type": "TODO"},
                ],
            }
        }
    )

    row = _read("- [w] a", settings)

    assert (row.status_name, row.status_type) == ("Waiting", "ON_HOLD")
    assert _read("- [x] a", settings).status_name == "Unknown"
