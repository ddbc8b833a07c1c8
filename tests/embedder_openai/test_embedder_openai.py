"""The shapes of OpenAI's requests and answers, against a real server on loopback."""

import pytest

from knapper.config.model import EmbeddingSettings
from knapper.errors import ToolError
from knapper.testing_http import Asked, Reply, loopback
from knapper_embedder_openai import knapper_embedders


def answer(asked: Asked) -> Reply:
    texts = asked.body["input"]
    return Reply({"data": [{"index": n, "embedding": [1.0, 0.0]} for n, _ in enumerate(texts)]})


def test_documents_and_queries_are_asked_in_the_providers_shape() -> None:
    with loopback(answer) as server:
        settings = EmbeddingSettings(
            provider="openai", base_url=server.url, api_key="k", model="m", dimensions=2
        )
        model = knapper_embedders().build(settings)
        assert model.embed(["one", "two"], query=False).tolist() == [[1, 0], [1, 0]]
        model.embed(["ask"], query=True)
    assert [(a.path, a.headers["authorization"], a.body) for a in server.asked] == [
        ("/embeddings", "Bearer k", {"model": "m", "input": ["one", "two"]}),
        ("/embeddings", "Bearer k", {"model": "m", "input": ["ask"]}),
    ]


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = knapper_embedders().build(EmbeddingSettings(provider="openai"))
    with pytest.raises(ToolError, match=r"set embeddings\.api_key or OPENAI_API_KEY"):
        model.embed(["one"], query=True)


def test_the_vendors_own_key_is_not_sent_to_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "vendor-key")
    with loopback(answer) as server:
        settings = EmbeddingSettings(provider="openai", base_url=server.url, model="m", dimensions=2)
        knapper_embedders().build(settings).embed(["one"], query=True)
    assert "authorization" not in server.asked[0].headers


def test_an_error_of_the_provider_is_typed() -> None:
    with loopback(lambda asked: Reply({"message": "no"}, 401)) as server:
        settings = EmbeddingSettings(provider="openai", base_url=server.url, model="m", dimensions=2)
        with pytest.raises(ToolError) as caught:
            knapper_embedders().build(settings).embed(["one"], query=True)
    assert (caught.value.code, caught.value.details) == (
        "embedding_provider_error",
        {"provider": "openai", "status": 401},
    )
