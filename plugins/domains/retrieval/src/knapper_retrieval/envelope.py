"""How the HTTP routes spell answers and errors: data beside its warnings, a code with its status."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from starlette.responses import Response

MOST_WARNINGS = 100
JSON = "application/json; charset=utf-8"
STATUS = {
    "INDEX_NOT_FOUND": 409,
    "INDEX_INCOMPATIBLE": 409,
    "INDEX_BUSY": 409,
    "NOTE_NOT_FOUND": 404,
    "CHUNK_NOT_FOUND": 404,
    "EMBEDDING_UNAVAILABLE": 503,
    "QUERY_TOO_LARGE": 413,
    "ATTACHMENT_NOT_FOUND": 404,
    "ATTACHMENT_NOT_ALLOWED": 403,
    "PATH_OUTSIDE_VAULT": 403,
    "INTERNAL_ERROR": 500,
    "TIMEOUT": 504,
    "VAULT_NOT_CONFIGURED": 503,
    "unauthorized": 401,
    "forbidden": 403,
    "acl_denied": 403,
    "read_only": 403,
    "not_found": 404,
    "note_not_found": 404,
    "throttled": 429,
    "overflow": 413,
    "embedding_provider_error": 503,
    "index_unavailable": 409,
    "operation_timeout": 504,
    "vault_not_found": 503,
    "internal": 500,
    "internal_error": 500,
}
REFUSED = {401: "UNAUTHORIZED", 405: "INVALID_METHOD", 413: "INVALID_PARAMETER", 500: "INTERNAL_ERROR"}


class Refused(Exception):
    """A request that ends with this status and code, whoever found out."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status or STATUS.get(code, 400), code, message


def answered(data: Any, warnings: list[Any]) -> Response:
    """What was asked for."""
    return json(200, {"data": data, "warnings": truncated(warnings)})


def error(status: int, code: str, message: str) -> Response:
    """Why there is no answer, under an id that can be quoted."""
    details = {"requestId": uuid.uuid4().hex}
    return json(status, {"error": {"code": code, "message": message, "details": details}})


def refuse(status: int, message: str) -> Response:
    """What the server itself refuses before a route is asked, or where one fails."""
    return error(status, REFUSED.get(status, "INVALID_PARAMETER"), message)


def json(status: int, value: Any) -> Response:
    from starlette.responses import Response

    return Response(msgspec.json.encode(value), status, media_type=JSON)


def truncated(warnings: list[Any]) -> list[Any]:
    """At most a hundred warnings, and one that says so."""
    if len(warnings) <= MOST_WARNINGS:
        return warnings
    more = f"{len(warnings) - MOST_WARNINGS} more warnings are left out"
    return [*warnings[:MOST_WARNINGS], {"code": "WARNINGS_TRUNCATED", "message": more}]
