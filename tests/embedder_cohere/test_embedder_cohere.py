"""The shapes of Cohere's requests and answers, against a real server on loopback."""

import pytest

from knapper.config.model import EmbeddingSettings
from knapper.errors import ToolError
from knapper.testing_http import Asked, Reply, loopback
from knapper_embedder_cohere import knapper_embedders


def answer(asked: Asked) -> Reply:
    texts = asked.body["texts"]
    return Reply({"embeddings": {"float": [[1.0, 0.0] for _ in texts]}})


def test_documents_and_queries_are_asked_in_the_providers_shape() -> None:
    with loopback(answer) as server:
        settings = EmbeddingSettings(
            provider="cohere", base_url=server.url, api_key="k", model="m", dimensions=2
        )
        model = knapper_embedders().build(settings)
        assert model.embed(["one", "two"], query=False).tolist() == [[1, 0], [1, 0]]
        model.embed(["ask"], query=True)
    assert [(a.path, a.headers["authorization"], a.body) for a in server.asked] == [
        (
            "/embed",
            "Bearer k",
            {
                "model": "m",
                "texts": ["one", "two"],
                "input_type": "search_document",
                "embedding_types": ["float"],
            },
        ),
        (
            "/embed",
            "Bearer k",
            {"model": "m", "texts": ["ask"], "input_type": "search_query", "embedding_types": ["float"]},
        ),
    ]


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    model = knapper_embedders().build(EmbeddingSettings(provider="cohere"))
    with pytest.raises(ToolError, match=r"set embeddings\.api_key or COHERE_API_KEY"):
        model.embed(["one"], query=True)


def test_the_vendors_own_key_is_not_sent_to_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COHERE_API_KEY", "vendor-key")
    with loopback(answer) as server:
        settings = EmbeddingSettings(provider="cohere", base_url=server.url, model="m", dimensions=2)
        knapper_embedders().build(settings).embed(["one"], query=True)
    assert "authorization" not in server.asked[0].headers


def test_an_error_of_the_provider_is_typed() -> None:
    with loopback(lambda asked: Reply({"message": "no"}, 401)) as server:
        settings = EmbeddingSettings(provider="cohere", base_url=server.url, model="m", dimensions=2)
        with pytest.raises(ToolError) as caught:
            knapper_embedders().build(settings).embed(["one"], query=True)
    assert (caught.value.code, caught.value.details) == (
        "embedding_provider_error",
        {"provider": "cohere", "status": 401},
    )
