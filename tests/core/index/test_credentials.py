"""What looks like a credential is found in a text, and its passage is neither ranked nor given to a model."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from knapper.config.model import IndexSettings, WatchSettings
from knapper.index.credentials import SHAPES, credentials
from knapper.index.engine import Index
from knapper.index.view import IndexView
from knapper.page import Page
from knapper.testing import VaultFolder
from knapper.vault.disk import Disk

# Put together here, so that no scanner takes this file for a leak.
MIXED = "a8Kd03Jf92Lm47Qp61Zx"
SAMPLES = {
    "aws_access_key_id": "AK" + "IAIOSFODNN7EXAMPLE",
    "github_token": "gh" + "p_" + MIXED * 2,
    "jwt": "ey" + "JhbGciOiJIUzI1.ey" + "JzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
    "private_key_block": "-----BEGIN RSA PRIVATE" + f" KEY-----\n{MIXED}\n-----END RSA PRIVATE KEY-----",
    "vendor_prefixed_key": "sk" + "-proj-" + MIXED,
    "slack_token": "xo" + "xb-123456789012-abcdef",
    "connection_string_credential": "postgres://app:" + "T7m2Qx9b@db.example/notes",
    "generic_key_assignment": f'API_KEY = "{MIXED}"',
}
HARMLESS = [
    "password: see-the-page-about-how-passwords-work",
    "token: xxxxxxxxxxxxxxxxxxxxxxxx1",
    "key: value-of-some-option-2024-11-03",
    "the secret: nobody knows",
    "postgres://user:password@localhost/db",
    "https://example.org:8080/a@b",
    "sk-learn and sk-image are libraries",
    f"hash = {MIXED}",
    "monkey: 1234567890abcdefghij",
]


def test_there_is_a_sample_of_every_shape() -> None:
    assert list(SAMPLES) == [shape.name for shape in SHAPES]


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_credential_is_found_where_it_stands(kind: str) -> None:
    text = f"before\n{SAMPLES[kind]}\nafter"
    found = [one for one in credentials(text) if one.kind == kind]
    assert len(found) == 1
    assert "before" not in text[found[0].start : found[0].end]
    assert "after" not in text[found[0].start : found[0].end]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_talks_of_credentials_is_none(text: str) -> None:
    assert list(credentials(text)) == []


class Overhearing:
    """A model that keeps what it was given."""

    identity, dimensions = "overhearing", 4

    def __init__(self) -> None:
        self.heard: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        self.heard += texts
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]


def test_a_passage_with_a_credential_is_found_by_letter_only_until_the_credential_is_gone(
    vault: VaultFolder, caplog: pytest.LogCaptureFixture
) -> None:
    model = Overhearing()
    index = Index(
        Disk(vault.path),
        vault.path.with_name("index.db"),
        settings=IndexSettings(processes=1),
        watch=WatchSettings(enabled=False),
        embedding=lambda: model,
    )
    vault["n.md"] = f"# One\nquartz\n# Two\nobsidian\n{SAMPLES['slack_token']}\n# Three\nflint\n"
    vault["m.md"] = f"obsidian {SAMPLES['generic_key_assignment']}"
    with caplog.at_level(logging.INFO, "knapper.index"):
        index.reconcile()
    index.vectors.embed_now()
    view = IndexView(index, None)

    assert view.by_words("obsidian", 10) == []
    assert len(view.by_words("quartz", 10)) == len(view.by_words("flint", 10)) == 1
    assert len(model.heard) == 2
    assert not any("obsidian" in text for text in model.heard)
    assert [hit.path for hit in view.literal(Page(), SAMPLES["slack_token"])[0]] == ["n.md"]
    said = [r.getMessage() for r in caplog.records if "credentials" in r.getMessage()]
    assert said == ["passages that look like credentials are not ranked: generic_key_assignment, slack_token"]

    vault["n.md"] = "# Two\nobsidian\n"
    del vault["m.md"]
    index.reconcile()
    assert len(view.by_words("obsidian", 10)) == 1
    assert view.count_chunks() == 1
    with index.db.read() as conn:
        assert conn.execute("SELECT count(*) FROM chunks").fetchone()[0] == 1
    index.close()
