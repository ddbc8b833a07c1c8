"""Sessions in their table, always of one vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from knapper import Context, ToolError, traces

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

FIELDS = "id, principal, observed, started_at, ended_at, metadata"


class Row(NamedTuple):
    """One session as it is stored: `observed` is what the server saw its calls come from."""

    id: str
    principal: str
    observed: str
    started_at: float
    ended_at: float | None
    metadata: str | None


def observed(ctx: Context) -> str:
    """Where this call comes from: its connection's session, or its caller where connections have none."""
    return traces.place(ctx.session, ctx.caller.hash)


def principal(ctx: Context) -> str:
    """Who the server observed; a caller without an identity has no sessions."""
    if ctx.caller.name is None:
        raise ToolError("forbidden", "a caller without an identity has no sessions")
    return ctx.caller.name


def find(conn: Connection, vault: str, number: str) -> Row | None:
    sql = f"SELECT {FIELDS} FROM sessions_sessions WHERE vault_id = ? AND id = ?"
    found = conn.exec_driver_sql(sql, (vault, number)).one_or_none()
    return None if found is None else Row(*found)


def begun_by(conn: Connection, vault: str, name: str) -> list[Row]:
    """All sessions of a caller, in the order they began."""
    sql = (
        f"SELECT {FIELDS} FROM sessions_sessions WHERE vault_id = ? AND principal = ? ORDER BY started_at, id"
    )
    return [Row(*row) for row in conn.exec_driver_sql(sql, (vault, name))]


def begun_in(conn: Connection, vault: str, place: str) -> list[Row]:
    """All sessions that were begun from one place, in the order they began."""
    sql = (
        f"SELECT {FIELDS} FROM sessions_sessions WHERE vault_id = ? AND observed = ? ORDER BY started_at, id"
    )
    return [Row(*row) for row in conn.exec_driver_sql(sql, (vault, place))]


def current(conn: Connection, vault: str, place: str) -> str | None:
    """The session that was begun last from a place and has not ended."""
    sql = (
        "SELECT id FROM sessions_sessions WHERE vault_id = ? AND observed = ? AND ended_at IS NULL"
        " ORDER BY started_at DESC, id DESC LIMIT 1"
    )
    found: str | None = conn.exec_driver_sql(sql, (vault, place)).scalar()
    return found
