"""A verifier that exists for tests only: it knows one bearer, and fails inside over another."""

from collections.abc import Callable
from typing import Any

from knapper import Caller, Rejected, Verifier, hookimpl


def build(settings: Any) -> Callable[[str], Caller]:
    """Know a friend and a reader; fail as a careless plugin does, with a path in the text."""

    def verify(bearer: str) -> Caller:
        if bearer == "broken":
            raise RuntimeError("cannot open /home/ann/keys/secret.pem")
        if bearer not in ("friend", "reader"):
            raise Rejected("bad_signature")
        scopes = frozenset({"*"} if bearer == "friend" else {"read:notes"})
        return Caller(bearer, scopes, authenticated=True)

    return verify


@hookimpl
def knapper_verifiers() -> Verifier:
    """Hand the verifier over."""
    return Verifier(name="doorman", build=build)
