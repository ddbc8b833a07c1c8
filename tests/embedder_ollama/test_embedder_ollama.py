"""The shapes of Ollama's requests and answers, against a real server on loopback."""

import pytest

from knapper.config.model import EmbeddingSettings
from knapper.errors import ToolError
from knapper.testing_http import Asked, Reply, loopback
from knapper_embedder_ollama import knapper_embedders


def answer(asked: Asked) -> Reply:
    texts = asked.body["input"]
    return Reply({"embeddings": [[1.0, 0.0] for _ in texts]})


def test_documents_and_queries_are_asked_in_the_providers_shape() -> None:
    with loopback(answer) as server:
        settings = EmbeddingSettings(
            provider="ollama", base_url=server.url, api_key="k", model="m", dimensions=2
        )
        model = knapper_embedders().build(settings)
        assert model.embed(["one", "two"], query=False).tolist() == [[1, 0], [1, 0]]
        model.embed(["ask"], query=True)
    assert [(a.path, a.headers["authorization"], a.body) for a in server.asked] == [
        ("/api/embed", "Bearer k", {"model": "m", "input": ["one", "two"]}),
        ("/api/embed", "Bearer k", {"model": "m", "input": ["ask"]}),
    ]


def test_an_error_of_the_provider_is_typed() -> None:
    with loopback(lambda asked: Reply({"message": "no"}, 401)) as server:
        settings = EmbeddingSettings(provider="ollama", base_url=server.url, model="m", dimensions=2)
        with pytest.raises(ToolError) as caught:
            knapper_embedders().build(settings).embed(["one"], query=True)
    assert (caught.value.code, caught.value.details) == (
        "embedding_provider_error",
        {"provider": "ollama", "status": 401},
    )
