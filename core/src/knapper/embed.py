"""Embedding providers: what a plugin hands over, and what the index asks of the configured one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Model(Protocol):
    """A built embedding model.

    It may also have a `weight`, how much its opinion counts beside that of the words (1.0 where it says nothing), and an
    `embed_each` that hands back a ToolError in place of the row of a text that is refused.
    """

    @property
    def identity(self) -> str:
        """A name for everything that changes what its vectors mean."""
        ...

    @property
    def dimensions(self) -> int:
        """How wide its vectors are."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """One row a text, of unit length; `query` is False for texts that are stored."""
        ...


class Embedder(msgspec.Struct, frozen=True):
    """A kind of embedding provider; `build` gets the `embeddings` settings and loads the model."""

    name: str
    build: Callable[[Any], Model]
    local: bool = True  # False: texts leave the machine
