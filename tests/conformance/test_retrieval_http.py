"""The retrieval contract on a real server: every route, its envelope, its errors, and the same answers over MCP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from knapper.index.ids import note_id
from tests.server.conftest import Place, Web

KEY = "k" * 40
Start = Callable[..., Web]
FILES: dict[str, str | bytes] = {
    "a.md": "# Alpha\n\nstone and flint, see [[b]] and ![[pic.png]]\n",
    "b.md": "# Beta\n\nstone again\n",
    "pic.png": "not really a picture",
    "latin.md": b"caf\xe9",
    "binary.md": b"a\0b",
    "yaml.md": "---\ntags: [a\n---\nzebra text\n",
    "large.md": "x" * 2_097_153,
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return filled(Place(tmp_path))


def filled(place: Place) -> Place:
    for name, text in FILES.items():
        content = text.encode() if isinstance(text, str) else text
        (place.vault / name).write_bytes(content)
    place.env["KNAPPER_PLUGINS__ONLY"] = '["retrieval", "search", "attachments", "verifier-apikey"]'
    return place


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Place]]:
    """One server for all tests that change nothing."""
    place = filled(Place(tmp_path_factory.mktemp("common")))
    for name, size in (("fits.bin", 10_485_760), ("over.bin", 10_485_761)):
        (place.vault / name).write_bytes(b"x" * size)
    (place.vault / "folder").mkdir()
    (place.vault / ".hidden").mkdir()
    (place.vault / ".hidden" / "x.png").write_bytes(b"x")
    (place.vault.parent / "outside.png").write_bytes(b"secret bytes")
    (place.vault / "link.png").symlink_to(place.vault.parent / "outside.png")
    (place.vault.parent / "outside.md").write_text("meteorite")
    (place.vault / "out.md").symlink_to(place.vault.parent / "outside.md")
    (place.vault / "folder" / "in.md").symlink_to(place.vault / "b.md")
    running = Web([*place.command, "--set", "retrieval.http=true"], place.env)
    yield level(running), place
    running.process.kill()
    running.process.wait()


@pytest.fixture
def one(common: tuple[Web, Place]) -> Web:
    return common[0]


@pytest.fixture
def web(place: Place) -> Iterator[Start]:
    """A server with the routes on: `web("--set", "auth.mode=apikey")`."""
    started: list[Web] = []

    def start(*arguments: str, **env: str) -> Web:
        command = [*place.command, "--set", "retrieval.http=true", *arguments]
        started.append(Web(command, {**place.env, **env}))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def ask(one: Web, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    status, _, content = one.request(method, path, body, **headers)
    return status, json.loads(content)


def until(one: Web, wanted: Callable[[], bool]) -> None:
    """Wait for what the server does by itself, asking it again and again."""
    pause = threading.Event()
    for _ in range(600):
        if wanted():
            return
        pause.wait(0.05)
    raise AssertionError("it never came about:\n" + "".join(one.errors))


def level(one: Web) -> Web:
    until(one, lambda: bool(ask(one, "GET", "/status")[1]["data"]["index"]["freshness"] == "fresh"))
    return one


def indexed(one: Web, path: str, body: Any = None) -> tuple[int, Any]:
    """The answer of an indexing run, once no other one is under way."""
    while (answer := ask(one, "POST", path, body))[0] == 409:
        assert answer[1]["error"]["code"] == "INDEX_BUSY"
    return answer


def found(one: Web, query: str) -> list[str]:
    status, answer = ask(one, "POST", "/search", {"query": query, "mode": "lexical"})
    assert status == 200, answer
    return [result["path"] for result in answer["data"]["results"]]


def test_http_and_the_protocol_answer_the_same(one: Web) -> None:
    id = note_id("a.md")
    asked: list[tuple[str, dict[str, Any], tuple[int, Any]]] = [
        ("search", {"query": "stone"}, ask(one, "POST", "/search", {"query": "stone"})),
        (
            "related",
            {"type": "note", "id": id},
            ask(one, "POST", "/related", {"type": "note", "id": id}),
        ),
        ("get_note", {"noteId": id}, ask(one, "GET", f"/notes/{id}")),
        ("get_chunk", {"noteId": id, "chunkIndex": 0}, ask(one, "GET", f"/chunks/{id}/0")),
        ("get_attachment", {"vaultRelativePath": "pic.png"}, ask(one, "GET", "/attachments/pic.png")),
    ]
    for tool, arguments, (status, answer) in asked:
        payload = one.modern("tools/call", name=tool, arguments=arguments)[1]["result"]["structuredContent"]
        warnings = payload.pop("warnings", [])
        assert (status, answer) == (200, {"data": payload, "warnings": warnings}), tool


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/search", {"query": " "}, 400, "INVALID_QUERY"),
        ("POST", "/search", b"{", 400, "INVALID_PARAMETER"),
        ("POST", "/search", b'"' + b"x" * 65_536 + b'"', 413, "INVALID_PARAMETER"),
        ("GET", "/search", None, 405, "INVALID_METHOD"),
        ("POST", "/index", {"nonsense": 1}, 400, "INVALID_PARAMETER"),
        ("GET", f"/notes/{'0' * 32}", None, 404, "NOTE_NOT_FOUND"),
        ("GET", f"/chunks/{'0' * 32}/0", None, 404, "CHUNK_NOT_FOUND"),
        ("GET", "/attachments/gone.png", None, 404, "ATTACHMENT_NOT_FOUND"),
    ],
)
def test_every_error_has_the_envelope_with_a_request_id(
    one: Web, method: str, path: str, body: Any, status: int, code: str
) -> None:
    got, answer = ask(one, method, path, body)
    assert (got, answer["error"]["code"]) == (status, code)
    assert len(answer["error"]["details"]["requestId"]) == 32
    assert set(answer) == {"error"}


def test_a_key_is_needed_on_every_route_also_for_health(web: Start) -> None:
    one = web("--set", "auth.mode=apikey", KNAPPER_AUTH__API_KEY=KEY)
    for path in ("/health", "/status", f"/notes/{note_id('a.md')}"):
        status, answer = ask(one, "GET", path)
        assert (status, answer["error"]["code"]) == (401, "UNAUTHORIZED")
        assert ask(one, "GET", path + "?key=" + KEY)[0] == 401
    assert ask(one, "GET", "/health", Authorization=f"Bearer {KEY}")[0] == 200


def test_the_routes_are_off_unless_they_are_asked_for(web: Start) -> None:
    one = web("--set", "retrieval.http=false")
    for method, path in (("POST", "/search"), ("GET", "/health"), ("GET", "/status"), ("POST", "/index")):
        assert ask(one, method, path, {"query": "x"} if method == "POST" else None)[0] == 404


@pytest.mark.parametrize("path", ["/search", "/notes/x"])
def test_the_protocol_cannot_be_put_where_a_route_is(web: Start, place: Place, path: str) -> None:
    with pytest.raises(AssertionError, match=r"transports\.http\.path: .* lies where another route is"):
        web("--set", f"transports.http.path={path}")


def test_what_cannot_be_read_is_told_by_its_code_and_the_rest_is_indexed(web: Start) -> None:
    one = level(web())
    status, answer = indexed(one, "/reindex")
    assert status == 200
    assert {(w["code"], w["details"]["path"]) for w in answer["warnings"]} == {
        ("FILE_NOT_UTF8", "latin.md"),
        ("FILE_BINARY", "binary.md"),
        ("FILE_TOO_LARGE_FOR_INDEXING", "large.md"),
        ("FRONTMATTER_PARSE_FAILED", "yaml.md"),
    }
    assert answer["data"] == {
        "mode": "full",
        "notes_indexed": 3,
        "chunks_indexed": 3,
        "notes_skipped": 3,
        "warning_count": 4,
        "changed": 7,
    }
    assert found(one, "zebra") == ["yaml.md"]
    assert indexed(one, "/index")[1]["data"]["changed"] == 0


def test_indexing_that_requires_vectors_fails_where_no_model_is_and_words_go_on(one: Web) -> None:
    status, answer = indexed(one, "/index", {"requireEmbeddings": True})
    assert (status, answer["error"]["code"]) == (503, "EMBEDDING_UNAVAILABLE")
    assert found(one, "flint") == ["a.md"]


def test_an_attachment_is_told_of_without_its_bytes_and_sent_as_they_are_on_request(one: Web) -> None:
    about = ask(one, "GET", "/attachments/pic.png")[1]["data"]
    assert (about["path"], about["size_bytes"], "data_base64" in about) == ("pic.png", 20, False)
    status, headers, content = one.request("GET", "/attachments/pic.png?download=true")
    assert (status, content) == (200, b"not really a picture")
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''pic.png"


def test_a_download_over_ten_mebibytes_needs_leave(one: Web) -> None:
    assert len(one.request("GET", "/attachments/fits.bin?download=true")[2]) == 10_485_760
    status, answer = ask(one, "GET", "/attachments/over.bin?download=true")
    assert (status, answer["error"]["code"]) == (413, "QUERY_TOO_LARGE")
    assert len(one.request("GET", "/attachments/over.bin?download=true&allowLarge=true")[2]) == 10_485_761


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("a.md", 403, "ATTACHMENT_NOT_ALLOWED"),
        (".hidden/x.png", 403, "ATTACHMENT_NOT_ALLOWED"),
        ("folder", 400, "INVALID_PATH"),
        ("gone.png", 404, "ATTACHMENT_NOT_FOUND"),
        ("%2e%2e%2foutside.png", 403, "PATH_OUTSIDE_VAULT"),
        ("folder/%2e%2e/%2e%2e/outside.png", 403, "PATH_OUTSIDE_VAULT"),
        ("%2fetc%2fpasswd", 403, "PATH_OUTSIDE_VAULT"),
        ("a%00.png", 400, "INVALID_PATH"),
        ("link.png", 400, "INVALID_PATH"),
    ],
)
def test_what_is_no_attachment_of_the_vault_is_refused_without_an_absolute_path(
    common: tuple[Web, Place], path: str, status: int, code: str
) -> None:
    one, place = common
    got, answer = ask(one, "GET", f"/attachments/{path}?download=true")
    assert (got, answer["error"]["code"]) == (status, code)
    assert str(place.vault.parent) not in json.dumps(answer)
    assert "/etc" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("path", "name"),
    [("a.md", "ATTACHMENT_NOT_ALLOWED"), ("folder", "INVALID_PATH"), ("gone.png", "ATTACHMENT_NOT_FOUND")],
)
def test_the_protocol_names_what_is_no_attachment_in_the_same_words(one: Web, path: str, name: str) -> None:
    result = one.modern("tools/call", name="get_attachment", arguments={"path": path})[1]["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["details"]["errorCode"] == name


def test_errors_of_these_tools_are_numbered_over_the_protocol(one: Web) -> None:
    for tool, arguments, number, name in (
        ("get_note", {"note_id": "0" * 32}, -32004, "NOTE_NOT_FOUND"),
        ("get_chunk", {"note_id": "0" * 32, "chunk_index": 0}, -32005, "CHUNK_NOT_FOUND"),
        ("get_note", {"note_id": "x"}, -32000, "INVALID_ID"),
        ("get_note", {"note_id": note_id("large.md")}, -32008, "QUERY_TOO_LARGE"),
        ("search", {"query": "x", "mode": "fuzzy"}, -32000, "INVALID_MODE"),
        ("search", {"query": "x", "mode": "embedding"}, -32007, "EMBEDDING_UNAVAILABLE"),
    ):
        answer = one.modern("tools/call", name=tool, arguments=arguments)[1]
        assert "error" in answer, (tool, arguments, answer)
        error = answer["error"]
        assert (error["code"], error["data"]["errorCode"]) == (number, name)


def test_missing_and_mistyped_and_unknown_parameters_are_named(one: Web) -> None:
    for arguments, field in (({}, "query"), ({"query": 5}, "query"), ({"query": "x", "limt": 5}, "limt")):
        result = one.modern("tools/call", name="search", arguments=arguments)[1]["result"]
        assert result["structuredContent"]["code"] == "validation_error"
        assert [issue["field"] for issue in result["structuredContent"]["details"]["issues"]] == [field]


def test_what_other_programs_do_is_found_also_after_a_reindex(web: Start, place: Place) -> None:
    one = level(web())
    (place.vault / "new.md").write_text("obsidian one")
    until(one, lambda: found(one, "obsidian") == ["new.md"])
    assert indexed(one, "/reindex")[0] == 200
    (place.vault / "new.md").write_text("quartz two")
    until(one, lambda: found(one, "quartz") == ["new.md"] and not found(one, "obsidian"))
    (place.vault / "new.md").rename(place.vault / "moved.md")
    until(one, lambda: found(one, "quartz") == ["moved.md"])
    (place.vault / "moved.md").unlink()
    until(one, lambda: not found(one, "quartz"))
    assert ask(one, "GET", "/status")[1]["data"]["watch"] == {
        "enabled": True,
        "running": True,
        "last_error": None,
    }


def test_a_link_inside_the_vault_is_what_it_leads_to_and_one_that_leads_out_is_nothing(one: Web) -> None:
    assert found(one, "meteorite") == []
    assert ask(one, "GET", f"/notes/{note_id('out.md')}")[0] == 404
    assert "b.md" in found(one, "again")


def test_logs_and_errors_and_status_hold_no_text_no_query_no_key_and_no_path(
    web: Start, place: Place
) -> None:
    one = web(
        *("--set", "auth.mode=apikey", "--log-level", "debug"),
        KNAPPER_AUTH__API_KEY=KEY,
    )
    mine = {"Authorization": f"Bearer {KEY}"}
    until(
        one,
        lambda: bool(ask(one, "GET", "/status", **mine)[1]["data"]["index"]["freshness"] == "fresh"),
    )
    said = []
    for method, path, body in (
        ("POST", "/search", {"query": "xylophonic flint"}),
        ("POST", "/search", {"query": "xylophonic", "mode": "embedding"}),
        ("POST", "/search", {"query": "xylophonic", "limit": 51}),
        ("POST", "/related", {"type": "note", "id": "0" * 32}),
        ("GET", "/status", None),
        ("GET", "/health", None),
        ("GET", f"/attachments/{quote('xylophonic.png')}", None),
    ):
        status, answer = ask(one, method, path, body, **mine)
        said.append(json.dumps(answer) if status != 200 or "status" in path else "")
    one.stop()
    everything = "".join(one.errors) + "".join(said).replace("xylophonic.png", "")
    for secret in ("xylophonic", "flint", "zebra", KEY, str(place.vault)):
        assert secret not in everything
