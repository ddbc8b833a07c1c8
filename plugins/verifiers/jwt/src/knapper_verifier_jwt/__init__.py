"""Bearers that are JSON Web Tokens, checked with the shared secret or with local public keys, never with fetched ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knapper import Caller, Rejected, Verifier, hookimpl


def build(settings: Any) -> Callable[[str], Caller]:
    """A check made of the `auth` settings; key files are read once, here."""
    from knapper_verifier_jwt.claims import caller_of  # with them comes cryptography, which only HTTP needs
    from knapper_verifier_jwt.keys import Keys

    auth, keys = settings.auth, Keys(settings.auth)

    def verify(bearer: str) -> Caller:
        if keys.empty:
            raise Rejected("misconfigured", "auth has neither a secret nor keys")
        return caller_of(bearer, *keys.for_token(bearer), auth)

    return verify


@hookimpl
def knapper_verifiers() -> Verifier:
    return Verifier(name="jwt", build=build)
