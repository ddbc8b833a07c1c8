"""The configuration as it may be shown: whole, but without its secrets."""

from __future__ import annotations

import re
from typing import Any

from pydantic import SecretStr

REDACTED = "<redacted>"
SECRET = re.compile(r"(secret|token|password|key)$", re.IGNORECASE)
HEADERS = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "x-api-key",
        "x-auth-token",
        "api-key",
    }
)
USER_INFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def redacted(value: Any, name: str = "") -> Any:
    """The same value with every secret replaced: by its type, by the name it stands under, or inside an address."""
    if isinstance(value, dict):
        return {key: redacted(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(item, name) for item in value]
    if isinstance(value, SecretStr):
        return REDACTED
    if not isinstance(value, str):
        return value
    return REDACTED if is_secret(name) else USER_INFO.sub(REDACTED, value)


def is_secret(name: str) -> bool:
    """Whether what stands under this name is a secret, whatever its type."""
    return SECRET.search(name) is not None or name.lower() in HEADERS
