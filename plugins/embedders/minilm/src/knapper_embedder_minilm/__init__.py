"""MiniLM: all-MiniLM-L6-v2 from a wheel, run by numpy; better than the default, and slower."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper import hookimpl
from knapper.embed import Embedder

if TYPE_CHECKING:
    from knapper_embedder_minilm.model import MiniLM


def build(settings: Any) -> MiniLM:
    """Load the weights; called once, when the first text is embedded."""
    from knapper_embedder_minilm.model import MiniLM

    return MiniLM.load(settings)


@hookimpl
def knapper_embedders() -> Embedder:
    """Hand the provider over; it is used where the configuration names it."""
    return Embedder(name="minilm", build=build)
