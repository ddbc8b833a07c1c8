"""Every provider behind HTTP against a real server that speaks its API and misbehaves as real ones do."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from knapper import hookimpl
from knapper.caller import LOCAL, Caller
from knapper.config.model import EmbeddingSettings
from knapper.embed import Embedder, Model
from knapper.errors import ToolError
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Asked, Loopback, Reply, loopback
from knapper_embedder_cohere import knapper_embedders as cohere
from knapper_embedder_ollama import knapper_embedders as ollama
from knapper_embedder_openai import knapper_embedders as openai
from knapper_embedder_voyage import knapper_embedders as voyage
from knapper_retrieval import retrieval

WIDTH = 3
PROVIDERS: dict[str, Callable[[], Embedder]] = {
    "cohere": cohere,
    "ollama": ollama,
    "openai": openai,
    "voyage": voyage,
}
ME = Caller("test", LOCAL, authenticated=True)


def texts(asked: Asked) -> list[str]:
    found: list[str] = asked.body.get("texts") or asked.body["input"]
    return found


def spoken(provider: str, rows: Sequence[Any]) -> Any:
    """Vectors as a provider sends them, with the name of a model that is not the one that was asked for."""
    if provider == "cohere":
        return {"id": "x", "embeddings": {"float": list(rows)}}
    if provider == "ollama":
        return {"model": "another:latest", "embeddings": list(rows)}
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    return {"object": "list", "model": "another-model", "data": data}


def vector(text: str) -> list[float]:
    """How long a text is, how often it says stone, and one."""
    return [float(len(text)), 10.0 * text.count("stone"), 1.0]


class Speaker:
    """A server that speaks one provider's API, and a model that asks it."""

    def __init__(self, provider: str, server: Loopback) -> None:
        self.provider, self.server = provider, server

    def model(self, **settings: Any) -> Model:
        given = {"provider": self.provider, "base_url": self.server.url, "model": "m", "api_key": "k"}
        whole = {**given, "dimensions": WIDTH, **settings}
        return PROVIDERS[self.provider]().build(EmbeddingSettings.model_validate(whole))

    def reply(self, *rows: Any) -> Reply:
        return Reply(spoken(self.provider, rows))


@pytest.fixture(params=sorted(PROVIDERS))
def speaker(request: pytest.FixtureRequest) -> Iterator[Speaker]:
    provider: str = request.param
    with loopback(lambda asked: Reply(spoken(provider, [vector(t) for t in texts(asked)]))) as server:
        yield Speaker(provider, server)


def failure(model: Model, given: Sequence[str] = ("one",), *, query: bool = False) -> ToolError:
    with pytest.raises(ToolError) as caught:
        model.embed(list(given), query=query)
    assert caught.value.details["provider"]
    return caught.value


def test_vectors_come_back_in_the_order_of_the_texts(speaker: Speaker) -> None:
    rows = speaker.model().embed(["a", "stone"], query=False)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows[0][1] == 0 < rows[1][1]


def test_many_texts_go_in_batches(speaker: Speaker) -> None:
    speaker.model(batch_size=3, concurrency=1).embed([f"t{n}" for n in range(8)], query=False)
    assert [len(texts(asked)) for asked in speaker.server.asked] == [3, 3, 2]


def test_a_slow_server_is_a_timeout_for_documents_and_queries(speaker: Speaker) -> None:
    never = threading.Event()
    speaker.server.answer = lambda asked: Reply({}, hold=never)
    try:
        for query in (False, True):
            assert failure(speaker.model(timeout_ms=50), query=query).code == "operation_timeout"
    finally:
        never.set()


def test_a_busy_server_is_asked_again_when_it_says_so(speaker: Speaker) -> None:
    speaker.server.next = [Reply({}, 429, {"retry-after": "0"})]
    assert speaker.model().embed(["one"], query=True).shape == (1, WIDTH)
    assert len(speaker.server.asked) == 2


def test_a_server_that_stays_busy_is_an_error_that_says_when_to_come_back(speaker: Speaker) -> None:
    speaker.server.answer = lambda asked: Reply({}, 429, {"retry-after": "600"})
    error = failure(speaker.model())
    assert (error.code, error.details["status"], error.details["retry_after_seconds"]) == (
        "embedding_provider_error",
        429,
        600,
    )
    assert len(speaker.server.asked) == 1


def test_a_batch_that_is_too_large_is_halved_until_it_fits(speaker: Speaker) -> None:
    normal = speaker.server.answer
    speaker.server.answer = lambda asked: Reply({}, 413) if len(texts(asked)) > 2 else normal(asked)
    assert speaker.model().embed(["a", "b", "c", "d", "e"], query=False).shape == (5, WIDTH)
    assert [len(texts(asked)) for asked in speaker.server.asked] == [5, 2, 3, 1, 2]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([[1.0, 2.0]], "answered with a vector of 2 numbers, not 3"),
        ([[1.0, 2.0, 3.0, 4.0]], "answered with a vector of 4 numbers, not 3"),
        ([], "answered with 0 vectors for 1 texts"),
        ([[1.0, 2.0, 3.0]] * 2, "answered with 2 vectors for 1 texts"),
        ([[float("nan"), 1.0, 1.0]], "answered with something else than vectors"),
        ([[0.0, 0.0, 0.0]], "answered with a vector that has no direction"),
        ([["1", "2", "x"]], "answered with something that is no number"),
    ],
)
def test_a_wrong_width_count_or_number_is_never_believed(
    speaker: Speaker, rows: list[Any], text: str
) -> None:
    for query in (False, True):
        speaker.server.next = [speaker.reply(*rows)]
        error = failure(speaker.model(), query=query)
        assert (error.code, error.message) == ("embedding_provider_error", f"{speaker.provider}: {text}")


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[]", b'{"data": 5, "embeddings": 5}', b""])
def test_an_answer_of_another_shape_is_never_believed(speaker: Speaker, body: bytes) -> None:
    speaker.server.next = [Reply(body)]
    assert failure(speaker.model()).code == "embedding_provider_error"


def test_a_server_that_hangs_up_or_is_gone_is_an_error_without_its_address(speaker: Speaker) -> None:
    speaker.server.next = [Reply(hang_up=True)]
    assert failure(speaker.model()).code == "embedding_provider_error"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    error = failure(speaker.model(base_url=address))
    assert error.message == f"{speaker.provider}: cannot be reached (ConnectError)"


def test_nothing_is_sent_to_a_host_that_is_not_allowed(speaker: Speaker) -> None:
    for url in ("https://embeddings.example.com", "http://10.0.0.9", "http://203.0.113.7"):
        with pytest.raises(ValueError, match=r"is a public host|is on a private network"):
            speaker.model(base_url=url)
    assert speaker.server.asked == []


class Offered:
    """The plugin that hands all of them over."""

    @hookimpl
    def knapper_embedders(self) -> list[Embedder]:
        return [build() for build in PROVIDERS.values()]


def configured(call: Calls, speaker: Speaker, **settings: Any) -> None:
    """The next server of this vault, which finds the index of the one before."""
    call.close()
    call._runtimes.clear()
    call.plugins = [Offered()]
    given = {"provider": speaker.provider, "base_url": speaker.server.url, "model": "m", "api_key": "k"}
    cutting = {k: settings.pop(k) for k in ("chunk_chars", "max_chunk_chars") if k in settings}
    call.settings = {
        "embeddings": {**given, "dimensions": WIDTH, **settings},
        "index": {"processes": 1, **cutting},
    }


def embedded(call: Calls, speaker: Speaker) -> list[str]:
    """Bring every vector there is to be, and say which texts the server was asked for."""
    before = len(speaker.server.asked)
    (one,) = call.runtime(retrieval).vaults
    one.index.reconcile()
    one.index.vectors.embed_now()
    return sorted(text.split("\n")[0] for a in speaker.server.asked[before:] for text in texts(a))


def search(call: Calls, **arguments: Any) -> tuple[str, list[str], list[str]]:
    found = call(retrieval, "search", query="stone", **arguments)
    paths = [r["path"] for r in found["results"]]
    return found["used_mode"], paths, [w["code"] for w in found["warnings"]]


def test_a_change_embeds_what_it_must_and_nothing_else(
    speaker: Speaker, call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone"
    vault["b.md"] = "flint"
    configured(call, speaker)
    assert embedded(call, speaker) == ["a", "b"]
    configured(call, speaker)
    assert embedded(call, speaker) == []
    vault["b.md"] = "flint and more"
    assert embedded(call, speaker) == ["b"]
    with loopback(speaker.server.answer) as moved:
        configured(call, Speaker(speaker.provider, moved))
        assert embedded(call, speaker) == []
        assert moved.asked == []
    for change in (
        {"model": "n"},
        {"model": "n", "revision": "2"},
        {"model": "n", "revision": "2", "document_prefix": ""},
        {"model": "n", "revision": "2", "query_prefix": "q: "},
    ):
        configured(call, speaker, **change)
        expected = [] if change.get("document_prefix") == "" else ["a", "b"]
        assert embedded(call, speaker) == expected, change
    configured(call, speaker, document_prefix="doc: ")
    assert embedded(call, speaker) == ["doc: a", "doc: b"]
    configured(call, speaker, document_prefix="doc: ", chunk_chars=500, max_chunk_chars=600)
    assert embedded(call, speaker) == []


def test_a_text_that_the_server_refuses_costs_that_text_and_no_other(
    speaker: Speaker, call: Calls, vault: VaultFolder
) -> None:
    normal = speaker.server.answer

    def picky(asked: Asked) -> Reply:
        return Reply({}, 413) if any("poison" in text for text in texts(asked)) else normal(asked)

    speaker.server.answer = picky
    vault["a.md"] = "stone"
    vault["bad.md"] = "poison stone"
    configured(call, speaker)
    embedded(call, speaker)
    (one,) = call.runtime(retrieval).vaults
    assert (one.index.vectors.refused(), one.index.vectors.missing()) == (1, 0)
    assert search(call, mode="embedding") == ("embedding", ["a.md"], [])
    assert set(search(call, mode="lexical")[1]) == {"a.md", "bad.md"}
    asked = len(speaker.server.asked)
    embedded(call, speaker)
    assert len(speaker.server.asked) == asked, "what was put aside is not tried before it changes"
    vault["bad.md"] = "stone without it"
    assert embedded(call, speaker) == ["bad"]
    assert one.index.vectors.refused() == 0


def test_a_server_that_reports_another_models_name_changes_nothing(
    speaker: Speaker, call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone"
    configured(call, speaker)
    assert embedded(call, speaker) == ["a"]
    assert search(call) == ("hybrid", ["a.md"], [])
    assert embedded(call, speaker) == []


@pytest.mark.parametrize("trouble", ["dead", "wrong width", "NaN", "busy"])
def test_words_find_everything_whatever_the_server_does(
    speaker: Speaker, call: Calls, vault: VaultFolder, trouble: str
) -> None:
    replies = {
        "dead": Reply(hang_up=True),
        "wrong width": speaker.reply([1.0]),
        "NaN": speaker.reply([float("nan"), 1.0, 1.0]),
        "busy": Reply({}, 429, {"retry-after": "600"}),
    }
    vault["a.md"] = "stone"
    configured(call, speaker)
    speaker.server.answer = lambda asked: replies[trouble]
    with pytest.raises(ToolError):
        embedded(call, speaker)
    assert search(call, mode="lexical") == ("lexical", ["a.md"], [])
    assert search(call) == ("lexical", ["a.md"], ["EMBEDDING_UNAVAILABLE"])


def test_a_query_is_embedded_as_a_query_and_a_note_as_a_document(
    speaker: Speaker, call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone"
    configured(call, speaker, query_prefix="ask: ", document_prefix="keep: ")
    embedded(call, speaker)
    search(call, mode="embedding")
    kept, asked = speaker.server.asked[0], speaker.server.asked[-1]
    assert (texts(kept)[0][:6], texts(asked)) == ("keep: ", ["ask: stone"])
    kinds = {"cohere": ("search_document", "search_query"), "voyage": ("document", "query")}
    assert (kept.body.get("input_type"), asked.body.get("input_type")) == kinds.get(
        speaker.provider, (None, None)
    )
