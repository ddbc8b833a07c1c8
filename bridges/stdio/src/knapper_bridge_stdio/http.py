"""Requests to the host, and what it means when one fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from knapper import typed
from knapper.server.wire import METHOD_NOT_FOUND

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
LONGEST_TEXT = 300


class HostError(Exception):
    """The host gave no usable answer. `sent` where it may have acted all the same, `status` where it refused."""

    def __init__(self, message: str, *, sent: bool = False, status: int = 0, code: int = 0) -> None:
        super().__init__(message)
        self.sent = sent
        self.status = status
        self.code = code

    @property
    def refused(self) -> bool:
        """Whether asking again would bring the same."""
        return 400 <= self.status < 500 and self.status not in (408, 425, 429)

    @property
    def absent(self) -> bool:
        """Whether the host knows nothing of what was asked, so that nothing was done and another way may be tried."""
        return self.status in (404, 405, 501) or self.code == METHOD_NOT_FOUND


class Http:
    """The connections to one host, under one key."""

    def __init__(self, origin: str, api_key: str) -> None:
        import httpx

        self._httpx = httpx
        self.origin = origin
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        # The host is on this machine or named by hand: a proxy from the environment would never be meant for it.
        secure = origin.startswith("https:")
        self._client = httpx.Client(headers=headers, trust_env=secure, verify=secure, timeout=CONNECT_SECONDS)

    @contextmanager
    def asked(
        self, method: str, url: str, body: bytes | None, headers: dict[str, str], seconds: float | None
    ) -> Iterator[httpx.Response]:
        """Send a request; the answer can be read while the block runs. HostError where there is none, or a refusal."""
        httpx = self._httpx
        limits = httpx.Timeout(CONNECT_SECONDS, read=seconds)
        try:
            with self._client.stream(method, url, content=body, headers=headers, timeout=limits) as answer:
                if not answer.is_success:
                    answer.read()
                    raise _refusal(answer)
                yield answer
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise HostError(f"the host at {self.origin} does not answer ({_why(error)})") from None
        except httpx.TimeoutException:
            waited = "" if seconds is None else f" within {seconds:g} s"
            raise HostError(f"the host at {self.origin} gave no answer{waited}", sent=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise HostError(f"the host at {self.origin} broke off ({_why(error)})", sent=True) from None


def hang_up(answer: httpx.Response) -> None:
    """End a connection that another thread reads from, which wakes it; closing alone would not."""
    import socket

    stream = answer.extensions.get("network_stream")
    found = stream.get_extra_info("socket") if stream is not None else None
    if found is not None:
        try:
            found.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def decoded(raw: bytes, kind: Any) -> Any:
    """The JSON of an answer; HostError where it is none, or not of that kind."""
    try:
        return typed.decode(raw, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HostError(f"the host's answer cannot be read: {error}", sent=True) from None


def line(raw: msgspec.Raw) -> msgspec.Raw:
    """A piece of JSON as it came, but on one line and in UTF-8, since lines are what the client reads."""
    text = bytes(raw)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise HostError(f"the host's answer cannot be read: {error}", sent=True) from None
    return msgspec.Raw(msgspec.json.format(text, indent=-1)) if b"\n" in text or b"\r" in text else raw


def _refusal(answer: httpx.Response) -> HostError:
    status = answer.status_code
    text = f"the host answered {status} {answer.reason_phrase}".rstrip()
    said = _said(answer.content)
    return HostError(f"{text}: {said}" if said else text, sent=status >= 500, status=status)


def _said(content: bytes) -> str:
    """What a refusal says of itself, in the forms of v1 and of JSON-RPC."""
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    error = found.get("error")
    words = [error.get("message")] if isinstance(error, dict) else [error, found.get("message")]
    return ": ".join(word for word in words if isinstance(word, str) and word)[:LONGEST_TEXT]


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
