"""A table of token vectors and their mean: no layers, no network, thousands of texts a second.

The wheel's own loader looks for its tokenizer where the wheel does not have it and then asks the network, so the two
files are read directly.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from knapper.errors import ToolError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
    Halves = NDArray[np.float16]

WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
BATCH = 128


class WordLlama:
    """256 dimensions; a text is the mean of its tokens."""

    identity = "wordllama/l2_supercat/256/1"
    dimensions = 256
    weight = 0.7  # it knows less than the words do: measured on public sets, see docs/retrieval.md

    def __init__(self, halves: Halves, tokenizer: Tokenizer, settings: Any = None) -> None:
        self._halves = halves
        self._tokenizer = tokenizer
        self._prefix = (getattr(settings, "document_prefix", ""), getattr(settings, "query_prefix", ""))
        if any(self._prefix):
            self.identity = f"{WordLlama.identity}/{self._prefix!r}"

    @classmethod
    def load(cls, settings: Any = None) -> WordLlama:
        """The model from the wheel that carries it, without importing that wheel's code."""
        found = find_spec("wordllama")
        if found is None or found.origin is None:
            raise ToolError(
                "embedding_provider_error",
                "the weights of wordllama are not installed; run: pip install wordllama",
                provider="wordllama",
            )
        folder = Path(found.origin).parent
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        # It would remember ten thousand texts a thread, for it takes a whole text for a word; few come twice.
        tokenizer.model._resize_cache(0)
        return cls(_halves(folder / WEIGHTS), tokenizer, settings)

    @cached_property
    def _table(self) -> Array:
        """The whole table in full floats, for many texts: adding halves is slow."""
        return self._halves.astype(np.float32)

    def embed(self, texts: Sequence[str], *, query: bool) -> Array:
        """One row a text, of unit length; a query is embedded like a stored text."""
        prefix = self._prefix[query]
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), BATCH):
            batch = [prefix + text for text in texts[start : start + BATCH]]
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            for n, one in enumerate(encoded, start):
                if one.ids:
                    rows[n] = self._vectors(one.ids, query=query).sum(0)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        # A text without a single token points nowhere in particular.
        rows[lengths[:, 0] == 0] = 1
        unit: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def _vectors(self, tokens: list[int], *, query: bool) -> Array:
        """The vectors of tokens; a query has few, and should not wait for the whole table."""
        if query and "_table" not in vars(self):
            return self._halves[tokens].astype(np.float32)
        found: Array = self._table[tokens]
        return found


def _halves(file: Path) -> Halves:
    """The one tensor of a safetensors file, as it lies there: only what is looked up is read."""
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(size))
    (tensor,) = [value for name, value in header.items() if name != "__metadata__"]
    start, end = tensor["data_offsets"]
    shape: tuple[int, int] = tuple(tensor["shape"])
    if tensor["dtype"] != "F16" or end - start != 2 * shape[0] * shape[1]:
        raise ToolError("embedding_provider_error", "the weights of wordllama are not what they should be")
    return np.memmap(file, np.float16, "r", offset=8 + size + start, shape=shape)
