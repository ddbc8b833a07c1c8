"""WordLlama: the default model; its weights come in a wheel, and nothing is ever downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper import hookimpl
from knapper.embed import Embedder

if TYPE_CHECKING:
    from knapper_embedder_wordllama.model import WordLlama


def build(settings: Any) -> WordLlama:
    """Load the weights; called once, when the first text is embedded."""
    from knapper_embedder_wordllama.model import WordLlama

    return WordLlama.load(settings)


@hookimpl
def knapper_embedders() -> Embedder:
    """Hand the provider over; it is used where the configuration names it, or names none."""
    return Embedder(name="wordllama", build=build)
