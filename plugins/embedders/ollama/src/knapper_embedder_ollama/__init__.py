"""Ollama: models on this machine, or on another of a private network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper import hookimpl
from knapper.embed import Embedder

if TYPE_CHECKING:
    from knapper.embed_http import HttpModel


def build(settings: Any) -> HttpModel:
    """The model behind the configured address; nothing is sent before the first text."""
    from knapper.embed_http import Api, HttpModel, openai_ask

    return HttpModel(
        Api(
            provider="ollama",
            path="/api/embed",
            ask=openai_ask,
            read=lambda answer: list(answer["embeddings"]),
            base_url="http://127.0.0.1:11434",
            model="nomic-embed-text",
            widths={"nomic-embed-text": 768, "mxbai-embed-large": 1024, "all-minilm": 384},
        ),
        settings,
    )


@hookimpl
def knapper_embedders() -> Embedder:
    """Hand the provider over; it is used where the configuration names it."""
    return Embedder(name="ollama", build=build)
