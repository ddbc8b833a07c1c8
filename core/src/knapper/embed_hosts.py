"""Where texts may be sent to be embedded: this machine, a private network where that is allowed, a chosen vendor.

Choosing a vendor as provider is consent to send texts to that vendor's own host. Any other public host needs
`embeddings.allow_public_network`. The same check is made when the configuration is read, before each batch of notes,
and before each query.
"""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})
PRIVATE_ENDINGS = (".internal", ".local", ".home.arpa")
PRIVATE_NETWORKS = [
    ipaddress.ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
]
VENDORS = {"openai": "api.openai.com", "voyage": "api.voyageai.com", "cohere": "api.cohere.com"}


def problem(url: str, settings: Any) -> str | None:
    """Why texts may not be sent to an address, or None where they may."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower().rstrip(".")
    except ValueError:
        return "embeddings.base_url is not an address"
    if parts.scheme not in ("http", "https") or not host:
        return "embeddings.base_url has to begin with http:// or https:// and name a host"
    if parts.username or parts.password:
        return "embeddings.base_url must not hold a password; use embeddings.api_key"
    if host in LOCAL or settings.allow_public_network:
        return None
    if VENDORS.get(settings.provider) == host:
        return None if parts.scheme == "https" else f"{host} is only asked over https"
    if is_private(host):
        if settings.allow_private_network:
            return None
        return f"{host!r} is on a private network; set embeddings.allow_private_network to send texts there"
    return f"{host!r} is a public host; set embeddings.allow_public_network to send texts there"


def is_private(host: str) -> bool:
    """Whether a name or number belongs to a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(PRIVATE_ENDINGS)
    return any(address in network for network in PRIVATE_NETWORKS)
