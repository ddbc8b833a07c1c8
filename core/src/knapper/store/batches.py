"""Large deletions in small transactions, so that calls pass in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knapper.store.state import State

_BATCH = 500


def delete_where(state: State, table: str, condition: str, values: Sequence[Any] = ()) -> int:
    """Delete the rows that meet a condition and say how many."""
    with state.read() as conn:
        rowids = (
            conn.exec_driver_sql(f"SELECT rowid FROM {table} WHERE {condition}", tuple(values))
            .scalars()
            .all()
        )
    return delete_rows(state, table, rowids, condition, values)


def delete_rows(
    state: State, table: str, rowids: Sequence[int], condition: str = "TRUE", values: Sequence[Any] = ()
) -> int:
    """Delete rows found earlier, asking the condition again: a row may have changed, or its rowid been reused."""
    sql, total = f"DELETE FROM {table} WHERE rowid = ? AND ({condition})", 0
    for start in range(0, len(rowids), _BATCH):
        batch = [(rowid, *values) for rowid in rowids[start : start + _BATCH]]
        with state.write() as conn:
            total += conn.exec_driver_sql(sql, batch).rowcount
    return total
