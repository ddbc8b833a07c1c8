"""Who calls: what the server observed of a client, never what the client says of itself."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256


class Caller:
    """One authenticated or anonymous client, and what it was granted."""

    def __init__(
        self,
        name: str | None,
        scopes: frozenset[str] = frozenset(),
        *,
        authenticated: bool = False,
        vault: str | None = None,
        session: str | None = None,
        client: str = "",
    ) -> None:
        self.name = name
        self.scopes = scopes
        self.authenticated = authenticated
        self.vault = vault  # bound to this vault; None where the caller may name any
        self.session = session
        self.client = client

    @cached_property
    def hash(self) -> str:
        """Eight hex digits that stand for the caller in logs and metrics."""
        return sha256((self.name or "anonymous").encode()).hexdigest()[:8]

    def may(self, required: str) -> bool:
        """Whether one of the granted scopes covers the required one."""
        if not self.scopes.isdisjoint((required, "*")):
            return True
        family, _, resource = required.partition(":")
        return any(_covers(granted, family, resource) for granted in self.scopes)


def _covers(granted: str, family: str, resource: str) -> bool:
    given_family, colon, given_resource = granted.partition(":")
    if given_family not in ("*", family):
        return False
    return not colon or given_resource in ("*", resource)


LOCAL = frozenset({"*"})
