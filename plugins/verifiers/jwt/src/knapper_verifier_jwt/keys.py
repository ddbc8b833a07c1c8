"""Which key checks a token: its algorithm decides the kind, so that no public key is ever taken for a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jwt

from knapper import ConfigError, Rejected


class Keys:
    """The secret for HS256, and public keys by their id for everything else."""

    def __init__(self, auth: Any) -> None:
        self._secret = auth.jwt_secret.get_secret_value() if auth.jwt_secret else None
        self._algorithms = frozenset(auth.algorithms)
        self._public = _read(auth)

    @property
    def empty(self) -> bool:
        return self._secret is None and not self._public

    def for_token(self, bearer: str) -> tuple[Any, str]:
        """The key and the one algorithm this token may be checked with."""
        try:
            header = jwt.get_unverified_header(bearer)
        except jwt.InvalidTokenError:
            raise Rejected("malformed") from None
        algorithm = header.get("alg")
        if algorithm == "HS256":
            if self._secret is None:
                raise Rejected("unsupported_alg", "HS256 without a secret")
            return self._secret, "HS256"
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            raise Rejected("unsupported_alg")
        return self._by_id(header.get("kid"), algorithm), algorithm

    def _by_id(self, kid: Any, algorithm: str) -> Any:
        """The key of that id; without an id only where there is no choice."""
        fitting = [
            key for key in self._public if key.algorithm_name == algorithm and kid in (None, key.key_id)
        ]
        if len(fitting) != 1:
            raise Rejected("bad_signature", "no key has the token's kid" if kid else "the token names no kid")
        return fitting[0].key


def _read(auth: Any) -> list[jwt.PyJWK]:
    documents = [auth.jwks] if auth.jwks else []
    if auth.jwks_file:
        try:
            documents.append(json.loads(Path(auth.jwks_file).expanduser().read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise ConfigError(f"auth.jwks_file: cannot be read: {type(error).__name__}") from error
    found = []
    for document in documents:
        for entry in document.get("keys", []):
            if (
                entry.get("kty") == "oct"
            ):  # a shared secret among public keys would let anybody who has it sign
                raise ConfigError("auth.jwks: holds a symmetric key; only public keys belong there")
            try:
                found.append(jwt.PyJWK(entry))
            except jwt.PyJWTError as error:
                raise ConfigError(f"auth.jwks: holds a key that cannot be used: {error}") from error
    return found
