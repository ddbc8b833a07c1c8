"""The same tools over plain HTTP, off unless `retrieval.http` is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from knapper import ToolError
from knapper.routes import Route
from knapper_retrieval import upkeep
from knapper_retrieval.envelope import STATUS, Refused, answered, error, refuse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_BODY = 65_536
MOST_BYTES = 10_485_760  # of an attachment, without allowLarge
Serve = Callable[[Any, Any, "Request"], "Response"]
Ask = Callable[["Request"], tuple[str, dict[str, Any]]]
# What is refused before the tool for attachments is asked, in the words of this surface.
ATTACHMENT = {"acl_denied": "ATTACHMENT_NOT_ALLOWED", "path_invalid": "INVALID_PATH"}


def routes() -> list[Route]:
    """Every route of the contract; each answers 404 where the routes are off."""
    return [
        _route("/health", _about(upkeep.health)),
        _route("/status", _about(upkeep.status)),
        _route("/search", _tool(lambda r: ("search", _body(r))), "POST"),
        _route("/related", _tool(lambda r: ("related", _body(r))), "POST"),
        _route("/index", _about(upkeep.index(full=False)), "POST"),
        _route("/reindex", _about(upkeep.index(full=True)), "POST"),
        _route("/notes/{id}", _tool(_note)),
        _route("/chunks/{id}/{number}", _tool(_chunk)),
        _route("/attachments/{path:path}", _attachment),
    ]


def _route(path: str, serve: Serve, method: str = "GET") -> Route:
    def endpoint(app: Any, caller: Any, request: Request) -> Response:
        section = app.sections.get("retrieval")
        if section is None or not section.http:
            return error(404, "NOT_FOUND", "not found")
        try:
            return serve(app, caller, request)
        except Refused as refused:
            return error(refused.status, refused.code, refused.message)
        except ToolError as failed:
            return error(STATUS.get(failed.code, 400), failed.code, failed.message)

    return Route(path, endpoint, methods=[method], most_bytes=MOST_BODY, refuse=refuse)


def _about(answer: Callable[[Any, Any, bytes], upkeep.Answer]) -> Serve:
    return lambda app, caller, request: answered(*answer(app, caller, request._body))


def _tool(ask: Ask) -> Serve:
    def serve(app: Any, caller: Any, request: Request) -> Response:
        data = _called(app, caller, *ask(request))
        return answered(data, data.pop("warnings", []))

    return serve


def _called(app: Any, caller: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a tool answers, through every gate."""
    outcome = app.call(name, arguments, caller)
    if outcome.error is not None:
        code = outcome.refusal.name if outcome.refusal is not None else outcome.error["code"]
        named = outcome.error.get("details", {}).get("errorCode")
        raise Refused(named or code, outcome.error["message"])
    data: dict[str, Any] = msgspec.json.decode(outcome.payload)
    return data


def _note(request: Request) -> tuple[str, dict[str, Any]]:
    return "get_note", {"note_id": request.path_params["id"], "allow_large": _flag(request, "allowLarge")}


def _chunk(request: Request) -> tuple[str, dict[str, Any]]:
    number = request.path_params["number"]
    if not number.isdecimal() or len(number) > 9:
        raise Refused("INVALID_ID", "the chunk's number is not a number")
    return "get_chunk", {"note_id": request.path_params["id"], "chunk_index": int(number)}


def _attachment(app: Any, caller: Any, request: Request) -> Response:
    """An attachment's facts, or its bytes where `download` asks for them: as they are, and as a file to keep."""
    path = request.path_params["path"]
    if path.startswith("/") or ".." in path.replace("\\", "/").split("/"):
        raise Refused("PATH_OUTSIDE_VAULT", "the path leads out of the vault")
    try:
        data = _called(app, caller, "get_attachment", {"path": path})
    except Refused as refused:
        raise Refused(ATTACHMENT.get(refused.code, refused.code), refused.message) from None
    if not _flag(request, "download"):
        return answered(data, [])
    if data["size_bytes"] > MOST_BYTES and not _flag(request, "allowLarge"):
        raise Refused("QUERY_TOO_LARGE", f"the attachment is larger than {MOST_BYTES} bytes")
    return _bytes(app.vaults.get(caller.vault).disk.read(data["path"]).data, data)


def _bytes(content: bytes, about: dict[str, Any]) -> Response:
    from starlette.responses import Response

    name = quote(about["path"].rpartition("/")[2])
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{name}",
        "x-content-type-options": "nosniff",  # nothing in a vault is a page of this server's
    }
    return Response(content, 200, headers, about["mime"])


def _flag(request: Request, name: str) -> bool:
    return bool(request.query_params.get(name) == "true")


def _body(request: Request) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(request._body)
    except msgspec.DecodeError:
        raise Refused("INVALID_PARAMETER", "the body is not JSON") from None
    if not isinstance(body, dict):
        raise Refused("INVALID_PARAMETER", "the body is not an object")
    return body
