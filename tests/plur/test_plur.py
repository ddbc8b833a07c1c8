import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_plur import plur

ENGRAM = {
    "id": "e1",
    "score": 0.9,
    "content": "text",
    "type": "fact",
    "scope": "me",
    "created_at": "2026-01-01T00:00:00Z",
}


class Store(ThreadingHTTPServer):
    """A real store on loopback that answers as it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.daemon_threads = True
        self.asked: list[tuple[str, str, Any, str | None]] = []
        self.status = 200
        self.body: Any = {"items": [ENGRAM]}
        self.release = threading.Event()
        self.release.set()
        self.trickle = False
        self.promised = 0
        self.over = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: Store

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append((self.command, self.path, body, self.headers.get("Authorization")))
        self.server.release.wait(5)
        data = (
            self.server.body if isinstance(self.server.body, bytes) else json.dumps(self.server.body).encode()
        )
        self.send_response(self.server.status)
        if not self.server.trickle:
            self.send_header("Content-Length", str(len(data) + self.server.promised))
        self.end_headers()
        with suppress(OSError):
            while self.server.trickle and not self.server.over.wait(0.05):
                self.wfile.write(b" ")
            self.wfile.write(data)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@pytest.fixture
def store(call: Calls) -> Iterator[Store]:
    server = Store()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    call.settings["plur"] = {
        "endpoint": f"http://127.0.0.1:{server.server_port}",
        "api_key": "verysecretkey",
        "api_prefix": "/v1",
        "timeout_ms": 500,
    }
    yield server
    server.release.set()
    server.over.set()
    server.shutdown()
    server.server_close()


def test_a_recall_asks_the_store_with_its_key_and_gives_engrams(
    call: Calls, vault: VaultFolder, store: Store
) -> None:
    found = call(plur, "plur_recall", query="tea", k=3)
    assert found["items"][0]["engram_id"] == "e1"
    assert store.asked == [("POST", "/v1/recall", {"query": "tea", "k": 3}, "Bearer verysecretkey")]


def test_hybrid_and_similarity_have_their_own_ways(call: Calls, vault: VaultFolder, store: Store) -> None:
    store.body = [{**ENGRAM, "bm25_score": 0.5, "vector_score": 0.7}, {**ENGRAM, "id": "e2", "score": 0.1}]
    assert call(plur, "plur_recall_hybrid", query="tea")["items"][0]["vector_score"] == 0.7
    assert [
        i["engram_id"] for i in call(plur, "plur_similarity_search", query="tea", min_score=0.5)["items"]
    ] == ["e1"]
    assert [path for _, path, _, _ in store.asked] == ["/v1/recall/hybrid", "/v1/similarity"]


def test_one_engram_is_fetched_by_its_id_and_a_missing_one_is_said(
    call: Calls, vault: VaultFolder, store: Store
) -> None:
    store.body = {**ENGRAM, "activation_count": 4}
    assert call(plur, "plur_get", engram_id="a/b")["activation_count"] == 4
    assert store.asked[0][1] == "/v1/engrams/a%2Fb"
    store.status = 404
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_get", engram_id="gone")
    assert refused.value.code == "invalid_input"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {}),
        (401, {}),
        (302, {}),
        (204, b""),
        (200, b"<html>"),
        (200, b"\xff\xfe"),
        (200, b"[" * 200_000),
        (200, b'{"items": [{"id": "e", "score": NaN}]}'),
        (200, {"items": 3}),
        (200, {"items": ["x"]}),
        (200, {"items": [{**ENGRAM, "score": "high"}]}),
        (200, {"items": [{**ENGRAM, "bm25_score": {}}]}),
        (200, {"items": [{**ENGRAM, "content": "x" * 5_000_001}]}),
    ],
)
def test_a_store_that_misbehaves_is_unreachable_and_its_key_stays_secret(
    call: Calls, vault: VaultFolder, store: Store, status: int, body: Any
) -> None:
    store.status, store.body = status, body
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_recall", query="tea")
    assert refused.value.code == "plugin_unreachable"
    assert "verysecretkey" not in str(refused.value.envelope())


@pytest.mark.parametrize("body", [[ENGRAM], "text", {**ENGRAM, "activation_count": "many"}])
def test_an_engram_that_is_none_is_refused(call: Calls, vault: VaultFolder, store: Store, body: Any) -> None:
    store.body = body
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_get", engram_id="e1")
    assert refused.value.code == "plugin_unreachable"


def test_no_more_engrams_are_given_than_were_asked_for(call: Calls, vault: VaultFolder, store: Store) -> None:
    store.body = {"results": [ENGRAM] * 40}
    assert len(call(plur, "plur_recall", query="tea", k=3)["items"]) == 3


def test_a_store_that_never_ends_its_answer_is_given_up(
    call: Calls, vault: VaultFolder, store: Store
) -> None:
    store.trickle = True
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_recall", query="tea")
    assert refused.value.code == "operation_timeout"


def test_a_store_that_breaks_off_is_unreachable(call: Calls, vault: VaultFolder, store: Store) -> None:
    store.promised = 100
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_recall", query="tea")
    assert refused.value.code == "plugin_unreachable"


def test_a_slow_store_is_given_up(call: Calls, vault: VaultFolder, store: Store) -> None:
    store.release.clear()
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_recall", query="tea")
    assert refused.value.code == "operation_timeout"


def test_a_dead_store_is_unreachable(call: Calls, vault: VaultFolder, store: Store) -> None:
    store.shutdown()
    store.server_close()
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_recall", query="tea")
    assert refused.value.code == "plugin_unreachable"


def test_without_an_endpoint_the_tools_say_what_is_missing(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(plur, "plur_recall", query="tea")
    assert (refused.value.code, refused.value.details["plugin"]) == ("plugin_missing", "plur")


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(plur)
