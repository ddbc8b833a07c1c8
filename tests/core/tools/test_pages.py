"""Cursors: they survive inserts and deletes, belong to one call, and cannot be made up."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper import Context, Domain, Page, ToolError
from knapper.testing import Calls

shelf = Domain("shelf", summary="A shelf of words.")
words = ["ash", "birch", "cedar", "elm", "fir"]


@shelf.tool("read:notes")
def browse(ctx: Context, starts: str = "", page: Page = Page()) -> Page.Of[str]:
    """Browse the words."""
    return page.cut(sorted(word for word in words if word.startswith(starts)), key=str)


def refusal(call: Calls, **arguments: Any) -> str:
    with pytest.raises(ToolError) as raised:
        call(shelf, "browse", **arguments)
    assert (raised.value.code, raised.value.details) == ("invalid_input", {"field": "cursor"})
    return raised.value.message


def test_pages_follow_each_other_and_the_last_has_no_cursor(call: Calls) -> None:
    first = call(shelf, "browse", limit=2)
    second = call(shelf, "browse", limit=2, cursor=first["cursor"])
    third = call(shelf, "browse", limit=2, cursor=second["cursor"])
    assert [first["items"], second["items"], third["items"]] == [["ash", "birch"], ["cedar", "elm"], ["fir"]]
    assert [page["total_count"] for page in (first, second, third)] == [5, 5, 5]
    assert "cursor" not in third


def test_a_page_that_is_full_to_the_last_item_has_no_cursor(call: Calls) -> None:
    assert "cursor" not in call(shelf, "browse", limit=5)


def test_a_cursor_survives_what_is_added_and_removed_between_pages(
    call: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = call(shelf, "browse", limit=2)
    monkeypatch.setitem(globals(), "words", ["alder", "ash", "box", "cedar", "elm", "fir"])
    assert call(shelf, "browse", limit=2, cursor=first["cursor"])["items"] == ["box", "cedar"]


def test_the_limit_may_change_from_page_to_page(call: Calls) -> None:
    first = call(shelf, "browse", limit=1)
    assert call(shelf, "browse", limit=3, cursor=first["cursor"])["items"] == ["birch", "cedar", "elm"]


def test_a_cursor_of_other_arguments_is_refused(call: Calls) -> None:
    cursor = call(shelf, "browse", limit=2)["cursor"]
    assert (
        refusal(call, starts="e", cursor=cursor) == "cursor belongs to another call; keep the other arguments"
    )


def test_a_cursor_of_another_tool_is_refused(call: Calls) -> None:
    foreign = Page(bind=lambda: "otherbind0").cursor_at("birch")
    assert refusal(call, cursor=foreign) == "cursor belongs to another call; keep the other arguments"


@pytest.mark.parametrize("cursor", ["", "2", "zzz", "!!!!", base64.urlsafe_b64encode(b"\xc1").decode(), "é"])
def test_a_cursor_that_was_made_up_is_refused(call: Calls, cursor: str) -> None:
    assert refusal(call, cursor=cursor) == "cursor is not one of this server's"


KEYS = st.text() | st.integers(-(2**63), 2**63 - 1) | st.tuples(st.integers(-(2**31), 2**31), st.text())


@given(key=KEYS, bind=st.text(max_size=10))
def test_every_key_comes_back_from_its_cursor(key: Any, bind: str) -> None:
    page = Page(bind=lambda: bind)
    after = Page(cursor=page.cursor_at(key), bind=lambda: bind).after
    assert (tuple(after) if isinstance(after, list) else after) == key


@given(items=st.lists(st.text(max_size=5), unique=True, max_size=40), limit=st.integers(1, 7))
def test_leafing_through_shows_every_item_once_in_order(items: list[str], limit: int) -> None:
    ordered, seen, cursor = sorted(items), [], None
    for _ in range(len(items) + 1):
        page = Page(limit, cursor).cut(ordered, key=str)
        seen += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == ordered
    assert cursor is None


@given(st.text(max_size=60))
def test_no_text_is_more_than_a_refused_cursor(text: str) -> None:
    with pytest.raises(ToolError) as raised:
        _ = Page(cursor=text, bind=lambda: "0123456789").after
    assert raised.value.code == "invalid_input"
