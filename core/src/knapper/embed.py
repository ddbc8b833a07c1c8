"""Embedding providers: what a plugin hands over, and what the index asks of the configured one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Model(Protocol):
    """A built embedding model. `identity` names everything that changes what its vectors mean."""

    identity: str
    dimensions: int

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """One row a text, of unit length; `query` is False for texts that are stored."""
        ...


class Embedder(msgspec.Struct, frozen=True):
    """A kind of embedding provider; `build` gets the `embeddings` settings and loads the model."""

    name: str
    build: Callable[[Any], Model]
    local: bool = True  # False: texts leave the machine
