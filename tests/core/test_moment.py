"""Moment formats: what moment.js 2.31 writes and reads, and the habits that Obsidian leans on."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from knapper.vault import moment

RECORDED = Path(__file__).parents[3] / "shared" / "conformance" / "moment-format.json"
TUESDAY = datetime(2024, 3, 5, 14, 7, 9, 42_000, tzinfo=UTC)


def recorded_cases() -> list[dict[str, Any]]:
    if not RECORDED.exists():
        return []
    cases: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))["cases"]
    return cases


@pytest.mark.skipif(not RECORDED.exists(), reason="the recording is not here")
def test_writes_and_reads_what_moment_does() -> None:
    assert [case["id"] for case in recorded_cases() if answer(case["input"]) != case["expected"]] == []


def answer(given: dict[str, Any]) -> str | None:
    if "text" in given:
        found = moment.parse(given["text"], given["format"], strict=given["strict"])
        return found.date().isoformat() if found else None
    return moment.format(datetime.fromisoformat(given["date"]).astimezone(UTC), given["format"])


@pytest.mark.parametrize(
    ("fmt", "written"),
    [
        ("dddd D. MMM YY", "Tuesday 5. Mar 24"),
        ("[Week] w, [day] d/e/E", "Week 10, day 2/2/2"),
        ("hmm Hmmss k", "207 140709 14"),
        ("S SS SSSS", "0 04 0420"),
        ("x X", "1709647629042 1709647629"),
        ("LLLL", "Tuesday, March 5, 2024 2:07 PM"),
        ("llll", "Tue, Mar 5, 2024 2:07 PM"),
        ("\\D\\o", "Do"),
        ("YYYYYY NNNN yo", "+002024 Anno Domini 2024th"),
        ("z/zz/ZZ", "UTC/Coordinated Universal Time/+0000"),
    ],
)
def test_writes_every_kind_of_token(fmt: str, written: str) -> None:
    assert moment.format(TUESDAY, fmt) == written


def test_weeks_follow_the_rules_that_are_given() -> None:
    sunday = datetime(2024, 1, 7)
    assert moment.format(sunday, "gggg-[W]ww e") == "2024-W02 0"
    assert moment.format(sunday, "gggg-[W]ww e", week=moment.Week(1, 4)) == "2024-W01 6"
    assert moment.format(sunday, "gggg-[W]ww L", locale="en-gb") == "2024-W01 07/01/2024"


def test_an_unknown_locale_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no moment locale 'tlh'; known are en, en-gb"):
        moment.format(TUESDAY, "MMMM", locale="tlh")


@pytest.mark.parametrize(
    ("text", "fmt", "read"),
    [
        ("2024-03-05", "YYYY-MM-DD", datetime(2024, 3, 5)),
        ("2024-W10", "gggg-[W]ww", datetime(2024, 3, 3)),
        ("2024-W10", "GGGG-[W]WW", datetime(2024, 3, 4)),
        ("2024-Q2", "YYYY-[Q]Q", datetime(2024, 4, 1)),
        ("2024", "YYYY", datetime(2024, 1, 1)),
        ("2024/03-March/2024-03-05-Tuesday", "YYYY/MM-MMMM/YYYY-MM-DD-dddd", datetime(2024, 3, 5)),
        ("202403051407", "YYYYMMDDHHmm", datetime(2024, 3, 5, 14, 7)),
        ("5 Mar 69, 2:07 pm", "D MMM YY, h:mm a", datetime(1969, 3, 5, 14, 7)),
        ("12:30 AM", "h:mm A", datetime(2024, 2, 29, 0, 30)),
        ("2024 065", "YYYY DDDD", datetime(2024, 3, 5)),
        ("1709647629", "X", datetime(2024, 3, 5, 14, 7, 9, tzinfo=UTC)),
        (
            "2024-03-05T14:07+02:00",
            "YYYY-MM-DDTHH:mmZ",
            datetime(2024, 3, 5, 14, 7, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("2024-03-05 24:00", "YYYY-MM-DD HH:mm", datetime(2024, 3, 6)),
    ],
)
def test_reads_what_fits_the_format(text: str, fmt: str, read: datetime) -> None:
    assert moment.parse(text, fmt, today=date(2024, 2, 29)) == read


@pytest.mark.parametrize(
    ("text", "fmt"),
    [
        ("2024-3-5", "YYYY-MM-DD"),
        ("2024-02-30", "YYYY-MM-DD"),
        ("2024-03-05 Monday", "YYYY-MM-DD dddd"),
        ("2024-03-05 extra", "YYYY-MM-DD"),
        ("2024-W54", "gggg-[W]ww"),
        ("13:00 pm", "h:mm a"),
        ("Notes", "YYYY"),
        ("2024-13", "YYYY-MM"),
    ],
)
def test_reads_nothing_from_what_does_not_fit(text: str, fmt: str) -> None:
    assert moment.parse(text, fmt) is None


def test_forgiving_reading_skips_what_the_format_does_not_name() -> None:
    assert moment.parse("on 5/3/2024, maybe", "DD-MM-YYYY", strict=False) == datetime(2024, 3, 5)


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(seconds=44), "a few seconds"),
        (timedelta(seconds=45), "a minute"),
        (timedelta(minutes=44), "44 minutes"),
        (timedelta(minutes=45), "an hour"),
        (timedelta(hours=22), "a day"),
        (timedelta(days=14), "14 days"),
        (timedelta(days=26), "a month"),
        (timedelta(days=320), "a year"),
        (timedelta(days=-800), "2 years"),
    ],
)
def test_says_durations_like_moment(length: timedelta, said: str) -> None:
    assert moment.humanize(length / timedelta(milliseconds=1)) == said


def test_says_how_far_a_moment_is_and_in_which_direction() -> None:
    now = datetime(2026, 6, 10, 17, 17, 8)
    assert moment.relative(datetime(2100, 1, 1), now) == "in 74 years"
    assert moment.relative(datetime(2026, 6, 7), now) == "4 days ago"
    assert moment.relative(now, now) == "a few seconds ago"
