"""Real embedders for retrieval: one that counts words, and one that is down."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from knapper import hookimpl
from knapper.embed import Embedder
from knapper.errors import ToolError
from knapper.testing import Calls

SYNONYMS = {"feline": "cat", "kitten": "cat", "automobile": "car", "vehicle": "car"}


class WordCounts:
    """Words hashed into 64 buckets, synonyms into the same one."""

    identity = "counts/1"
    dimensions = 64

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        rows = np.full((len(texts), 64), 1e-4, np.float32)
        for n, text in enumerate(texts):
            for word in text.lower().replace(".", " ").split():
                rows[n, crc32(SYNONYMS.get(word, word).encode()) % 64] += 1
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class Down:
    """A provider that never answers."""

    identity = "down/1"
    dimensions = 64

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        raise ToolError("embedding_provider_error", "down: cannot be reached", provider="down")


class Given:
    """The plugin that hands them over."""

    @hookimpl
    def knapper_embedders(self) -> list[Embedder]:
        return [
            Embedder(name="counts", build=lambda _: WordCounts()),
            Embedder(name="down", build=lambda _: Down()),
        ]


@pytest.fixture
def meaning(call: Calls) -> Calls:
    """Calls of a server whose model knows a few synonyms."""
    call.plugins = [Given()]
    call.settings = {"embeddings": {"provider": "counts"}}
    return call


def embed(call: Calls, domain: Any) -> None:
    """Give every passage its vector."""
    for vault in call.runtime(domain).vaults:
        vault.index.reconcile()
        vault.index.vectors.embed_now()
