"""One request to the Local REST API, bounded in time and size; its key goes nowhere else, and into no message."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from knapper.config.interlocks import is_loopback

if TYPE_CHECKING:
    import ssl

MOST_BYTES = 32 << 20
LONGEST_TEXT = 500


class Unreached(Exception):
    """There was no answer, and why; `waited` where somebody may still be at work on one, `sent` where they may have begun."""

    def __init__(self, why: str, *, waited: bool = False, sent: bool = False) -> None:
        super().__init__(why)
        self.waited = waited
        self.sent = sent


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes


class Transport:
    """The way to one vault's Local REST API."""

    def __init__(self, settings: Any) -> None:
        self._url: str = (settings.rest_api_url or "").rstrip("/")
        self._key = settings.rest_api_key.get_secret_value() if settings.rest_api_key else ""
        self._certificate: str | None = settings.rest_api_certificate
        self._vault: str = settings.path

    def ask(self, method: str, path: str, body: bytes | None, seconds: float) -> Answer:
        """The answer of any status, or Unreached."""
        import httpx  # when it is needed: it would be a tenth of the server's start

        self._check()
        try:
            with httpx.Client(verify=self._trusted, trust_env=False, follow_redirects=False) as client:
                return self._read(client, method, path, body, seconds)
        except httpx.TimeoutException as error:
            sent = not isinstance(error, httpx.ConnectTimeout)
            why = f"it did not answer within {round(seconds * 1000)} ms"
            raise Unreached(why, waited=True, sent=sent) from None
        except httpx.ConnectError as error:
            raise Unreached(_connecting(error)) from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            sent = isinstance(error, httpx.HTTPError)
            raise Unreached(f"the connection failed ({type(error).__name__})", sent=sent) from None

    def _read(self, client: Any, method: str, path: str, body: bytes | None, seconds: float) -> Answer:
        import httpx

        deadline, whole = time.monotonic() + seconds, bytearray()
        url, headers = self._url + path, self._headers(body)
        with client.stream(method, url, content=body, headers=headers, timeout=seconds) as got:
            for piece in got.iter_bytes():
                whole += piece
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the whole answer took too long")
                if len(whole) > MOST_BYTES:
                    raise Unreached(f"it answered with over {MOST_BYTES >> 20} MiB", waited=True, sent=True)
            return Answer(got.status_code, bytes(whole))

    def clean(self, text: str) -> str:
        """A text of the other side as it may be shown: without the key and the vault's place on this machine, and short."""
        for secret, name in ((self._key, "[key]"), (self._vault, "[vault]")):
            text = text.replace(secret, name) if secret else text
        return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"

    def _check(self) -> None:
        try:
            parts = urlsplit(self._url)
            host = parts.hostname or ""
        except ValueError:
            raise Unreached("rest_api_url is no address") from None
        if parts.scheme not in ("http", "https") or not host:
            raise Unreached("rest_api_url has to begin with http:// or https:// and name a host")
        if parts.username or parts.password:
            raise Unreached("rest_api_url must not hold a password; use rest_api_key")
        if parts.scheme == "http" and not is_loopback(host):
            raise Unreached("rest_api_url would send the key in the clear to another machine; use https")

    def _headers(self, body: bytes | None) -> dict[str, str]:
        found = {"accept": "application/json", "accept-encoding": "identity"}
        if body is not None:
            found["content-type"] = "application/json"
        if self._key:
            found["authorization"] = f"Bearer {self._key}"
        return found

    @property
    def _trusted(self) -> ssl.SSLContext | bool:
        """Made anew for each request: the plugin can make itself another certificate at any time."""
        if not self._url.lower().startswith("https:"):
            return False
        from knapper_companion import trust  # with TLS, which few servers need

        try:
            return trust.context(self._certificate, self._vault)
        except (OSError, ValueError):
            message = "rest_api_certificate is neither a SHA-256 digest nor a file with a certificate"
            raise Unreached(message) from None


def _connecting(error: Exception) -> str:
    import ssl

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "its certificate is not trusted; name it, or its SHA-256 digest, as rest_api_certificate"
        if isinstance(cause, ssl.SSLError):
            return "it does not speak TLS as expected"
        cause = cause.__cause__ or cause.__context__
    return "nothing listens at rest_api_url"
