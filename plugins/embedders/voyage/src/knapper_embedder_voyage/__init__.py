"""Voyage AI: it embeds queries and documents apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knapper import hookimpl
from knapper.embed import Embedder

if TYPE_CHECKING:
    from knapper.embed_http import HttpModel


def build(settings: Any) -> HttpModel:
    """The model behind the configured address; nothing is sent before the first text."""
    from knapper.embed_http import Api, HttpModel, openai_read

    return HttpModel(
        Api(
            provider="voyage",
            path="/embeddings",
            ask=ask,
            read=openai_read,
            base_url="https://api.voyageai.com/v1",
            model="voyage-3.5",
            key_env="VOYAGE_API_KEY",
            needs_key=True,
            widths={"voyage-3.5": 1024, "voyage-3.5-lite": 1024, "voyage-3-large": 1024},
        ),
        settings,
    )


def ask(model: str, texts: Sequence[str], query: bool) -> dict[str, Any]:
    """A request of OpenAI's shape that also says what the texts are for."""
    return {"model": model, "input": list(texts), "input_type": "query" if query else "document"}


@hookimpl
def knapper_embedders() -> Embedder:
    """Hand the provider over; it is used where the configuration names it."""
    return Embedder(name="voyage", build=build, local=False)
