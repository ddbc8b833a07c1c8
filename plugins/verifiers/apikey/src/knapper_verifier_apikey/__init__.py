"""One shared key as the bearer, compared in constant time; generated and kept for its owner alone where none is set."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from knapper import Caller, ConfigError, Rejected, Verifier, hookimpl
from knapper.config.interlocks import is_loopback
from knapper.config.paths import cache_dir

SHORTEST = 32


def build(settings: Any) -> Callable[[str], Caller]:
    """A check against the configured key, or against the one in the cache folder, which is made if it is missing."""
    key = (
        settings.auth.api_key.get_secret_value()
        if settings.auth.api_key
        else stored(cache_dir(settings) / "api-key")
    )
    if not is_loopback(settings.transports.http.host) and len(key) < SHORTEST:
        raise ConfigError(
            f"auth.api_key: must have at least {SHORTEST} characters where HTTP is not loopback"
        )
    scopes, expected = frozenset(settings.auth.api_key_scopes), key.encode()

    def verify(bearer: str) -> Caller:
        if not hmac.compare_digest(bearer.encode(), expected):
            raise Rejected("bad_signature", "not the key")
        return Caller("apikey", scopes, authenticated=True)

    return verify


def stored(path: Path) -> str:
    """The key in a file; where there is none, a new one that only its owner can read."""
    if not path.exists():
        _make(path)
    key = path.read_text("ascii").strip()
    if len(key) < SHORTEST:  # a file that was cut short must not become a key that anybody can guess
        raise ConfigError(
            f"the key in {path.name!r} has under {SHORTEST} characters; delete it to get a new one"
        )
    return key


def _make(path: Path) -> None:
    """The file appears whole or not at all, and a second process that makes one at the same time uses the first."""
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


@hookimpl
def knapper_verifiers() -> Verifier:
    return Verifier(name="apikey", build=build)
