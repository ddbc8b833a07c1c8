"""Who calls over HTTP: what the verifiers make of the bearer, in their configured order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from knapper.caller import LOCAL, Caller
from knapper.errors import ConfigError
from knapper.sinks import Event
from knapper.verify import Rejected

if TYPE_CHECKING:
    from knapper.runtime import Runtime

log = logging.getLogger("knapper.auth")
METADATA = "/.well-known/oauth-protected-resource"
API_KEY = b"x-obsiscripta-api-key"


class Unauthorised(Exception):
    """The request is refused; every cause reads the same to the client."""

    def __init__(self, message: str, *, status: int = 401) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class Bearers:
    """The configured verifiers, built once."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._auth = runtime.settings.auth
        self._verify = [self._built(name) for name in self._auth.order]

    @property
    def needed(self) -> bool:
        return bool(self._verify)

    def _built(self, name: str) -> Callable[[str], Caller]:
        verifier = self._runtime.registry.verifiers.get(name)
        if verifier is None:
            raise ConfigError(f"auth: no installed plugin provides the verifier {name!r}")
        return verifier.build(self._runtime.settings)

    def local(self) -> Caller:
        """Who calls where nobody has to prove anything: someone on this machine."""
        return Caller("http-local", LOCAL, authenticated=True, vault=self._runtime.vaults.default)

    def caller(self, header: str | None) -> Caller:
        """The caller that an Authorization header proves, bound to one vault."""
        scheme, _, bearer = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not bearer.strip():
            raise Unauthorised("missing bearer token")
        found = self._verified(bearer.strip())
        vault = found.vault or self._runtime.vaults.default
        return Caller(found.name, found.scopes, authenticated=found.authenticated, vault=vault)

    def _verified(self, bearer: str) -> Caller:
        rejected: list[Rejected] = []
        for verify in self._verify:
            try:
                return verify(bearer)
            except Rejected as refused:
                rejected.append(refused)
            except Exception:
                log.exception("a verifier failed")
                rejected.append(Rejected("misconfigured", "a verifier failed"))
        for error in rejected:
            log.warning("bearer refused: %s%s", error.reason, f" ({error.note})" if error.note else "")
            self._runtime.hub.put(
                Event(ts=self._runtime.clock(), type="auth.rejected", data={"reason": error.reason})
            )
        if all(error.reason == "misconfigured" for error in rejected):
            raise Unauthorised("authentication is misconfigured", status=500)
        raise Unauthorised("invalid or expired token")

    @property
    def challenge(self) -> str:
        """What a refused client is told about where to get a token."""
        parts = ['Bearer realm="knapper"']
        if self.metadata is not None:
            origin = urlsplit(str(self._auth.resource))
            parts.append(f'resource_metadata="{origin.scheme}://{origin.netloc}{METADATA}"')
            if self._auth.scopes_supported:
                parts.append(f'scope="{" ".join(self._auth.scopes_supported)}"')
        return ", ".join(parts)

    @property
    def metadata(self) -> dict[str, object] | None:
        """The description of this protected resource, where there is somebody to get tokens from."""
        auth = self._auth
        if not auth.resource or not auth.authorization_servers:
            return None
        found: dict[str, object] = {
            "resource": auth.resource,
            "authorization_servers": list(auth.authorization_servers),
            "bearer_methods_supported": ["header"],
        }
        if auth.scopes_supported:
            found["scopes_supported"] = list(auth.scopes_supported)
        if auth.resource_name:
            found["resource_name"] = auth.resource_name
        return found


def proof(headers: Mapping[bytes, str]) -> str | None:
    """The Authorization header; where there is none, the header in which clients of another host send their key."""
    key = headers.get(API_KEY)
    return headers.get(b"authorization", None if key is None else f"Bearer {key}")
