from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from knapper.testing_http import Loopback, loopback
from knapper_companion.link import Link
from knapper_companion.snapshot import Snapshot
from tests.companion.certificates import Certificate, self_signed, signed_by
from tests.companion.vaults import companion, settings

DATA = ".obsidian/plugins/obsidian-local-rest-api/data.json"
NOT_TRUSTED = Snapshot(
    companion="unreachable",
    problem="its certificate is not trusted; name it, or its SHA-256 digest, as rest_api_certificate",
)
NO_CERTIFICATE = Snapshot(
    companion="unreachable",
    problem="rest_api_certificate is neither a SHA-256 digest nor a file with a certificate",
)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return self_signed(tmp_path_factory.mktemp("foreign"))


@pytest.fixture
def obsidian(own: Certificate) -> Iterator[Loopback]:
    with loopback(companion, own.server) as found:
        yield found


def probed(folder: Path, obsidian: Loopback, certificate: str | None) -> Snapshot:
    given = settings(folder, obsidian.url, rest_api_certificate=certificate)
    return Link(given).refresh(given)


def keep(folder: Path, certificate: Certificate) -> None:
    (folder / DATA).parent.mkdir(parents=True)
    text = certificate.certificate.read_text("ascii")
    (folder / DATA).write_text(json.dumps({"apiKey": "x", "crypto": {"cert": text}}), encoding="utf-8")


def test_a_certificate_is_trusted_by_its_file(tmp_path: Path, obsidian: Loopback, own: Certificate) -> None:
    assert probed(tmp_path, obsidian, str(own.certificate)).companion == "reachable"


def test_a_relative_file_starts_in_the_vault(tmp_path: Path, obsidian: Loopback, own: Certificate) -> None:
    (tmp_path / "lra.pem").write_bytes(own.certificate.read_bytes())
    assert probed(tmp_path, obsidian, "lra.pem").companion == "reachable"


@pytest.mark.parametrize("form", ["{0}", "sha256:{0}", "SHA-256:{0}", "colons"])
def test_a_certificate_is_pinned_by_its_digest(
    tmp_path: Path, obsidian: Loopback, own: Certificate, form: str
) -> None:
    digest = own.digest.upper()
    pairs = ":".join(digest[i : i + 2] for i in range(0, 64, 2))
    assert probed(tmp_path, obsidian, form.format(digest).replace("colons", pairs)).companion == "reachable"


def test_without_a_setting_the_one_that_the_plugin_keeps_in_the_vault_is_trusted(
    tmp_path: Path, obsidian: Loopback, own: Certificate
) -> None:
    keep(tmp_path, own)
    assert probed(tmp_path, obsidian, None).companion == "reachable"


def test_somebody_elses_certificate_is_refused_and_gets_no_key(
    tmp_path: Path, obsidian: Loopback, foreign: Certificate
) -> None:
    keep(tmp_path, foreign)
    for certificate in (None, foreign.digest, str(foreign.certificate)):
        assert probed(tmp_path, obsidian, certificate) == NOT_TRUSTED
    assert obsidian.asked == []


def test_by_default_one_that_vouches_for_itself_is_not_trusted(tmp_path: Path, obsidian: Loopback) -> None:
    assert probed(tmp_path, obsidian, None) == NOT_TRUSTED
    assert obsidian.asked == []


def test_a_setting_that_names_no_certificate_is_told(tmp_path: Path, obsidian: Loopback) -> None:
    (tmp_path / "empty.pem").write_text("nothing", encoding="utf-8")
    for certificate in ("empty.pem", "missing.pem", "ab" * 31, ""):
        assert probed(tmp_path, obsidian, certificate) == NO_CERTIFICATE


def test_a_certificate_for_another_host_is_trusted_as_the_very_one(tmp_path: Path) -> None:
    other = self_signed(tmp_path / "other", host="192.0.2.7")
    with loopback(companion, other.server) as obsidian:
        assert probed(tmp_path, obsidian, str(other.certificate)).companion == "reachable"


def test_tls_to_who_does_not_speak_it_is_told(tmp_path: Path) -> None:
    with loopback(companion) as plain:
        given = settings(tmp_path, plain.url.replace("http:", "https:"))
        assert Link(given).refresh(given) == Snapshot(
            companion="unreachable", problem="it does not speak TLS as expected"
        )


def test_an_authority_of_ones_own_is_trusted_for_the_hosts_it_signed(
    tmp_path: Path, own: Certificate
) -> None:
    right = signed_by(own, tmp_path / "right", host="127.0.0.1")
    wrong = signed_by(own, tmp_path / "wrong", host="192.0.2.7")
    with loopback(companion, right.server) as obsidian:
        assert probed(tmp_path, obsidian, str(own.certificate)).companion == "reachable"
    with loopback(companion, wrong.server) as obsidian:
        assert probed(tmp_path, obsidian, str(own.certificate)) == NOT_TRUSTED
