"""`knapper token mint`: a bearer for an HTTP client, signed with the configured secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import click

from knapper.cli._names import check
from knapper.cli._options import as_json, source
from knapper.cli._terminal import print_json, stamp
from knapper.config.interlocks import effective_audience
from knapper.config.load import load
from knapper.config.model import AuthSettings


@click.group("token")
def command() -> None:
    """Make bearer tokens for HTTP clients."""


@command.command("mint")
@source
@click.option("--sub", required=True, help="Who the token is for; becomes the caller.")
@click.option("--aud", help="The audience; the configured one where absent.")
@click.option("--vault", help="Bind the token to this vault.")
@click.option("--scopes", help="Scopes, separated by commas; all where absent, none where empty.")
@click.option(
    "--ttl", type=int, help="Seconds it is valid; auth.token_ttl_seconds where absent, and at most."
)
@as_json
def mint(
    path: str | None,
    sub: str,
    aud: str | None,
    vault: str | None,
    scopes: str | None,
    ttl: int | None,
    as_json: bool,
) -> None:
    """Mint a token signed with auth.jwt_secret (HS256); the token goes to stdout."""
    settings = load(path).settings
    auth = settings.auth
    secret = _secret(auth)
    seconds = auth.token_ttl_seconds if ttl is None else ttl
    if not 0 < seconds <= auth.token_ttl_seconds:
        raise click.UsageError(f"--ttl must be from 1 to auth.token_ttl_seconds, {auth.token_ttl_seconds}")
    if vault is not None:
        check("vault", vault, [one.id for one in settings.vaults])
    now = int(time.time())
    claims: dict[str, Any] = {"sub": sub, "iat": now, "exp": now + seconds}
    claims["scopes"] = ["*"] if scopes is None else [s.strip() for s in scopes.split(",") if s.strip()]
    audience = aud or next(iter(effective_audience(auth)), None)
    claims |= {k: v for k, v in (("aud", audience), ("vault", vault), ("iss", auth.issuer)) if v}
    token = sign(claims, secret)
    if as_json:
        print_json({"token": token, "claims": claims})
    else:
        click.echo(token)
        click.echo(f"For {sub!r}, valid until {stamp(claims['exp'])}.", err=True)


def sign(claims: dict[str, Any], secret: str) -> str:
    """A JWT of these claims under HS256."""
    head = {"alg": "HS256", "typ": "JWT"}
    body = b".".join(_base64(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
    signature = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    return (body + b"." + _base64(signature)).decode()


def _secret(auth: AuthSettings) -> str:
    if "jwt" not in auth.order:
        raise click.UsageError(f"auth.mode is {auth.mode!r}; only mode 'jwt' has tokens to mint")
    if auth.jwt_secret is None:
        raise click.UsageError(
            "auth.jwt_secret is not set: whoever holds the keys of the JWKS mints its tokens"
        )
    return auth.jwt_secret.get_secret_value()


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
