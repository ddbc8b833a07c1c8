"""What every model behind HTTP does, asked of a server that misbehaves in the ways real ones do."""

import math
import socket
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from knapper.config.model import EmbeddingSettings
from knapper.embed_http import Api, HttpModel, openai_ask, openai_read, tokens
from knapper.errors import ToolError
from knapper.index.vectors import embed_each
from knapper.testing_http import Asked, Loopback, Reply, loopback

API = Api("test", "/embeddings", openai_ask, openai_read, model="small")


def vectors(asked: Asked) -> Reply:
    """A vector of three numbers a text: its length, its vowels, one."""
    data = [
        {"index": n, "embedding": [len(t), sum(c in "aeiou" for c in t), 1]}
        for n, t in enumerate(asked.body["input"])
    ]
    return Reply({"data": data})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(vectors) as running:
        yield running


def model(server: Loopback, **settings: Any) -> HttpModel:
    given = {"provider": "test", "base_url": server.url, "dimensions": 3, **settings}
    return HttpModel(API, EmbeddingSettings.model_validate(given))


def failure(act: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        act()
    return caught.value


def test_rows_are_of_unit_length_in_the_order_of_the_texts(server: Loopback) -> None:
    rows = model(server).embed(["aa", "bbb"], query=False)
    assert np.allclose(rows, [[2 / 3, 2 / 3, 1 / 3], [3 / math.sqrt(10), 0, 1 / math.sqrt(10)]])


def test_vectors_that_come_in_another_order_are_put_right(server: Loopback) -> None:
    server.next = [
        Reply({"data": [{"index": 1, "embedding": [0, 1, 0]}, {"index": 0, "embedding": [1, 0, 0]}]})
    ]
    assert model(server).embed(["a", "b"], query=False).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_the_width_is_asked_for_once_where_nobody_says_it(server: Loopback) -> None:
    asked = model(server, dimensions=None)
    assert (asked.dimensions, asked.dimensions) == (3, 3)
    assert len(server.asked) == 1


def test_texts_go_in_batches_of_the_configured_size(server: Loopback) -> None:
    model(server, batch_size=2, concurrency=1).embed(["a", "b", "c", "d", "e"], query=False)
    assert [a.body["input"] for a in server.asked] == [["a", "b"], ["c", "d"], ["e"]]


def test_a_batch_is_closed_before_it_holds_too_many_tokens(server: Loopback) -> None:
    model(server, max_batch_tokens=20, concurrency=1).embed(["x" * 40, "y" * 40, "z" * 40], query=False)
    assert [len(a.body["input"]) for a in server.asked] == [2, 1]


def test_text_full_of_marks_counts_for_more_tokens() -> None:
    assert (tokens("abcdefghijkl"), tokens("[[a]]([b])--")) == (3, 4)


def test_queries_and_documents_get_their_own_prefix(server: Loopback) -> None:
    asked = model(server, query_prefix="query: ", document_prefix="passage: ")
    asked.embed(["x"], query=True)
    asked.embed(["x"], query=False)
    assert [a.body["input"] for a in server.asked] == [["query: x"], ["passage: x"]]


def test_a_refused_batch_is_halved_until_the_one_text_is_found(server: Loopback) -> None:
    def picky(asked: Asked) -> Reply:
        return Reply({}, 413) if "bad" in asked.body["input"] else vectors(asked)

    server.answer = picky
    found = embed_each(model(server), ["a", "bad", "c", "d"])
    assert [isinstance(one, bytes) for one in found] == [True, False, True, True]
    assert found[1] == "test: answered with status 413"


def test_a_server_that_refuses_everything_puts_no_text_aside(server: Loopback) -> None:
    server.answer = lambda asked: Reply({}, 400)
    assert failure(lambda: embed_each(model(server), ["a", "b"])).details["status"] == 400


def test_a_busy_server_is_asked_again_when_it_says_so(server: Loopback) -> None:
    server.next = [Reply({}, 429, {"retry-after": "0"}), Reply({}, 503)]
    assert model(server).embed(["aa"], query=False).shape == (1, 3)
    assert len(server.asked) == 3


def test_a_server_that_asks_for_a_long_wait_is_an_error_that_names_it(server: Loopback) -> None:
    server.next = [Reply({}, 429, {"retry-after": "3600"})]
    error = failure(lambda: model(server).embed(["aa"], query=False))
    assert (error.code, error.details["retry_after_seconds"]) == ("embedding_provider_error", 3600)
    assert len(server.asked) == 1


def test_a_server_that_stays_busy_is_given_up(server: Loopback) -> None:
    server.answer = lambda asked: Reply({}, 429, {"retry-after": "0"})
    assert failure(lambda: model(server).embed(["aa"], query=False)).details["status"] == 429
    assert len(server.asked) == 3


def test_a_slow_server_is_a_timeout(server: Loopback) -> None:
    never = threading.Event()
    server.next = [Reply({}, hold=never)]
    try:
        assert (
            failure(lambda: model(server, timeout_ms=50).embed(["a"], query=False)).code
            == "operation_timeout"
        )
    finally:
        never.set()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"data": [{"embedding": [1, 2]}]}, "test: answered with a vector of 2 numbers, not 3"),
        ({"data": [{"embedding": [1, 2, 3, 4]}]}, "test: answered with a vector of 4 numbers, not 3"),
        ({"data": []}, "test: answered with 0 vectors for 1 texts"),
        ({"data": [{"embedding": [0, 0, 0]}]}, "test: answered with a vector that has no direction"),
        ({"data": [{"embedding": [1, 2, "x"]}]}, "test: answered with something that is no number"),
        ({"data": [{"embedding": None}]}, "test: answered with a vector of 0 numbers, not 3"),
        ({"error": "no"}, "test: answered with something else than vectors"),
        (b"<html>", "test: answered with something else than vectors"),
        (b'{"data": [{"embedding": [NaN, 1, 1]}]}', "test: answered with something else than vectors"),
        (b'{"data": [{"embedding": [1e999, 1, 1]}]}', "test: answered with something else than vectors"),
    ],
)
def test_an_answer_that_is_no_vector_is_never_believed(server: Loopback, body: Any, text: str) -> None:
    server.next = [Reply(body)]
    error = failure(lambda: model(server).embed(["a"], query=False))
    assert (error.code, error.message) == ("embedding_provider_error", text)


def test_a_wider_vector_is_cut_only_where_that_is_wanted(server: Loopback) -> None:
    server.next = [Reply({"data": [{"embedding": [3, 4, 0, 9]}]})]
    assert np.allclose(model(server, truncate=True).embed(["a"], query=False), [[0.6, 0.8, 0]])


def test_a_dead_server_is_an_error_without_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = EmbeddingSettings(provider="test", base_url=f"http://127.0.0.1:{port}", dimensions=3)
    error = failure(lambda: HttpModel(API, settings).embed(["a"], query=True))
    assert (error.code, error.message) == (
        "embedding_provider_error",
        "test: cannot be reached (ConnectError)",
    )


def test_a_server_that_hangs_up_is_an_error(server: Loopback) -> None:
    server.next = [Reply(hang_up=True)]
    assert failure(lambda: model(server).embed(["a"], query=False)).code == "embedding_provider_error"


def test_a_redirect_is_not_followed(server: Loopback) -> None:
    server.next = [Reply({}, 307, {"location": "http://192.0.2.1/embeddings"})]
    assert failure(lambda: model(server).embed(["a"], query=False)).details["status"] == 307


def test_an_error_never_holds_what_the_server_said(server: Loopback) -> None:
    server.next = [Reply({"error": "input was: my secret note"}, 422)]
    assert "secret" not in str(
        failure(lambda: model(server).embed(["my secret note"], query=False)).envelope()
    )


def test_the_configured_key_wins_over_the_named_variable(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "from-variable")
    model(server, api_key="inline", api_key_env="MINE").embed(["a"], query=True)
    model(server, api_key_env="MINE").embed(["a"], query=True)
    model(server).embed(["a"], query=True)
    assert [a.headers.get("authorization") for a in server.asked] == [
        "Bearer inline",
        "Bearer from-variable",
        None,
    ]


def test_what_changes_the_meaning_changes_the_identity_and_the_address_does_not(server: Loopback) -> None:
    plain = model(server)
    with loopback(vectors) as other:
        assert model(other).identity == plain.identity
    for change in (
        {"model": "large"},
        {"dimensions": 2},
        {"query_prefix": "q"},
        {"document_prefix": "d"},
        {"revision": "2"},
    ):
        assert model(server, **change).identity != plain.identity
