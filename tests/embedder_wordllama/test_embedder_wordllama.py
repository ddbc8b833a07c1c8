"""The default model: from its wheel, without a network."""

import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knapper.config.model import EmbeddingSettings
from knapper_embedder_wordllama import knapper_embedders


def test_every_text_becomes_a_row_of_unit_length() -> None:
    rows = (
        knapper_embedders().build(EmbeddingSettings()).embed(["obsidian", "", "日本語のノート"], query=False)
    )
    assert rows.shape == (3, 256)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_like_texts_are_nearer_than_unlike_ones() -> None:
    model = knapper_embedders().build(EmbeddingSettings())
    dog, puppy, tax = model.embed(["a dog plays", "the puppy is playing", "income tax return"], query=False)
    assert dog @ puppy > dog @ tax


def test_a_text_gets_the_same_vector_alone_and_in_a_batch() -> None:
    model = knapper_embedders().build(EmbeddingSettings())
    texts = [f"note number {n} about stones" for n in range(300)]
    assert np.allclose(model.embed(texts, query=False)[299], model.embed([texts[299]], query=True)[0])


def test_nothing_is_asked_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert knapper_embedders().build(EmbeddingSettings()).embed(["x"], query=True).shape == (1, 256)


def test_a_prefix_changes_the_vectors_and_so_the_identity() -> None:
    plain = knapper_embedders().build(EmbeddingSettings())
    prefixed = knapper_embedders().build(EmbeddingSettings(query_prefix="search: "))
    assert plain.identity != prefixed.identity
    assert not np.allclose(plain.embed(["stone"], query=True), prefixed.embed(["stone"], query=True))
    assert np.allclose(plain.embed(["stone"], query=False), prefixed.embed(["stone"], query=False))


def test_a_first_query_gets_the_vector_that_the_same_text_gets_later() -> None:
    model = knapper_embedders().build(EmbeddingSettings())
    first = model.embed(["obsidian tools"], query=True)
    assert np.array_equal(model.embed(["obsidian tools"], query=False), first)
    assert np.array_equal(model.embed(["obsidian tools"], query=True), first)


EMBEDDING = """
from pathlib import Path
from knapper.config.model import EmbeddingSettings
from knapper_embedder_wordllama import knapper_embedders
model = knapper_embedders().build(EmbeddingSettings())
for round in range(3):
    for n in range(40):
        model.embed([f"text {round} {n} {one} is like none before it, and short" for one in range(100)], query=False)
    print(Path("/proc/self/status").read_text())
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not say what a process holds"
)
def test_texts_that_were_embedded_are_not_remembered() -> None:
    told = subprocess.run(
        [sys.executable, "-c", EMBEDDING], capture_output=True, text=True, check=True
    ).stdout
    first, _, last = (int(kilobytes) for kilobytes in re.findall(r"RssAnon:\s+(\d+) kB", told))
    assert last - first < 4000
