"""Sessions: named stretches of work, and the trace of what was called in them."""

from __future__ import annotations

from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated, Any

import msgspec

from knapper import Context, Doc, Page, Record, ToolError, hookimpl, traces
from knapper.domain import Domain
from knapper_sessions import rows, services
from knapper_sessions.domain import sessions
from knapper_sessions.rows import Row
from knapper_sessions.spans import traced

__all__ = ["services", "sessions"]


class Started(Record):
    session_id: str
    vault: str
    started_at: str
    trace_path: str


@sessions.tool(
    "write:workspace", repeat="keyed", reach="the sessions of the vault, no file", words="begin open"
)
def start_session(
    ctx: Context,
    caller: Annotated[
        str, Doc("What the client calls itself; who it is, the server knows.", min_length=1, max_length=200)
    ],
    session_metadata: Annotated[dict[str, Any] | None, Doc("Anything worth keeping with it.")] = None,
) -> Started:
    """Begin a session of work: calls of this connection are in it until it ends, or all of yours where connections have no session."""
    number, now = f"sess_{token_hex(12)}", ctx.now()
    principal, observed = rows.principal(ctx), rows.observed(ctx)
    path = _trace(ctx, now, "session_start", number, observed)
    row = (ctx.vault.vault, number, caller, principal, observed, now, _json(session_metadata))
    with ctx.store.write() as conn:
        conn.exec_driver_sql(
            "INSERT INTO sessions_sessions (vault_id, id, declared, principal, observed, started_at, metadata) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    return Started(session_id=number, vault=ctx.vault.vault, started_at=ctx.stamp(now), trace_path=path)


class Ended(Record):
    session_id: str
    ended_at: str
    trace_path: str
    event_count: int
    duration_ms: int


@sessions.tool("write:workspace", reach="the sessions of the vault, no file", words="finish close stop")
def end_session(ctx: Context, session_id: str, end_metadata: dict[str, Any] | None = None) -> Ended:
    """End a session that you began."""
    row = _own(ctx, session_id)
    if row.ended_at is not None:
        raise ToolError(
            "invalid_input", f"the session {session_id!r} has already ended", session_id=session_id
        )
    now = ctx.now()
    path = _trace(ctx, now, "session_end", session_id, row.observed)
    count = sum(1 for _, _, line in traced(ctx, [row]) if line["type"].endswith("_invocation"))
    with ctx.store.write() as conn:
        kept = msgspec.json.decode(row.metadata) if row.metadata else {}
        conn.exec_driver_sql(
            "UPDATE sessions_sessions SET ended_at = ?, metadata = ? WHERE vault_id = ? AND id = ?",
            (now, _json({**kept, **(end_metadata or {})}), ctx.vault.vault, session_id),
        )
    return Ended(
        session_id=session_id,
        ended_at=ctx.stamp(now),
        trace_path=path,
        event_count=count,
        duration_ms=int((now - row.started_at) * 1000),
    )


class TraceLine(Record):
    session_id: str
    ts: str
    tool: str
    caller: str
    status: str
    duration_ms: float
    args_hash: str
    result_size: int | None = None


@sessions.tool("read:workspace", words="history activity agent calls log did")
def get_session_traces(
    ctx: Context,
    session_id: Annotated[str | None, Doc("All of yours if absent.")] = None,
    from_: Annotated[str | None, Doc("From this time, ISO 8601.")] = None,
    to: Annotated[str | None, Doc("Before this time, ISO 8601.")] = None,
    tool_filter: Annotated[list[str] | None, Doc("Only these tools.")] = None,
    page: Page = Page(),
) -> Page.Of[TraceLine]:
    """Read what was called in your sessions, in the order of time; never arguments or answers."""
    wanted = [_own(ctx, session_id)] if session_id else _mine(ctx)
    low, high = _time(from_, 0.0), _time(to, float("inf"))
    found: dict[tuple[float, str, int], TraceLine] = {}
    for row, number, line in traced(ctx, wanted):
        shown = line["type"].endswith("_invocation") and low <= line["ts"] < high
        if shown and (not tool_filter or line["tool"] in tool_filter):
            found[line["ts"], row.id, number] = _shown(row.id, line)
    items = sorted(found.items())
    cut = page.cut(items, key=lambda item: item[0])
    return page.of(
        [line for _, line in cut.items], cut.total_count, list(cut.items[-1][0]) if cut.cursor else None
    )


@sessions.gauge
def active_sessions(store: Any, vault: str) -> float:
    """Sessions that have begun and not ended."""
    with store.read() as conn:
        open_ = "SELECT count(*) FROM sessions_sessions WHERE vault_id = ? AND ended_at IS NULL"
        return float(conn.exec_driver_sql(open_, (vault,)).scalar_one())


def _own(ctx: Context, number: str) -> Row:
    """A session of this caller; another's only for who may administer workspaces."""
    with ctx.store.read() as conn:
        row = rows.find(conn, ctx.vault.vault, number)
    if row is None:
        raise ToolError("invalid_input", f"there is no session {number!r}", session_id=number)
    if row.principal != rows.principal(ctx) and not ctx.caller.may("admin:workspace"):
        raise ToolError("forbidden", "this session is another caller's", session_id=number)
    return row


def _mine(ctx: Context) -> list[Row]:
    with ctx.store.read() as conn:
        return rows.begun_by(conn, ctx.vault.vault, rows.principal(ctx))


def _trace(ctx: Context, now: float, type: str, number: str, observed: str) -> str:
    """Add a line of the session itself to the trace that its calls are in, and say where that is."""
    folder = traces.folder(ctx.server.settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = traces.file_name(observed, now)
    line = {"ts": now, "type": type, "session_id": number, "caller": rows.principal(ctx)}
    traces.append(folder / file, line)
    return f"traces/{file}"


def _shown(session: str, line: dict[str, Any]) -> TraceLine:
    return TraceLine(
        session_id=session,
        ts=datetime.fromtimestamp(line["ts"], UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        tool=line["tool"],
        caller=line.get("caller") or "",
        status=line["status"],
        duration_ms=line["duration_ms"],
        args_hash=line["args_hash"],
        result_size=line.get("result_size"),
    )


def _time(text: str | None, absent: float) -> float:
    if text is None:
        return absent
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ToolError("invalid_input", f"{text!r} is not a time such as 2026-01-31T12:00:00Z") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


@hookimpl
def knapper_domains() -> Domain:
    return sessions
