"""Cohere: it embeds queries and documents apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knapper import hookimpl
from knapper.embed import Embedder

if TYPE_CHECKING:
    from knapper.embed_http import HttpModel


def build(settings: Any) -> HttpModel:
    """The model behind the configured address; nothing is sent before the first text."""
    from knapper.embed_http import Api, HttpModel

    return HttpModel(
        Api(
            provider="cohere",
            path="/embed",
            ask=ask,
            read=lambda answer: list(answer["embeddings"]["float"]),
            base_url="https://api.cohere.com/v2",
            model="embed-v4.0",
            key_env="COHERE_API_KEY",
            needs_key=True,
            widths={"embed-v4.0": 1536, "embed-multilingual-v3.0": 1024, "embed-english-v3.0": 1024},
        ),
        settings,
    )


def ask(model: str, texts: Sequence[str], query: bool) -> dict[str, Any]:
    """A request that says what the texts are for, and that the vectors are wanted as floats."""
    kind = "search_query" if query else "search_document"
    return {"model": model, "texts": list(texts), "input_type": kind, "embedding_types": ["float"]}


@hookimpl
def knapper_embedders() -> Embedder:
    """Hand the provider over; it is used where the configuration names it."""
    return Embedder(name="cohere", build=build, local=False)
