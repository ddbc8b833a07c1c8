import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from knapper import Caller, ConfigError, Rejected
from knapper.config.model import Settings
from knapper_verifier_jwt import build

SECRET = "s" * 40
VAULTS = [{"id": "main", "path": "."}]


def verifier(**auth: Any) -> Callable[[str], Caller]:
    return build(Settings.model_validate({"vaults": VAULTS, "auth": {"mode": "jwt", **auth}}))


def token(key: Any = SECRET, alg: str = "HS256", kid: str | None = None, **claims: Any) -> str:
    body = {"sub": "ann", "exp": time.time() + 60, "scopes": ["read:*"], **claims}
    body = {name: value for name, value in body.items() if value is not None}
    return jwt.encode(body, key, alg, headers={"kid": kid} if kid else None)


def reason(check: Callable[[str], Caller], bearer: str) -> str:
    with pytest.raises(Rejected) as refused:
        check(bearer)
    return refused.value.reason


def public(key: Any, kid: str, alg: str) -> dict[str, Any]:
    kinds: dict[str, Any] = {
        "RS256": jwt.algorithms.RSAAlgorithm,
        "ES256": jwt.algorithms.ECAlgorithm,
        "EdDSA": jwt.algorithms.OKPAlgorithm,
    }
    return {**json.loads(kinds[alg].to_jwk(key.public_key())), "kid": kid, "alg": alg}


RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = Ed25519PrivateKey.generate()


def test_a_token_of_the_secret_names_its_caller_scopes_and_vault() -> None:
    caller = verifier(jwt_secret=SECRET)(token(vault="main"))
    assert (caller.name, caller.scopes, caller.vault, caller.authenticated) == (
        "ann",
        frozenset({"read:*"}),
        "main",
        True,
    )


def test_scopes_may_be_one_text_with_blanks() -> None:
    caller = verifier(jwt_secret=SECRET)(token(scopes=None, scope="read:notes write:notes"))
    assert caller.scopes == {"read:notes", "write:notes"}


def test_a_token_without_a_subject_has_no_identity() -> None:
    assert verifier(jwt_secret=SECRET)(token(sub=None)).name is None


@pytest.mark.parametrize(("key", "alg"), [(RSA, "RS256"), (EC, "ES256"), (ED, "EdDSA")])
def test_public_keys_are_chosen_by_their_id(key: Any, alg: str) -> None:
    jwks = {"keys": [public(RSA, "r", "RS256"), public(EC, "e", "ES256"), public(ED, "d", "EdDSA")]}
    kid = {"RS256": "r", "ES256": "e", "EdDSA": "d"}[alg]
    check = verifier(jwks=jwks, audience="here")
    assert check(token(key, alg, kid, aud="here")).name == "ann"
    assert reason(check, token(key, alg, "other", aud="here")) == "bad_signature"


def test_keys_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [public(ED, "d", "EdDSA")]}))
    assert verifier(jwks_file=str(file), audience="here")(token(ED, "EdDSA", "d", aud="here")).name == "ann"


def test_a_public_key_is_never_taken_for_a_secret() -> None:
    check = verifier(jwks={"keys": [public(RSA, "r", "RS256")]}, audience="here")
    forged = jwt.encode(
        {"sub": "eve", "exp": time.time() + 60, "aud": "here"}, "x" * 40, "HS256", headers={"kid": "r"}
    )
    assert reason(check, forged) == "unsupported_alg"


def test_a_token_without_signature_is_refused() -> None:
    bare = jwt.encode({"sub": "eve", "exp": time.time() + 60}, "", algorithm="none")
    assert reason(verifier(jwt_secret=SECRET), bare) == "unsupported_alg"


def test_another_secret_is_refused() -> None:
    assert reason(verifier(jwt_secret=SECRET), token("z" * 40)) == "bad_signature"


def test_an_expired_token_is_refused() -> None:
    assert reason(verifier(jwt_secret=SECRET), token(exp=time.time() - 1)) == "token_expired"


def test_a_token_must_have_an_expiry() -> None:
    assert reason(verifier(jwt_secret=SECRET), token(exp=None)) == "missing_claim"


def test_a_token_older_than_allowed_is_refused_though_it_has_not_expired() -> None:
    check = verifier(jwt_secret=SECRET, token_ttl_seconds=100)
    old = token(iat=time.time() - 101)
    with pytest.raises(Rejected) as refused:
        check(old)
    assert (refused.value.reason, refused.value.note) == ("token_max_age", "exp still in future")
    assert check(token(iat=time.time() - 50)).name == "ann"


def test_the_audience_is_enforced_also_when_only_the_resource_is_set() -> None:
    for auth in ({"audience": "https://here"}, {"resource": "https://here"}):
        check = verifier(jwt_secret=SECRET, **auth)
        assert check(token(aud="https://here")).name == "ann"
        assert reason(check, token(aud="https://there")) == "audience_mismatch"
        assert reason(check, token()) == "missing_claim"


def test_the_issuer_is_enforced() -> None:
    check = verifier(jwt_secret=SECRET, issuer="us", audience="here")
    assert reason(check, token(aud="here", iss="them")) == "issuer_mismatch"


@pytest.mark.parametrize("bearer", ["", "a", "a.b.c", "é" * 10, "." * 500])
def test_what_is_no_token_is_malformed(bearer: str) -> None:
    assert reason(verifier(jwt_secret=SECRET), bearer) == "malformed"


@pytest.mark.parametrize("claims", [{"scopes": 7}, {"scopes": [1]}, {"vault": 3}])
def test_claims_of_a_wrong_kind_are_malformed(claims: dict[str, Any]) -> None:
    assert reason(verifier(jwt_secret=SECRET), token(**claims)) == "malformed"


def test_a_symmetric_key_among_public_ones_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="symmetric"):
        verifier(jwks={"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "s"}]}, audience="here")
