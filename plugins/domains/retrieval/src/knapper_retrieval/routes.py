"""The same tools over plain HTTP, off unless `retrieval.http` is set."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from knapper import __version__
from knapper.routes import Route
from knapper_retrieval.answers import stamp

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_BODY = 65_536
MOST_WARNINGS = 100
STATUS = {
    "INDEX_NOT_FOUND": 409,
    "NOTE_NOT_FOUND": 404,
    "CHUNK_NOT_FOUND": 404,
    "EMBEDDING_UNAVAILABLE": 503,
    "QUERY_TOO_LARGE": 413,
    "ATTACHMENT_NOT_FOUND": 404,
    "ATTACHMENT_NOT_ALLOWED": 403,
    "PATH_OUTSIDE_VAULT": 403,
    "unauthorized": 401,
    "forbidden": 403,
    "acl_denied": 403,
    "read_only": 403,
    "not_found": 404,
    "note_not_found": 404,
    "vault_not_found": 503,
    "throttled": 429,
    "overflow": 413,
    "embedding_provider_error": 503,
    "operation_timeout": 504,
    "internal": 500,
    "internal_error": 500,
}
Ask = Callable[["Request"], tuple[str, dict[str, Any]]]


class Refused(Exception):
    """A request that no tool has to be asked about."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def routes() -> list[Route]:
    """Every route of the contract; each answers 404 where the routes are off."""
    return [
        Route("/health", _guarded(_health)),
        Route("/status", _guarded(_status)),
        Route("/search", _tool(lambda r: ("search", _body(r))), methods=["POST"]),
        Route("/related", _tool(lambda r: ("related", _body(r))), methods=["POST"]),
        Route("/index", _tool(lambda r: ("index_vault", {})), methods=["POST"]),
        Route("/reindex", _tool(lambda r: ("index_vault", {"force": True})), methods=["POST"]),
        Route("/notes/{id}", _tool(_note)),
        Route("/chunks/{id}/{number}", _tool(_chunk)),
        Route("/attachments/{path:path}", _tool(_attachment)),
    ]


def _note(request: Request) -> tuple[str, dict[str, Any]]:
    return "get_note", {"note_id": request.path_params["id"], "allow_large": _flag(request, "allowLarge")}


def _chunk(request: Request) -> tuple[str, dict[str, Any]]:
    number = request.path_params["number"]
    if not number.isdecimal():
        raise Refused(400, "INVALID_ID", "the chunk's number is not a number")
    return "get_chunk", {"note_id": request.path_params["id"], "chunk_index": int(number)}


def _attachment(request: Request) -> tuple[str, dict[str, Any]]:
    return "get_attachment", {
        "vault_relative_path": request.path_params["path"],
        "download": _flag(request, "download"),
        "allow_large": _flag(request, "allowLarge"),
    }


def _flag(request: Request, name: str) -> bool:
    return request.query_params.get(name) == "true"


def _body(request: Request) -> dict[str, Any]:
    raw: bytes = request._body
    if len(raw) > MOST_BODY:
        raise Refused(413, "INVALID_PARAMETER", f"the body is larger than {MOST_BODY} bytes")
    try:
        body = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        raise Refused(400, "INVALID_PARAMETER", "the body is not JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "INVALID_PARAMETER", "the body is not an object")
    return body


def _guarded(answer: Callable[..., tuple[int, Any]]) -> Callable[..., Response]:
    def endpoint(app: Any, caller: Any, request: Request) -> Response:
        if not _on(app):
            return _error(404, "NOT_FOUND", "not found")
        status, data = answer(app, caller)
        return _json(status, {"data": data, "warnings": []})

    return endpoint


def _tool(ask: Ask) -> Callable[..., Response]:
    def endpoint(app: Any, caller: Any, request: Request) -> Response:
        if not _on(app):
            return _error(404, "NOT_FOUND", "not found")
        try:
            name, arguments = ask(request)
        except Refused as refused:
            return _error(refused.status, refused.code, refused.message)
        outcome = app.call(name, arguments, caller)
        if outcome.error is not None:
            code = outcome.error["code"]
            return _error(STATUS.get(code, 400), code, outcome.error["message"])
        data = msgspec.json.decode(outcome.payload)
        warnings = data.pop("warnings", []) if isinstance(data, dict) else []
        return _json(200, {"data": data, "warnings": truncated(warnings)})

    return endpoint


def truncated(warnings: list[Any]) -> list[Any]:
    """At most a hundred warnings, and one that says so."""
    if len(warnings) <= MOST_WARNINGS:
        return warnings
    last = {
        "code": "WARNINGS_TRUNCATED",
        "message": f"{len(warnings) - MOST_WARNINGS} more warnings are left out",
    }
    return [*warnings[:MOST_WARNINGS], last]


def _on(app: Any) -> bool:
    section = app.sections.get("retrieval")
    return bool(section is not None and section.http)


def _health(app: Any, caller: Any) -> tuple[int, Any]:
    status = app.vaults.get(caller.vault).index.status()
    stale = status.state != "ready"
    data = {
        "status": "degraded" if stale else "ok",
        "version": __version__,
        "index": {
            "available": status.notes_ready,
            "stale": stale,
            "embedding_available": status.vectors_ready,
        },
    }
    return 200, data


def _status(app: Any, caller: Any) -> tuple[int, Any]:
    index = app.vaults.get(caller.vault).index
    status = index.status()
    http = app.settings.transports.http
    ready = {"indexing": "updating", "ready": "fresh"}.get(status.state, "stale")
    embedding = "disabled" if not index.vectors.available else "ready" if status.vectors_ready else "stale"
    return 200, {
        "server": {
            "running": True,
            "host": http.host,
            "port": http.port,
            "api_key_required": bool(app.settings.auth.order),
        },
        "index": {
            "freshness": ready,
            "last_successful_update_at": stamp(status.reconciled_at),
            "pending_change_count": max(0, status.total - status.indexed),
            "reindex_required": False,
            "reindex_reasons": [],
            "embedding_state": "unavailable" if index.vectors.problem else embedding,
        },
        "watch": {"enabled": app.settings.watch.enabled, "running": status.watching},
    }


def _json(status: int, value: Any) -> Response:
    from starlette.responses import Response

    return Response(msgspec.json.encode(value), status, media_type="application/json; charset=utf-8")


def _error(status: int, code: str, message: str) -> Response:
    details = {"requestId": uuid.uuid4().hex}
    return _json(status, {"error": {"code": code, "message": message, "details": details}})
