"""Settings that are each allowed but not together."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any

from knapper.config.paths import expanded, inside, located


@lru_cache(64)
def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own; 0.0.0.0 and :: are every interface, so they are not."""
    name = host.strip().strip("[]").lower()
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def check(settings: Any) -> list[str]:
    """Every rule that a configuration breaks, as a sentence that names the keys."""
    issues = [*_auth(settings), *_vaults(settings)]
    http, prometheus = settings.transports.http, settings.observability.prometheus
    open_http = http.enabled and not is_loopback(http.host)
    if open_http and not settings.auth.order:
        issues.append("transports.http.host: is not loopback, so auth.mode must not be 'none'")
    if prometheus.enabled and not is_loopback(prometheus.bind) and not settings.auth.order:
        issues.append("observability.prometheus.bind: is not loopback, so auth.mode must not be 'none'")
    if open_http and "jwt" in settings.auth.order and not effective_audience(settings.auth):
        issues.append("auth.audience: is required (or auth.resource) where HTTP is not loopback")
    if bool(http.certificate_file) != bool(http.key_file):
        issues.append("transports.http: certificate_file and key_file go together")
    if settings.watch.max_batch_delay_ms < settings.watch.debounce_ms:
        issues.append("watch.max_batch_delay_ms: must not be less than watch.debounce_ms")
    if settings.index.max_chunk_chars < settings.index.chunk_chars:
        issues.append("index.max_chunk_chars: must not be less than index.chunk_chars")
    key = settings.auth.api_key
    if open_http and "apikey" in settings.auth.order and key and len(key.get_secret_value()) < 32:
        issues.append("auth.api_key: must have at least 32 characters where HTTP is not loopback")
    return issues


def effective_audience(auth: Any) -> list[str]:
    """What a token's audience must be: the configured one, else the resource; empty where neither is set."""
    audience = auth.audience or auth.resource
    if not audience:
        return []
    return [audience] if isinstance(audience, str) else list(audience)


def _auth(settings: Any) -> list[str]:
    auth, issues = settings.auth, []
    if "jwt" not in auth.order:
        return []
    keys = auth.jwks is not None or auth.jwks_file is not None
    if not auth.jwt_secret and not keys:
        issues.append("auth: mode 'jwt' needs jwt_secret, jwks or jwks_file")
    if auth.jwt_secret and len(auth.jwt_secret.get_secret_value()) < 32:
        issues.append("auth.jwt_secret: must have at least 32 characters")
    if keys and not effective_audience(auth):
        issues.append("auth.audience: is required (or auth.resource) with jwks or jwks_file")
    if auth.issuer and not effective_audience(auth):
        issues.append("auth.audience: is required (or auth.resource) with auth.issuer")
    return issues


def _vaults(settings: Any) -> list[str]:
    ids = [vault.id for vault in settings.vaults]
    issues = [f"vaults: the id {id!r} is used twice" for id in sorted({i for i in ids if ids.count(i) > 1})]
    if settings.default_vault and settings.default_vault not in ids:
        issues.append(f"default_vault: {settings.default_vault!r} is not the id of a vault")
    return [*issues, *_apart(settings)]


def _apart(settings: Any) -> list[str]:
    """Inside a vault the server's own files would be synced, indexed and served."""
    place = located(settings)
    return [
        f"cache_dir: {place} is inside the vault {vault.id!r}; choose a folder outside every vault"
        " (--cache-dir, KNAPPER_CACHE_DIR)"
        for vault in settings.vaults
        if inside(place, expanded(vault.path))
    ]
