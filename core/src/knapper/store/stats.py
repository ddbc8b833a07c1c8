"""Questions to the audit log: how often, how fast, and what happened lately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from knapper.store.audit import FIELDS, AuditRow

if TYPE_CHECKING:
    from knapper.store.state import State


class ToolCount(NamedTuple):
    """How often a tool ended in a status."""

    vault: str | None
    tool: str
    status: str
    calls: int


class Latency(NamedTuple):
    """A tool's measured durations: the median and the 95th percentile by nearest rank."""

    tool: str
    calls: int
    p50_us: int
    p95_us: int


class Logged(NamedTuple):
    """A row of the log with its id, for paging."""

    id: int
    row: AuditRow


class Stats:
    """Answers from the audit log; rows still queued are not in it before a flush."""

    def __init__(self, state: State) -> None:
        self._state = state

    def counts(self, *, since: float = 0, vault: str | None = None) -> list[ToolCount]:
        """Calls a vault, tool and status."""
        where, values = _where(since, vault)
        sql = f"SELECT vault_id, tool, status, count(*) FROM event_log{where}{_CALLS} GROUP BY 1, 2, 3 ORDER BY 2, 1, 3"
        return [ToolCount(*row) for row in self._rows(sql, values)]

    def latencies(self, *, since: float = 0, vault: str | None = None) -> list[Latency]:
        """Median and 95th percentile a tool; a tool without a measured call is absent."""
        where, values = _where(since, vault)
        ranked = (
            "SELECT tool, duration_us, row_number() OVER (PARTITION BY tool ORDER BY duration_us) AS place,"
            f" count(*) OVER (PARTITION BY tool) AS calls FROM event_log{where}"
            f"{_CALLS} AND duration_us IS NOT NULL"
        )
        # (n * 95 + 99) / 100 in whole numbers is the ceiling, without the errors of floats.
        sql = (
            "SELECT tool, calls, max(duration_us) FILTER (WHERE place = (calls + 1) / 2),"
            " max(duration_us) FILTER (WHERE place = (calls * 95 + 99) / 100)"
            f" FROM ({ranked}) GROUP BY tool, calls ORDER BY tool"
        )
        return [Latency(*row) for row in self._rows(sql, values)]

    def recent(
        self,
        limit: int = 100,
        *,
        before: int | None = None,
        since: float = 0,
        vault: str | None = None,
        tool: str | None = None,
        status: str | None = None,
        session: str | None = None,
    ) -> list[Logged]:
        """The newest rows first; `before` is the id of the last row already seen."""
        where, values = _where(since, vault)
        for column, value in (
            ("id <", before),
            ("tool =", tool),
            ("status =", status),
            ("session =", session),
        ):
            if value is not None:
                where, values = f"{where} AND {column} ?", (*values, value)
        sql = f"SELECT id, {FIELDS} FROM event_log{where} ORDER BY id DESC LIMIT ?"
        return [Logged(row[0], AuditRow(*row[1:])) for row in self._rows(sql, (*values, limit))]

    def _rows(self, sql: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._state.read() as conn:
            return [tuple(row) for row in conn.exec_driver_sql(sql, values)]


_CALLS = " AND tool IS NOT NULL AND event_type LIKE '%_invocation'"  # decisions of a person name a tool too


def _where(since: float, vault: str | None) -> tuple[str, tuple[object, ...]]:
    if vault is None:
        return " WHERE ts >= ?", (since,)
    return " WHERE ts >= ? AND vault_id = ?", (since, vault)
