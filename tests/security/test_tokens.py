"""Bearers that must not work, sent to a real server: every one of them reads the same refusal."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.security.wire import Site, called, end
from tests.server.conftest import Web

SECRET = "s" * 40
RSA = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
PUBLIC = RSA.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
REFUSED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "invalid or expired token"}}


def public_jwk(key: Any, kid: str) -> dict[str, Any]:
    algorithm = (
        jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    )
    found: dict[str, Any] = json.loads(algorithm.to_jwk(key.public_key()))
    return {
        **found,
        "kid": kid,
        "alg": "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256",
        "use": "sig",
    }


def part(value: Any) -> bytes:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")


def hs256(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """A token signed by hand, since libraries refuse to help with the worst ones."""
    body = part(header) + b"." + part(claims)
    signature = base64.urlsafe_b64encode(hmac.new(secret, body, hashlib.sha256).digest()).rstrip(b"=")
    return (body + b"." + signature).decode()


def claims(**more: Any) -> dict[str, Any]:
    now = int(time.time())
    base = {"sub": "ann", "aud": "knapper", "iss": "https://issuer.example", "iat": now, "exp": now + 600}
    return {k: v for k, v in {**base, "scopes": ["read:*"], **more}.items() if v is not None}


def rs256(key: Any = RSA, kid: str | None = "rsa", **more: Any) -> str:
    return jwt.encode(claims(**more), key, "RS256", headers={"kid": kid} if kid else {})


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Public keys only: nothing symmetric can be right here."""
    auth = {
        "mode": "jwt",
        "jwks": {"keys": [public_jwk(RSA, "rsa"), public_jwk(CURVE, "curve")]},
        "audience": "knapper",
        "issuer": "https://issuer.example",
    }
    web = Site(tmp_path_factory.mktemp("keyed"), auth=auth).web()
    yield web
    end(web)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A shared secret, and nothing else."""
    web = Site(tmp_path_factory.mktemp("shared"), auth={"mode": "jwt", "jwt_secret": SECRET}).web()
    yield web
    end(web)


def refused(web: Web, token: str) -> bool:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    status, headers, content = web.request(body=ping, Authorization=f"Bearer {token}")
    if status != 401:
        return False
    assert json.loads(content) == REFUSED
    assert headers["www-authenticate"].startswith('Bearer realm="knapper"')
    return True


def test_a_good_token_is_the_caller_it_names_and_bound_to_the_default_vault(keyed: Web) -> None:
    bearer = {"Authorization": f"Bearer {rs256()}"}
    assert called(keyed, "read_note", {"path": "a.md"}, **bearer)["content"] == "at home\n"
    foreign = called(keyed, "read_note", {"path": "a.md", "vault": "work"}, **bearer)
    assert foreign["details"] == {"vault": "work", "bound_vault": "home"}
    written = called(keyed, "write_note", {"path": "b.md", "content": "x"}, **bearer)
    assert (written["code"], written["details"]) == ("forbidden", {"required": ["write:notes"]})


def test_a_token_for_a_vault_is_bound_to_it(keyed: Web) -> None:
    bearer = {"Authorization": f"Bearer {rs256(vault='work')}"}
    assert called(keyed, "read_note", {"path": "a.md"}, **bearer)["content"] == "at work\n"
    assert called(keyed, "read_note", {"path": "a.md", "vault": "home"}, **bearer)["code"] == "forbidden"
    gone = {"Authorization": f"Bearer {rs256(vault='nowhere')}"}
    assert called(keyed, "read_note", {"path": "a.md"}, **gone)["code"] == "vault_not_found"


CONFUSED: dict[str, Callable[[], str]] = {
    "no algorithm": lambda: (part({"alg": "none"}) + b"." + part(claims()) + b".").decode(),
    "no algorithm in capitals": lambda: (part({"alg": "NONE"}) + b"." + part(claims()) + b".").decode(),
    "no algorithm and a signature": lambda: hs256({"alg": "none"}, claims(), PUBLIC),
    "the public key as a secret": lambda: hs256({"alg": "HS256", "kid": "rsa"}, claims(), PUBLIC),
    "the public key's modulus as a secret": lambda: hs256(
        {"alg": "HS256"}, claims(), public_jwk(RSA, "rsa")["n"].encode()
    ),
    "an empty secret": lambda: hs256({"alg": "HS256"}, claims(), b""),
    "HS512 with the public key": lambda: hs256({"alg": "HS512", "kid": "rsa"}, claims(), PUBLIC),
    "a key of the other kind": lambda: jwt.encode(claims(), CURVE, "ES256", headers={"kid": "rsa"}),
    "a list for an algorithm": lambda: hs256({"alg": ["HS256"]}, claims(), PUBLIC),
    "a number for an algorithm": lambda: hs256({"alg": 5}, claims(), PUBLIC),
    "no header field at all": lambda: hs256({}, claims(), PUBLIC),
    "a key of its own in the header": lambda: jwt.encode(
        claims(), OTHER, "RS256", headers={"jwk": public_jwk(OTHER, "rsa"), "kid": "rsa"}
    ),
    "an address of keys in the header": lambda: jwt.encode(
        claims(), OTHER, "RS256", headers={"jku": "http://127.0.0.1:1/keys", "kid": "rsa"}
    ),
    "somebody else's key": lambda: rs256(OTHER),
    "an unknown key id": lambda: rs256(kid="../../etc/passwd"),
    "a damaged signature": lambda: rs256(kid=None)[:-8] + "AAAAAAAA",
    "expired": lambda: rs256(exp=int(time.time()) - 1),
    "without an end": lambda: rs256(exp=None),
    "with an end that is no number": lambda: rs256(exp="never"),
    "not yet valid": lambda: rs256(nbf=int(time.time()) + 600),
    "issued in the future": lambda: rs256(iat=int(time.time()) + 600),
    "too old though not expired": lambda: rs256(iat=int(time.time()) - 90_000),
    "for another audience": lambda: rs256(aud="elsewhere"),
    "for no audience": lambda: rs256(aud=None),
    "of another issuer": lambda: rs256(iss="https://evil.example"),
    "of no issuer": lambda: rs256(iss=None),
    "scopes that are no list": lambda: rs256(scopes={"read": True}),
    "scopes that are no texts": lambda: rs256(scopes=[["*"]]),
    "a vault that is no text": lambda: rs256(vault=["home", "work"]),
    "cut short": lambda: rs256()[:-4],
    "with another payload": lambda: _swapped(rs256(), claims(scopes=["*"])),
    "not a token": lambda: "a.b.c",
    "a deeply nested header": lambda: (base64.urlsafe_b64encode(b"[" * 5000) + b".e30.").decode(),
    "very long": lambda: "x" * 30_000,
}


def _swapped(token: str, other: dict[str, Any]) -> str:
    head, _, signature = token.split(".")
    return f"{head}.{part(other).decode()}.{signature}"


@pytest.mark.parametrize("kind", CONFUSED)
def test_no_forged_or_stale_token_is_taken_with_public_keys(keyed: Web, kind: str) -> None:
    assert refused(keyed, CONFUSED[kind]())


@pytest.mark.parametrize(
    "token",
    [
        lambda: jwt.encode(claims(), RSA, "RS256"),
        lambda: hs256({"alg": "HS256"}, claims(), SECRET[:-1].encode()),
        lambda: hs256({"alg": "none"}, claims(), SECRET.encode()),
        lambda: hs256({"alg": "hs256"}, claims(), SECRET.encode()),
        lambda: jwt.encode(claims(), SECRET * 2, "HS512"),
        lambda: jwt.encode(claims(exp=None), SECRET, "HS256"),
    ],
)
def test_no_forged_or_stale_token_is_taken_with_a_secret(shared: Web, token: Any) -> None:
    assert refused(shared, token())


def test_a_token_of_the_secret_is_taken(shared: Web) -> None:
    assert not refused(shared, jwt.encode(claims(), SECRET, "HS256"))


def test_why_a_token_was_refused_is_in_the_operators_log_alone(shared: Web) -> None:
    assert refused(shared, jwt.encode(claims(iat=int(time.time()) - 90_000), SECRET, "HS256"))
    assert refused(shared, jwt.encode(claims(exp=1), SECRET, "HS256"))
    log = "".join(shared.errors)
    assert "token_max_age" in log
    assert "exp still in future" in log
    assert "token_expired" in log
    assert "eyJ" not in log


def test_a_token_without_a_subject_is_nobody_and_cannot_be_confirmed(shared: Web) -> None:
    bearer = {"Authorization": f"Bearer {jwt.encode(claims(sub=None, scopes=['*']), SECRET, 'HS256')}"}
    assert called(shared, "read_note", {"path": "a.md"}, **bearer)["content"] == "at home\n"
    refused = called(shared, "delete_note", {"path": "a.md"}, **bearer)
    assert refused["code"] == "elicit_required"
    assert "approval" not in refused["details"]


def test_nothing_but_a_bearer_in_its_header_counts(shared: Web) -> None:
    token = jwt.encode(claims(), SECRET, "HS256")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for headers in (
        {},
        {"Authorization": token},
        {"Authorization": f"Basic {token}"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer  "},
        {"X_Authorization": f"Bearer {token}"},
        {"Proxy_Authorization": f"Bearer {token}"},
        {"Cookie": f"Authorization=Bearer {token}"},
    ):
        status, _, content = shared.request(body=ping, **headers)
        assert (status, json.loads(content)["error"]["message"]) == (401, "missing bearer token")
    assert shared.request("POST", f"/mcp?access_token={token}", body=ping)[0] == 401
