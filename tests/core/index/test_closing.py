"""An index that is closed while others still ask it."""

from __future__ import annotations

import threading

import pytest

from knapper.errors import ToolError
from knapper.store.sqlite import sqlite_module
from knapper.testing import VaultFolder
from tests.core.index.conftest import Open


def test_a_query_that_runs_while_the_index_is_closed_ends_before_its_connection(
    opened: Open, vault: VaultFolder
) -> None:
    vault["a.md"] = "A"
    index = opened()
    index.reconcile()
    closing = threading.Thread(target=index.close)
    with index.db.read() as conn:
        rows = conn.execute("SELECT path FROM files")
        closing.start()
        closing.join()
        assert [tuple(row) for row in rows] == [("a.md",)]
    with pytest.raises(sqlite_module().ProgrammingError, match="closed"):
        conn.execute("SELECT 1")


def test_a_closed_index_answers_with_an_error_that_can_be_tried_again(opened: Open) -> None:
    index = opened()
    index.close()
    with pytest.raises(ToolError, match="the server is stopping") as raised, index.db.read():
        pass
    assert raised.value.code == "index_unavailable"
