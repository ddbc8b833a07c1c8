import hmac
import stat
from pathlib import Path
from typing import Any

import pytest

from knapper import ConfigError, Rejected
from knapper.config.model import Settings
from knapper_verifier_apikey import build

KEY = "k" * 32


def settings(cache: Path, host: str = "127.0.0.1", **auth: Any) -> Settings:
    values = {
        "vaults": [{"id": "main", "path": "."}],
        "cache_dir": str(cache),
        "auth": {"mode": "apikey", **auth},
        "transports": {"http": {"host": host}},
    }
    return Settings.model_validate(values)


def test_the_key_is_the_caller_with_the_configured_scopes(tmp_path: Path) -> None:
    caller = build(settings(tmp_path, api_key=KEY, api_key_scopes=["read:*"]))(KEY)
    assert (caller.name, caller.scopes, caller.authenticated) == ("apikey", frozenset({"read:*"}), True)


@pytest.mark.parametrize("bearer", ["", KEY[:-1], KEY + "k", "ü" * 32])
def test_anything_else_is_refused(tmp_path: Path, bearer: str) -> None:
    with pytest.raises(Rejected):
        build(settings(tmp_path, api_key=KEY))(bearer)


def test_a_key_is_compared_in_constant_time_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[Any, Any]] = []
    compare = hmac.compare_digest

    def watched(given: bytes, expected: bytes) -> bool:
        compared.append((given, expected))
        return compare(given, expected)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    verify = build(settings(tmp_path, api_key=KEY))
    wrong = ["x" + KEY[1:], KEY[:-1] + "x", "x"]
    for bearer in wrong:
        with pytest.raises(Rejected):
            verify(bearer)
    assert verify(KEY).name == "apikey"
    assert compared == [(bearer.encode(), KEY.encode()) for bearer in [*wrong, KEY]]


def test_a_missing_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    build(settings(tmp_path))
    file = tmp_path / "api-key"
    key = file.read_text()
    assert len(key) >= 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert build(settings(tmp_path))(key).name == "apikey"


def test_a_short_key_is_refused_off_loopback(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="32 characters"):
        build(settings(tmp_path, "0.0.0.0", api_key=KEY[:-1]))
    assert build(settings(tmp_path, "127.0.0.1", api_key="short"))("short").name == "apikey"
