"""What others ask about sessions: the core for each change of a file, and whoever undoes one."""

from __future__ import annotations

from knapper import Context
from knapper_sessions import rows
from knapper_sessions.domain import sessions


@sessions.service("sessions.current")
def current(ctx: Context) -> str | None:
    """The session that a call is part of: the one begun last from where it comes, if it is still open."""
    with ctx.server.store(sessions.slug).read() as conn:
        return rows.current(conn, ctx.vault.vault, rows.observed(ctx))


@sessions.service("sessions.owner")
def owner(ctx: Context, number: str) -> str | None:
    """Who began a session; None where there is none of that id."""
    with ctx.server.store(sessions.slug).read() as conn:
        found = rows.find(conn, ctx.vault.vault, number)
    return None if found is None else found.principal


@sessions.service("sessions.within")
def within(ctx: Context, connection: str) -> list[str]:
    """The sessions that were begun over a connection."""
    with ctx.server.store(sessions.slug).read() as conn:
        return [row.id for row in rows.begun_in(conn, ctx.vault.vault, connection)]
