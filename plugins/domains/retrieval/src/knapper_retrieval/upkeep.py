"""/health, /status, /index and /reindex: how the index is, and bringing it level on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from knapper import __version__, typed
from knapper_retrieval.answers import stamp
from knapper_retrieval.envelope import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from knapper.index.status import Status

Answer = tuple[Any, list[Any]]  # data and warnings
PROBLEMS = {
    "FILE_NOT_UTF8": "is not UTF-8; only its name is indexed",
    "FILE_BINARY": "holds a NUL; only its name is indexed",
    "FILE_TOO_LARGE_FOR_INDEXING": "is too large; only its name is indexed",
    "FILE_READ_FAILED": "could not be read; only its name is indexed",
    "FILE_PARSE_FAILED": "could not be parsed; only its name is indexed",
    "FRONTMATTER_PARSE_FAILED": "has properties that cannot be read; its text is indexed",
}


class Wanted(msgspec.Struct, forbid_unknown_fields=True, rename={"require_embeddings": "requireEmbeddings"}):
    """What may be asked of an indexing run."""

    require_embeddings: bool = False


def health(app: Any, caller: Any, _: bytes) -> Answer:
    """Whether the index can be asked, and whether it is level with the files."""
    status = app.vaults.get(caller.vault).index.status()
    stale = status.state != "ready"
    index = {
        "available": status.notes_ready,
        "stale": stale,
        "embedding_available": status.vectors_ready,
    }
    return {"status": "degraded" if stale else "ok", "version": __version__, "index": index}, []


def status(app: Any, caller: Any, _: bytes) -> Answer:
    """How the server, its index and its watch are."""
    vault = app.vaults.get(caller.vault).index
    now, http = vault.status(), app.settings.transports.http
    return {
        "server": {
            "running": True,
            "host": http.host,
            "port": http.port,
            "api_key_required": bool(app.settings.auth.order),
        },
        "index": {
            "freshness": {"indexing": "updating", "ready": "fresh"}.get(now.state, "stale"),
            "last_successful_update_at": stamp(now.reconciled_at),
            "pending_change_count": max(0, now.total - now.indexed),
            "reindex_required": False,
            "reindex_reasons": [],
            "embedding_state": _embedding(vault, now),
        },
        "watch": {
            "enabled": app.settings.watch.enabled,
            "running": now.watching,
            "last_error": "WATCHER_UNAVAILABLE" if vault.watch_problem else None,
        },
    }, []


def _embedding(index: Any, now: Status) -> str:
    if not index.vectors.available:
        return "disabled"
    if index.vectors.problem:
        return "unavailable"
    return "ready" if now.vectors_ready else "stale"


def index(full: bool) -> Callable[[Any, Any, bytes], Answer]:
    """Bring the index level with the files before answering; `full` reads every file again."""

    def run(app: Any, caller: Any, body: bytes) -> Answer:
        wanted = _wanted(body)
        vault = app.vaults.get(caller.vault)
        if vault.index.busy:
            raise Refused("INDEX_BUSY", "the vault is being indexed")
        given = {"force": full, "vectors": wanted.require_embeddings}
        outcome = app.call("index_vault", given, caller)
        if outcome.error is not None:
            raise _refused(outcome.error)
        done = msgspec.json.decode(outcome.payload)
        view = vault.index_view(caller)
        warnings = [_warning(row.path, row.problem) for row in view.troubled()]
        skipped = sum(1 for one in warnings if one["code"] != "FRONTMATTER_PARSE_FAILED")
        return {
            "mode": "full" if full else "incremental",
            "notes_indexed": view.count_files() - skipped,
            "chunks_indexed": view.count_chunks(),
            "notes_skipped": skipped,
            "warning_count": len(warnings),
            "changed": done["upserted"] + done["deleted"],
        }, warnings

    return run


def _refused(error: Any) -> Refused:
    if error["code"] in ("embedding_provider_error", "operation_timeout"):
        return Refused("EMBEDDING_UNAVAILABLE", error["message"])
    return Refused(error["code"], error["message"])


def _wanted(body: bytes) -> Wanted:
    try:
        return typed.decode(body, Wanted) if body.strip() else Wanted()
    except msgspec.DecodeError as error:
        raise Refused("INVALID_PARAMETER", f"the body does not fit: {error}") from None


def _warning(path: str, problem: str | None) -> dict[str, Any]:
    code = problem or "FILE_READ_FAILED"
    message = f"a note {PROBLEMS.get(code, 'could not be indexed whole')}"
    return {"code": code, "message": message, "details": {"path": path}}
