"""Asking the store: one request a call, bounded in time and size, its key never in a message."""

from __future__ import annotations

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
        return self._ask("POST", path, json=given)

    def get(self, path: str, name: str) -> dict[str, Any] | None:
        """One thing by name, or None where there is none."""
        found = self._ask("GET", f"{path}/{quote(name, safe='')}", missing=True)
        return found if isinstance(found, dict) else None

    def _ask(self, method: str, path: str, *, json: Any = None, missing: bool = False) -> Any:
        import httpx  # when it is needed: it would be a tenth of the server's start

        try:
            with httpx.Client(timeout=self._seconds, headers=self._headers, follow_redirects=False) as client:
                answer = client.request(method, f"{self._base}/{path}", json=json)
        except httpx.TimeoutException:
            raise ToolError("operation_timeout", "the plur store took too long", provider="plur") from None
        except httpx.HTTPError as error:
            raise _unreachable(f"the plur store did not answer ({type(error).__name__})") from None
        if missing and answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise _unreachable(
                f"the plur store answered {answer.status_code}", http_status=answer.status_code
            )
        if len(answer.content) > LARGEST:
            raise _unreachable("the plur store answered with too much")
        try:
            return answer.json()
        except ValueError:
            raise _unreachable("the plur store answered with something else than JSON") from None


def _unreachable(message: str, **details: Any) -> ToolError:
    return ToolError("plugin_unreachable", message, plugin="plur", **details)
