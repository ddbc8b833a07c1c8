from __future__ import annotations

from typing import Any, ClassVar

import pytest

from knapper import Context, Domain, Page, Record, ToolError
from knapper.page import Paged
from knapper.testing import Calls, check_domain

lists = Domain("lists", summary="Lists of several kinds.")


class Hit(Record):
    path: str
    line: int
    score: float
    snippet: str | None = None


class Count(Record):
    tag: str
    count: int


class Job(Record):
    terse: ClassVar[tuple[str, ...]] = ("path", "line", "what")
    path: str
    line: int
    what: str
    due: str | None = None


class Totals(Paged[Count], kw_only=True):
    summed: int


@lists.tool("read:notes")
def find_hits(ctx: Context, page: Page = Page()) -> Page.Of[Hit]:
    """Find hits."""
    hits = [Hit(path=f"{n}.md", line=n, score=n / 2, snippet="x" if n else None) for n in range(3)]
    return page.cut(hits, key=lambda hit: hit.path)


@lists.tool("read:notes")
def list_counts(ctx: Context) -> Totals:
    """List counts."""
    return Totals(items=[Count(tag="a", count=2)], summed=2)


@lists.tool("read:notes")
def list_jobs(ctx: Context, page: Page = Page()) -> Page.Of[Job]:
    """List jobs."""
    return page.of([Job(path="a.md", line=1, what="do", due="2026-01-01")], 1, overflow=True)


@lists.tool("read:notes")
def read_one(ctx: Context) -> Count:
    """Read one."""
    return Count(tag="a", count=1)


def test_a_terse_list_keeps_path_score_and_snippet(call: Calls) -> None:
    full = call(lists, "find_hits", limit=2)
    terse = call(lists, "find_hits", limit=2, verbosity="terse")
    assert full["items"][1] == {"path": "1.md", "line": 1, "score": 0.5, "snippet": "x"}
    assert terse["items"] == [{"path": "0.md", "score": 0.0}, {"path": "1.md", "score": 0.5, "snippet": "x"}]
    assert terse["total_count"] == 3


def test_a_cursor_leads_on_whether_the_next_page_is_terse_or_not(call: Calls) -> None:
    first = call(lists, "find_hits", limit=2)
    rest = call(lists, "find_hits", limit=2, cursor=first["cursor"], verbosity="terse")
    assert [item["path"] for item in rest["items"]] == ["2.md"]


def test_items_without_a_path_keep_what_they_are(call: Calls) -> None:
    assert call(lists, "list_counts", verbosity="terse") == {"items": [{"tag": "a"}], "summed": 2}


def test_a_record_can_say_what_its_terse_form_keeps(call: Calls) -> None:
    got = call(lists, "list_jobs", verbosity="terse")
    assert got == {"items": [{"path": "a.md", "line": 1, "what": "do"}], "overflow": True, "total_count": 1}


def test_a_terse_answer_keeps_to_the_output_schema() -> None:
    item = lists.tools["find_hits"].output_schema["properties"]["items"]["items"]
    assert item["required"] == ["path", "score"]
    assert set(item["properties"]) == {"path", "line", "score", "snippet"}


def test_only_lists_have_a_verbosity(call: Calls) -> None:
    wanted: dict[str, Any] = {"type": "string", "enum": ["full", "terse"], "default": "full"}
    assert lists.tools["list_counts"].input_schema["properties"]["verbosity"] == wanted
    with pytest.raises(ToolError) as error:
        call(lists, "read_one", verbosity="terse")
    assert (error.value.code, error.value.message) == (
        "validation_error",
        "verbosity: is not a parameter; it takes vault",
    )


def test_the_schemas_stay_portable() -> None:
    check_domain(lists)
