"""How far an index is, so that every answer can say what it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from knapper.errors import ToolError

if TYPE_CHECKING:
    import sqlite3

    from knapper.index.engine import Index
    from knapper.index.permitted import Readable


PENDING = "SELECT count(*) FROM files WHERE pending"


class Status(NamedTuple):
    """The state of an index: level with the files, on the way there, or in trouble."""

    state: Literal["indexing", "ready", "degraded"]
    notes_ready: bool
    vectors_ready: bool
    indexed: int
    total: int
    reconciled_at: float | None
    write_failures: int
    leader: bool
    watching: bool
    problem: str = ""


def status(index: Index, readable: Readable | None = None) -> Status:
    """What is known now; a damaged index is a state, not an error. Files that a caller may not read are not counted."""
    try:
        with index.db.read(readable) as conn:
            meta = dict(conn.execute("SELECT key, value FROM meta").fetchall())
            waiting, total = _counts(conn, readable)
            complete = _complete(conn)
        vectors = complete and index.vectors.ready()
    except ToolError as error:
        meta, waiting, total, complete, vectors = {}, 0, 0, False, False
        problem = error.message
    else:
        problem = index.problem
    return Status(
        "degraded" if problem else "ready" if complete else "indexing",
        complete,
        vectors,
        total - waiting,
        total,
        meta.get("reconciled_at"),
        index.write_failures,
        index.leads,
        index.watching,
        problem,
    )


def coverage(index: Index, readable: Readable | None = None) -> str:
    """What an answer does not cover yet, in words; empty where the index is level with the files."""
    try:
        with index.db.read() as conn:
            if _complete(conn):
                problem = index.problem
                return f"the index is behind the files ({problem}); it is tried again" if problem else ""
        with index.db.read(readable) as conn:
            waiting, total = _counts(conn, readable)
    except ToolError as error:
        return error.message
    if waiting:
        return f"indexing: {total - waiting} of {total} files are in the index"
    if not total:
        return "indexing: nothing is in the index yet; ask again in a moment"
    return f"indexing: the {total} files in the index are being compared with the vault"


def _counts(conn: sqlite3.Connection, readable: Readable | None) -> tuple[int, int]:
    """How many files wait to be read, and how many there are."""
    theirs = "1" if readable is None else "id IN permitted"
    waiting = conn.execute(f"SELECT count(*) FROM files WHERE pending AND {theirs}").fetchone()[0]
    return int(waiting), int(conn.execute(f"SELECT count(*) FROM files WHERE {theirs}").fetchone()[0])


def _complete(conn: sqlite3.Connection) -> bool:
    sql = "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'level') AND NOT EXISTS (SELECT 1 FROM files WHERE pending)"
    return bool(conn.execute(sql).fetchone()[0])
