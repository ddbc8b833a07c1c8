"""Whatever a file of bookmarks holds, an edit that changes nothing writes the same bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.testing import Calls, VaultFolder
from knapper_bookmarks import bookmarks
from tests.odd_json import TEXT, VALUE, files

FILE = ".obsidian/bookmarks.json"
KINDS = st.sampled_from(["file", "folder", "search", "graph", "url", "later", "", 7, None])
ITEM: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries(
        {"type": KINDS},
        optional={
            "title": TEXT,
            "path": TEXT | st.just("a.md") | st.integers(),
            "subpath": TEXT,
            "query": TEXT,
            "ctime": st.integers() | TEXT,
            "options": VALUE,
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("group"), "items": st.lists(inner, max_size=3)}, optional={"title": TEXT, "": VALUE}
    ),
    max_leaves=5,
)
STORED = st.fixed_dictionaries({}, optional={"items": st.lists(ITEM, max_size=4), "more": VALUE})


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(STORED))
def test_removing_what_is_not_there_writes_the_same_bytes(call: Calls, vault: VaultFolder, text: str) -> None:
    vault[FILE] = text
    call(bookmarks, "list_bookmarks")
    assert call(bookmarks, "remove_bookmark", id="none has this id")["removed"] is False
    assert vault.bytes(FILE) == text.encode()


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files(st.fixed_dictionaries({"items": st.lists(ITEM, min_size=1, max_size=4)}, optional={"more": VALUE}))
)
def test_adding_and_removing_again_writes_the_same_bytes(call: Calls, vault: VaultFolder, text: str) -> None:
    vault[FILE] = text
    added = call(bookmarks, "add_bookmark", type="search", target="new here", allow_duplicate=True)
    assert vault[FILE] != text
    call(bookmarks, "remove_bookmark", id=added["id"])
    assert vault.bytes(FILE) == text.encode()


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "{}", '{"items":[]}', '{ "later" : 1 }\r\n'])
def test_a_file_without_bookmarks_stays_as_it_is_written(call: Calls, vault: VaultFolder, text: str) -> None:
    vault[FILE] = text
    assert call(bookmarks, "list_bookmarks")["items"] == []
    call(bookmarks, "remove_bookmark", id="none")
    assert vault[FILE] == text
