"""OpenAI, and any endpoint that follows it (set embeddings.base_url)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper import hookimpl
from knapper.embed import Embedder

if TYPE_CHECKING:
    from knapper.embed_http import HttpModel


def build(settings: Any) -> HttpModel:
    """The model behind the configured address; nothing is sent before the first text."""
    from knapper.embed_http import Api, HttpModel, openai_ask, openai_read

    return HttpModel(
        Api(
            provider="openai",
            path="/embeddings",
            ask=openai_ask,
            read=openai_read,
            base_url="https://api.openai.com/v1",
            model="text-embedding-3-small",
            key_env="OPENAI_API_KEY",
            needs_key=True,
            widths={
                "text-embedding-3-small": 1536,
                "text-embedding-3-large": 3072,
                "text-embedding-ada-002": 1536,
            },
        ),
        settings,
    )


@hookimpl
def knapper_embedders() -> Embedder:
    """Hand the provider over; it is used where the configuration names it."""
    return Embedder(name="openai", build=build, local=False)
