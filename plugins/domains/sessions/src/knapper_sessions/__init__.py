"""Sessions: named stretches of work, and the trace of what was called in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated, Any

import msgspec

from knapper import Context, Doc, Domain, Migration, Page, Record, ToolError, hookimpl, traces

TABLE = """
CREATE TABLE sessions_sessions (
    vault_id TEXT NOT NULL,
    id TEXT NOT NULL,
    declared TEXT NOT NULL,
    principal TEXT NOT NULL,
    observed TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    metadata TEXT,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX sessions_by_start ON sessions_sessions (vault_id, started_at);
"""

sessions = Domain(
    "sessions",
    summary="Begin and end sessions of work, and read their traces.",
    group="workspace",
    tables=[Migration("20260101_001", TABLE)],
)


class Started(Record):
    session_id: str
    vault: str
    started_at: str
    trace_path: str


@sessions.tool("write:workspace", repeat="keyed", reach="the sessions of the vault, no file")
def start_session(
    ctx: Context,
    caller: Annotated[
        str, Doc("What the client calls itself; who it is, the server knows.", min_length=1, max_length=200)
    ],
    session_metadata: Annotated[dict[str, Any] | None, Doc("Anything worth keeping with it.")] = None,
) -> Started:
    """Begin a session of work; calls of this connection are in its trace until it ends."""
    number, now = f"sess_{token_hex(12)}", ctx.now()
    observed = ctx.session or f"{ctx.caller.hash}"
    _trace(
        ctx, observed, {"ts": now, "type": "session_start", "session_id": number, "caller": _principal(ctx)}
    )
    row = (ctx.vault.vault, number, caller, _principal(ctx), observed, now, _json(session_metadata))
    with ctx.store.write() as conn:
        conn.exec_driver_sql(
            "INSERT INTO sessions_sessions (vault_id, id, declared, principal, observed, started_at, metadata) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    path = f"traces/{traces.file_name(observed)}"
    return Started(session_id=number, vault=ctx.vault.vault, started_at=ctx.stamp(now), trace_path=path)


class Ended(Record):
    session_id: str
    ended_at: str
    trace_path: str
    event_count: int
    duration_ms: int


@sessions.tool("write:workspace", reach="the sessions of the vault, no file")
def end_session(ctx: Context, session_id: str, end_metadata: dict[str, Any] | None = None) -> Ended:
    """End a session that you began."""
    row = _own(ctx, session_id)
    if row.ended_at is not None:
        raise ToolError(
            "invalid_input", f"the session {session_id!r} has already ended", session_id=session_id
        )
    now = ctx.now()
    _trace(
        ctx,
        row.observed,
        {"ts": now, "type": "session_end", "session_id": session_id, "caller": _principal(ctx)},
    )
    with ctx.store.write() as conn:
        kept = msgspec.json.decode(row.metadata) if row.metadata else {}
        conn.exec_driver_sql(
            "UPDATE sessions_sessions SET ended_at = ?, metadata = ? WHERE vault_id = ? AND id = ?",
            (now, _json({**kept, **(end_metadata or {})}), ctx.vault.vault, session_id),
        )
    count = sum(1 for line in _lines(ctx, row) if line["type"].endswith("_invocation"))
    return Ended(
        session_id=session_id,
        ended_at=ctx.stamp(now),
        trace_path=f"traces/{traces.file_name(row.observed)}",
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


@sessions.tool("read:workspace")
def get_session_traces(
    ctx: Context,
    session_id: Annotated[str | None, Doc("All of yours if absent.")] = None,
    from_: Annotated[str | None, Doc("From this time, ISO 8601.")] = None,
    to: Annotated[str | None, Doc("Before this time, ISO 8601.")] = None,
    tool_filter: Annotated[list[str] | None, Doc("Only these tools.")] = None,
    page: Page = Page(),
) -> Page.Of[TraceLine]:
    """Read what was called in your sessions, in the order of time; never arguments or answers."""
    rows = [_own(ctx, session_id)] if session_id else _mine(ctx)
    low, high = _time(from_, 0.0), _time(to, float("inf"))
    found: dict[tuple[float, str, int], TraceLine] = {}
    for row, number, line in _traced(ctx, rows):
        wanted = line["type"].endswith("_invocation") and low <= line["ts"] < high
        if wanted and (not tool_filter or line["tool"] in tool_filter):
            found[line["ts"], row.id, number] = _shown(ctx, row.id, line)
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


def _own(ctx: Context, number: str) -> Any:
    """A session of this caller; another's only for who may administer workspaces."""
    with ctx.store.read() as conn:
        row = conn.exec_driver_sql(
            "SELECT * FROM sessions_sessions WHERE vault_id = ? AND id = ?", (ctx.vault.vault, number)
        ).one_or_none()
    if row is None:
        raise ToolError("invalid_input", f"there is no session {number!r}", session_id=number)
    if row.principal != _principal(ctx) and not ctx.caller.may("admin:workspace"):
        raise ToolError("forbidden", "this session is another caller's", session_id=number)
    return row


def _mine(ctx: Context) -> list[Any]:
    with ctx.store.read() as conn:
        return list(
            conn.exec_driver_sql(
                "SELECT * FROM sessions_sessions WHERE vault_id = ? AND principal = ? ORDER BY started_at",
                (ctx.vault.vault, _principal(ctx)),
            )
        )


def _principal(ctx: Context) -> str:
    """Who the server observed; a caller without an identity has no sessions."""
    if ctx.caller.name is None:
        raise ToolError("forbidden", "a caller without an identity has no sessions")
    return ctx.caller.name


def _lines(ctx: Context, row: Any) -> Iterator[dict[str, Any]]:
    """The trace between a session's start and end."""
    return (line for _, _, line in _traced(ctx, [row]))


def _traced(ctx: Context, rows: list[Any]) -> Iterator[tuple[Any, int, dict[str, Any]]]:
    """Each line of the sessions' traces once, under the session that was begun last before it and was still open."""
    files: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda one: one.started_at):
        files.setdefault(row.observed, []).append(row)
    folder = traces.folder(ctx.server.settings)
    for observed, group in files.items():
        starts = [row.started_at for row in group]
        for number, line in enumerate(traces.read(folder / traces.file_name(observed))):
            place = bisect_right(starts, line.get("ts", -1)) - 1
            if place < 0:
                continue
            row = group[place]
            here = line.get("vault", row.vault_id) in (row.vault_id, "")
            if here and (row.ended_at is None or line["ts"] <= row.ended_at):
                yield row, number, line


def _trace(ctx: Context, observed: str, line: dict[str, Any]) -> None:
    folder = traces.folder(ctx.server.settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    traces.append(folder / traces.file_name(observed), line)


def _shown(ctx: Context, session: str, line: dict[str, Any]) -> TraceLine:
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
