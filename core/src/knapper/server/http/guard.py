"""Host and Origin: whether a request comes from where it claims, before anything else is looked at.

A browser can be made to send requests to this machine. Its Host header still names the site it thinks it talks to.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from knapper.config.interlocks import is_loopback


class Guard:
    """The hosts and origins of one listener."""

    def __init__(self, settings: Any) -> None:
        self._on = settings.enable_dns_rebinding_protection
        self._hosts = frozenset(host.strip().lower() for host in settings.allowed_hosts)
        self._origins = frozenset(origin.strip().lower().rstrip("/") for origin in settings.allowed_origins)

    def refusal(self, host: str | None, origin: str | None) -> str | None:
        """Why a request is refused, or None where it may go on."""
        if not self._on:
            return None
        name = hostname(host or "")
        if not name or not (is_loopback(name) or _among(self._hosts, host or "", name)):
            return "host not allowed"
        return None if origin is None or self.allows_origin(origin, name) else "origin not allowed"

    def allows_origin(self, origin: str, host: str) -> bool:
        given = origin.strip().lower().rstrip("/")
        try:
            name = urlsplit(given).hostname or ""
        except ValueError:
            return False
        return "*" in self._origins or (bool(name) and (name == host or _among(self._origins, given, name)))


def hostname(host: str) -> str:
    """The name in a Host header: without a port, without the brackets of an IPv6 address; empty where it is none."""
    value = host.strip().lower()
    if value.startswith("["):
        address = re.fullmatch(r"\[([^]]*)\](:\d*)?", value)
        return address[1] if address else ""
    name, colon, port = value.rpartition(":")
    return name if colon and port.isdecimal() and ":" not in name else value


def _among(allowed: Collection[str], whole: str, name: str) -> bool:
    return name in allowed or whole.strip().lower() in allowed
