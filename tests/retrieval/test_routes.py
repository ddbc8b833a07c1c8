"""The same answers over plain HTTP."""

from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from starlette.requests import Request

from knapper import Caller
from knapper.index.ids import note_id
from knapper.testing import Calls, VaultFolder
from knapper_retrieval import retrieval
from knapper_retrieval.envelope import truncated
from knapper_retrieval.routes import routes


def ask(call: Calls, method: str, path: str, body: Any = None, **parameters: str) -> tuple[int, Any]:
    """An answer of the route that a path belongs to, as the server would hand the request over."""
    from starlette.routing import Match, Route

    runtime = call.runtime(retrieval)
    for one in runtime.vaults:
        one.index.reconcile()
    query = "&".join(f"{k}={v}" for k, v in parameters.items()).encode()
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [],
        "query_string": query,
        "path_params": {},
    }
    for offered in routes():
        match, more = Route(offered.path, lambda r: None, methods=list(offered.methods)).matches(scope)
        if match == Match.FULL:
            request = Request({**scope, **more})
            request._body = (
                body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
            )
            answer = offered.endpoint(runtime, Caller("t", frozenset({"*"}), authenticated=True), request)
            return answer.status_code, msgspec.json.decode(answer.body)
    raise AssertionError(f"no route for {method} {path}")


@pytest.fixture
def http(call: Calls) -> Calls:
    call.settings = {"retrieval": {"http": True}}
    return call


@pytest.mark.parametrize("path", ["/health", "/status", f"/notes/{'0' * 32}"])
def test_routes_are_off_unless_they_are_wanted(call: Calls, path: str) -> None:
    status, answer = ask(call, "GET", path)
    assert (status, answer["error"]["code"]) == (404, "NOT_FOUND")


def test_a_search_is_the_tools_answer_with_its_warnings_beside_it(http: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "stone"
    status, answer = ask(http, "POST", "/search", {"query": "stone"})
    tool = http(retrieval, "search", query="stone")
    assert (status, answer["warnings"]) == (200, tool.pop("warnings"))
    assert answer["data"] == tool


def test_every_other_route_is_its_tool(http: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "stone [[b]]"
    vault["b.md"] = "stone"
    id = note_id("a.md")
    for got, tool, arguments in (
        (ask(http, "GET", f"/notes/{id}"), "get_note", {"note_id": id}),
        (ask(http, "GET", f"/chunks/{id}/0"), "get_chunk", {"note_id": id, "chunk_index": 0}),
        (ask(http, "POST", "/related", {"type": "note", "id": id}), "related", {"type": "note", "id": id}),
    ):
        wanted = http(retrieval, tool, **arguments)
        wanted.pop("warnings")
        for answer in (wanted, got[1]["data"]):  # the vault is compared with its files meanwhile
            answer.get("freshness", {}).pop("last_successful_update_at", None)
        assert got == (200, {"data": wanted, "warnings": []})


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/search", {"query": ""}, 400, "INVALID_QUERY"),
        ("POST", "/search", {"query": "x", "limit": 51}, 400, "INVALID_LIMIT"),
        ("POST", "/search", {"query": "x", "mode": "embedding"}, 503, "EMBEDDING_UNAVAILABLE"),
        ("POST", "/search", b"{", 400, "INVALID_PARAMETER"),
        ("POST", "/search", [1], 400, "INVALID_PARAMETER"),
        ("GET", f"/notes/{'0' * 32}", None, 404, "NOTE_NOT_FOUND"),
        ("GET", "/notes/x", None, 400, "INVALID_ID"),
        ("GET", f"/chunks/{'0' * 32}/0", None, 404, "CHUNK_NOT_FOUND"),
        ("GET", f"/chunks/{'0' * 32}/x", None, 400, "INVALID_ID"),
        ("GET", "/attachments/" + quote("a.png"), None, 404, "not_found"),
    ],
)
def test_an_error_has_its_status_code_and_a_request_id(
    http: Calls, method: str, path: str, body: Any, status: int, code: str
) -> None:
    got, answer = ask(http, method, path, body)
    assert (got, answer["error"]["code"]) == (status, code)
    assert len(answer["error"]["details"]["requestId"]) == 32


def test_a_large_note_needs_leave(http: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "x" * 204_801
    assert ask(http, "GET", f"/notes/{note_id('a.md')}")[0] == 413
    assert ask(http, "GET", f"/notes/{note_id('a.md')}", allowLarge="true")[0] == 200


def test_health_and_status_say_how_the_index_is(http: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "x"
    status, health = ask(http, "GET", "/health")
    assert (status, health["data"]["status"], health["data"]["index"]["available"]) == (200, "ok", True)
    _, told = ask(http, "GET", "/status")
    assert told["data"]["index"]["freshness"] == "fresh"
    assert told["data"]["index"]["embedding_state"] == "disabled"
    assert told["data"]["server"]["running"] is True


def test_more_than_a_hundred_warnings_are_cut_with_a_word_about_it() -> None:
    cut = truncated([{"code": "X", "message": ""}] * 150)
    assert len(cut) == 101
    assert cut[-1] == {"code": "WARNINGS_TRUNCATED", "message": "50 more warnings are left out"}
