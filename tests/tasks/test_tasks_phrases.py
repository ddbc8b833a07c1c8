from datetime import date

import pytest

from knapper_tasks.engine import parse_range

FRIDAY = date(2024, 3, 15)


@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("today", "2024-03-15", "2024-03-15"),
        ("tomorrow", "2024-03-16", "2024-03-16"),
        ("monday", "2024-03-18", "2024-03-18"),
        ("next monday", "2024-03-18", "2024-03-18"),
        ("last monday", "2024-03-04", "2024-03-04"),
        ("this saturday", "2024-03-16", "2024-03-16"),
        ("friday next week", "2024-03-18", "2024-03-24"),
        ("next weekend", "2024-03-18", "2024-03-24"),
        ("in two weeks", "2024-03-29", "2024-03-29"),
        ("3 months ago", "2023-12-15", "2023-12-15"),
        ("2 days from now", "2024-03-17", "2024-03-17"),
        ("a couple of days ago", "2024-03-13", "2024-03-13"),
        ("25th may 2023", "2023-05-25", "2023-05-25"),
        ("first of april", "2024-04-01", "2024-04-01"),
        ("in May", "2024-05-01", "2024-05-01"),
        ("November", "2023-11-01", "2023-11-01"),
        ("Friday, 5 May 2023", "2023-05-05", "2023-05-05"),
        ("2024-03-10 at 10:00", "2024-03-10", "2024-03-10"),
        ("5 May to 8 May 2026", "2026-05-05", "2026-05-05"),
        ("2024-02-30 2024-03-01", "2024-03-01", "2024-03-01"),
        ("2024-Q1", "2024-01-01", "2024-03-31"),
        ("this quarter", "2024-01-01", "2024-03-31"),
    ],
)
def test_phrases_are_ranges_of_days(phrase: str, start: str, end: str) -> None:
    days = parse_range(phrase, FRIDAY)

    assert days is not None
    assert (days.start.isoformat(), days.end.isoformat()) == (start, end)


@pytest.mark.parametrize(
    "phrase",
    ["", "weekend", "end of month", "20240310", "two weeks", "2024-02-30", "99999 years ago", "1.2.3"],
)
def test_what_is_no_date_is_not_understood(phrase: str) -> None:
    assert parse_range(phrase, FRIDAY) is None
