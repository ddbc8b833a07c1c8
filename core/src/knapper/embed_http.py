"""Embedding models behind HTTP: batches, time limits, retries, and answers that are checked before they are believed."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from knapper import embed_hosts
from knapper.errors import ToolError

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

ATTEMPTS = 3
LONGEST_WAIT = 20.0
QUERY_SECONDS = 30.0
MOST_BYTES = 64 << 20
AGAIN = frozenset({429, 500, 502, 503, 504})
TOO_MUCH = frozenset({400, 413})
PUNCTUATION = re.compile(r"[^\w\s]")

Ask = Callable[[str, Sequence[str], bool], dict[str, Any]]
Read = Callable[[dict[str, Any]], list[Any]]


class Api(NamedTuple):
    """How one provider is asked: its address, its key, and the shapes of its request and answer."""

    provider: str
    path: str
    ask: Ask
    read: Read
    base_url: str | None = None
    model: str = ""
    key_env: str | None = None
    needs_key: bool = False
    widths: dict[str, int] = {}  # noqa: RUF012 - never changed


class HttpModel:
    """A model that is asked over HTTP."""

    weight = 1.0

    def __init__(self, api: Api, settings: Any) -> None:
        self._api = api
        self._settings = settings
        self.model: str = settings.model or api.model
        base = settings.base_url or api.base_url
        if not base or not self.model:
            lacking = "embeddings.model" if base else "embeddings.base_url"
            raise self._error(f"{lacking} is not set")
        self._url = base.rstrip("/") + api.path
        self._check_host()
        self._lock = threading.Lock()
        self._width: int | None = settings.dimensions or api.widths.get(self.model)

    @property
    def dimensions(self) -> int:
        """The width of its vectors: configured, known, or asked for once."""
        if self._width is None:
            with self._lock:
                if self._width is None:
                    self._width = len(self._vectors(["width"], query=False)[0])
        return self._width

    @cached_property
    def identity(self) -> str:
        """Everything that changes what the vectors mean; the address is not part of it."""
        s = self._settings
        revision = f"@{s.revision}" if s.revision else ""
        parts = [self.dimensions, s.query_prefix, s.document_prefix, s.truncate]
        return f"{self._api.provider}:{self.model}{revision}|" + "|".join(str(part) for part in parts)

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """One row a text, of unit length; the first text that is refused raises."""
        if query:
            return self._rows(texts, query=True)
        import numpy as np

        found = self.embed_each(texts)
        for one in found:
            if isinstance(one, ToolError):
                raise one
        return np.array(found, np.float32).reshape(len(texts), self.dimensions)

    def embed_each(self, texts: Sequence[str]) -> list[NDArray[np.float32] | ToolError]:
        """A row for each text, or why this one was refused; what concerns all of them raises."""
        batches = list(_batches(texts, self._settings.batch_size, self._settings.max_batch_tokens))
        if len(batches) == 1:
            return self._halving(batches[0])
        with ThreadPoolExecutor(min(self._settings.concurrency, len(batches) or 1)) as pool:
            return [row for rows in pool.map(self._halving, batches) for row in rows]

    def _halving(self, texts: Sequence[str]) -> list[NDArray[np.float32] | ToolError]:
        try:
            return list(self._rows(texts, query=False))
        except ToolError as error:
            if error.details.get("status") not in TOO_MUCH:
                raise
            if len(texts) == 1:
                return [error]
        half = len(texts) // 2
        return self._halving(texts[:half]) + self._halving(texts[half:])

    def _rows(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        import numpy as np

        width, found = self.dimensions, self._vectors(texts, query=query)
        if len(found) != len(texts):
            raise self._error(f"answered with {len(found)} vectors for {len(texts)} texts")
        for one in found:
            if (
                not isinstance(one, list)
                or len(one) < width
                or (len(one) > width and not self._settings.truncate)
            ):
                size = len(one) if isinstance(one, list) else 0
                raise self._error(f"answered with a vector of {size} numbers, not {width}", width=size)
        try:
            rows = np.array([one[:width] for one in found], np.float32)
        except (TypeError, ValueError):
            raise self._error("answered with something that is no number") from None
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or (lengths == 0).any():
            raise self._error("answered with a vector that has no direction")
        unit: NDArray[np.float32] = (rows / lengths).astype(np.float32)
        return unit

    def _vectors(self, texts: Sequence[str], *, query: bool) -> list[Any]:
        prefix = self._settings.query_prefix if query else self._settings.document_prefix
        body = self._api.ask(self.model, [prefix + text for text in texts], query)
        answer = self._post(msgspec.json.encode(body), query=query)
        try:
            found = self._api.read(msgspec.json.decode(answer))
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError, IndexError):
            raise self._error("answered with something else than vectors") from None
        return found

    def _post(self, body: bytes, *, query: bool) -> bytes:
        self._check_host()
        seconds = self._settings.timeout_ms / 1000
        deadline = time.monotonic() + (min(seconds, QUERY_SECONDS) if query else seconds)
        for attempt in range(1, ATTEMPTS + 1):
            status, answer, pause = self._once(body, deadline)
            if 200 <= status < 300:
                return answer
            wait = pause if pause is not None else 0.25 * 2 ** (attempt - 1)
            if (
                status not in AGAIN
                or attempt == ATTEMPTS
                or time.monotonic() + wait > deadline
                or wait > LONGEST_WAIT
            ):
                extra = {} if pause is None else {"retry_after_seconds": math.ceil(pause)}
                raise self._error(f"answered with status {status}", status=status, **extra)
            time.sleep(wait)
        raise AssertionError

    def _once(self, body: bytes, deadline: float) -> tuple[int, bytes, float | None]:
        import httpx

        left = max(0.001, deadline - time.monotonic())
        try:
            with self._client.stream(
                "POST", self._url, content=body, headers=self._headers(), timeout=left
            ) as got:
                answer = bytearray()
                for piece in got.iter_bytes():
                    answer += piece
                    if time.monotonic() > deadline:
                        raise httpx.ReadTimeout("the whole answer took too long")
                    if len(answer) > MOST_BYTES:
                        raise self._error(f"answered with over {MOST_BYTES >> 20} MiB")
                return got.status_code, bytes(answer), _pause(got.headers.get("retry-after"))
        except httpx.TimeoutException:
            raise ToolError(
                "operation_timeout", f"{self._api.provider}: no answer in time", provider=self._api.provider
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._error(f"cannot be reached ({type(error).__name__})") from None

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        # A proxy of the environment is for the world outside, not for a server on this machine or network.
        vendor = self._settings.base_url is None and self._api.provider in embed_hosts.VENDORS
        return httpx.Client(trust_env=vendor, follow_redirects=False)

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "application/json"}
        key = self._key()
        if key:
            headers["authorization"] = f"Bearer {key}"
        elif self._api.needs_key and not self._settings.base_url:
            raise self._error(f"no key; set embeddings.api_key or {self._api.key_env}")
        return headers

    def _key(self) -> str:
        """The key that is configured, else of the configured variable, else of the vendor's own.

        The vendor's own variable is only used for the vendor's own host.
        """
        s = self._settings
        if s.api_key is not None:
            return str(s.api_key.get_secret_value())
        if s.api_key_env:
            return os.environ.get(s.api_key_env, "")
        if self._api.key_env and (s.base_url is None or _is_vendor(s.base_url, self._api)):
            return os.environ.get(self._api.key_env, "")
        return ""

    def _check_host(self) -> None:
        found = embed_hosts.problem(self._url, self._settings)
        if found:
            raise self._error(found, reason="host_not_allowed")

    def _error(self, text: str, **details: Any) -> ToolError:
        provider = self._api.provider
        return ToolError("embedding_provider_error", f"{provider}: {text}", provider=provider, **details)


def _is_vendor(url: str, api: Api) -> bool:
    return api.base_url is not None and url.split("/")[2:3] == api.base_url.split("/")[2:3]


def _pause(retry_after: str | None) -> float | None:
    """Seconds to wait, from a number or a date."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def tokens(text: str) -> int:
    """About how many tokens a text is; text full of marks has more."""
    return math.ceil(len(text) / (3 if len(PUNCTUATION.findall(text)) > 0.12 * len(text) else 4))


def _batches(texts: Sequence[str], most: int, most_tokens: int) -> Iterable[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        cost = tokens(text)
        if batch and (len(batch) == most or size + cost > most_tokens):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += cost
    if batch:
        yield batch


def openai_ask(model: str, texts: Sequence[str], query: bool) -> dict[str, Any]:
    """The request that OpenAI and those who follow it take."""
    return {"model": model, "input": list(texts)}


def openai_read(answer: dict[str, Any]) -> list[Any]:
    """Vectors in the order of the texts, whatever order they come in."""
    data = answer["data"]
    if all("index" in one for one in data):
        data = sorted(data, key=lambda one: one["index"])
    return [one["embedding"] for one in data]
