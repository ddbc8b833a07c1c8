"""What a token says, checked: its time, its audience and issuer, and the caller it stands for."""

from __future__ import annotations

import time
from typing import Any

import jwt

from knapper import Caller, Rejected
from knapper.config.interlocks import effective_audience

REASONS: tuple[tuple[type[jwt.InvalidTokenError], str], ...] = (
    (jwt.ExpiredSignatureError, "token_expired"),
    (jwt.InvalidAudienceError, "audience_mismatch"),
    (jwt.InvalidIssuerError, "issuer_mismatch"),
    (jwt.MissingRequiredClaimError, "missing_claim"),
    (jwt.InvalidAlgorithmError, "unsupported_alg"),
    (jwt.InvalidSignatureError, "bad_signature"),
    (jwt.DecodeError, "malformed"),
)


def caller_of(bearer: str, key: Any, algorithm: str, auth: Any) -> Caller:
    """The caller a token stands for, or Rejected with the reason for the operator."""
    audience = effective_audience(auth)
    required = ["exp", *(["aud"] if audience else []), *(["iss"] if auth.issuer else [])]
    try:
        claims = jwt.decode(
            bearer,
            key,
            algorithms=[algorithm],
            audience=audience or None,
            issuer=auth.issuer,
            options={"require": required, "verify_aud": bool(audience)},
        )
    except jwt.InvalidTokenError as error:
        raise Rejected(
            next((reason for kind, reason in REASONS if isinstance(error, kind)), "malformed")
        ) from None
    _check_age(claims, auth.token_ttl_seconds)
    return _caller(claims)


def _check_age(claims: dict[str, Any], most: int) -> None:
    """A token older than allowed is refused although its own expiry is still to come."""
    issued = claims.get("iat")
    if issued is None:
        return
    if not isinstance(issued, (int, float)):
        raise Rejected("malformed", "iat is not a number")
    if time.time() - issued > most:
        raise Rejected("token_max_age", "exp still in future" if claims["exp"] > time.time() else "")


def _caller(claims: dict[str, Any]) -> Caller:
    subject, vault = claims.get("sub"), claims.get("vault")
    if vault is not None and not isinstance(vault, str):
        raise Rejected("malformed", "vault is not a text")
    return Caller(
        subject if isinstance(subject, str) else None, _scopes(claims), authenticated=True, vault=vault
    )


def _scopes(claims: dict[str, Any]) -> frozenset[str]:
    listed = claims.get("scopes", claims.get("scope", []))
    if isinstance(listed, str):
        listed = listed.split()
    if not isinstance(listed, list) or not all(isinstance(scope, str) for scope in listed):
        raise Rejected("malformed", "scopes is neither a list nor a text")
    return frozenset(listed)
