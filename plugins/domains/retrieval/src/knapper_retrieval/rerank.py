"""A second opinion on the order of passages; its failure is reported and never an error."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from knapper import Context
from knapper.embed_hosts import problem
from knapper_retrieval.domain import Rerank
from knapper_retrieval.ranking import Fused

Outcome = Literal[
    "not_configured", "skipped", "executed", "timed_out", "malformed_response", "provider_error"
]
LONGEST = 4000


class _Where(NamedTuple):
    provider: str
    allow_private_network: bool
    allow_public_network: bool


class Failed(Exception):
    """Why there is no second opinion."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def reordered(ctx: Context, query: str, found: Sequence[Fused]) -> tuple[list[Fused], Outcome]:
    """The passages in the order the service gives the first of them; as they were where it gives none."""
    settings: Rerank = ctx.settings.rerank
    if settings.base_url is None:
        return list(found), "not_configured"
    if len(found) < 2:
        return list(found), "skipped"
    pool = list(found[: settings.pool])
    rows = ctx.index.chunks(one.chunk for one in pool)
    pool = [one for one in pool if one.chunk in rows]
    texts = [f"{rows[one.chunk].title}\n{rows[one.chunk].text}"[:LONGEST] for one in pool]
    try:
        scores = _ask(settings, query, texts)
    except Failed as failed:
        return list(found), failed.outcome
    # What the service left out keeps its place below what it judged.
    judged = sorted(scores, key=lambda n: (-scores[n], n))
    rest = [n for n in range(len(pool)) if n not in scores]
    order = [pool[n] for n in [*judged, *rest]] + list(found[settings.pool :])
    top = order[0].score if not order else max(one.score for one in found)
    return [one._replace(score=top * (1 - n / (len(order) + 1))) for n, one in enumerate(order)], "executed"


def _ask(settings: Rerank, query: str, texts: list[str]) -> dict[int, float]:
    import httpx

    assert settings.base_url is not None
    where = _Where("", settings.allow_private_network, settings.allow_public_network)
    if problem(settings.base_url, where):
        raise Failed("provider_error")
    body = {"model": settings.model, "query": query, "documents": texts, "top_n": len(texts)}
    try:
        answer = httpx.post(
            settings.base_url.rstrip("/") + "/rerank",
            content=msgspec.json.encode(body),
            headers={"content-type": "application/json", **_key(settings)},
            timeout=settings.timeout_seconds,
            trust_env=False,
        )
    except httpx.TimeoutException:
        raise Failed("timed_out") from None
    except (httpx.HTTPError, httpx.InvalidURL):
        raise Failed("provider_error") from None
    if not answer.is_success:
        raise Failed("provider_error")
    return _scores(answer.content, len(texts))


def _scores(content: bytes, count: int) -> dict[int, float]:
    try:
        results: list[Any] = msgspec.json.decode(content)["results"]
        scores = {int(one["index"]): float(one["relevance_score"]) for one in results}
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        raise Failed("malformed_response") from None
    if not scores or not all(0 <= n < count for n in scores):
        raise Failed("malformed_response")
    return scores


def _key(settings: Rerank) -> dict[str, str]:
    key = settings.api_key.get_secret_value() if settings.api_key is not None else ""
    key = key or (os.environ.get(settings.api_key_env, "") if settings.api_key_env else "")
    return {"authorization": f"Bearer {key}"} if key else {}
