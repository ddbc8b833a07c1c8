"""Asking the store: one request a call, bounded in time and size, its key never in a message."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import quote

from knapper import ToolError

LARGEST = 5_000_000


class Client:
    """A store at a base address."""

    def __init__(self, base: str, key: str | None, seconds: float) -> None:
        self._base = base
        self._seconds = seconds
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def post(self, path: str, **body: Any) -> Any:
        """The answer to a question, as JSON."""
        given = {name: value for name, value in body.items() if value is not None}
        return self._ask("POST", path, given)

    def get(self, path: str, name: str) -> Any:
        """One thing by name, or None where there is none."""
        return self._ask("GET", f"{path}/{quote(name, safe='')}", missing=True)

    def _ask(self, method: str, path: str, body: Any = None, *, missing: bool = False) -> Any:
        import httpx  # when it is needed: it would be a tenth of the server's start

        try:
            with (
                httpx.Client(timeout=self._seconds, headers=self._headers, follow_redirects=False) as client,
                client.stream(method, f"{self._base}/{path}", json=body) as answer,
            ):
                if missing and answer.status_code == 404:
                    return None
                if answer.status_code != 200:
                    status = answer.status_code
                    raise unreachable(f"the plur store answered {status}", http_status=status)
                content = self._content(answer)
        except httpx.TimeoutException:
            raise _slow() from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(f"the plur store did not answer ({type(error).__name__})") from None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise unreachable("the plur store answered with something else than JSON") from None

    def _content(self, answer: Any) -> bytes:
        """The whole answer; a store that sends a byte now and then, or without end, is given up."""
        until, content = time.monotonic() + self._seconds, bytearray()
        for chunk in answer.iter_bytes():
            content += chunk
            if len(content) > LARGEST:
                raise unreachable("the plur store answered with too much")
            if time.monotonic() > until:
                raise _slow()
        return bytes(content)


def unreachable(message: str, **details: Any) -> ToolError:
    """The store is there, or not, but is of no use."""
    return ToolError("plugin_unreachable", message, plugin="plur", **details)


def _slow() -> ToolError:
    return ToolError("operation_timeout", "the plur store took too long", provider="plur")
