"""Plur: recall from an engram store over HTTP; nothing is ever written to it."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Field, PositiveInt, SecretStr

from knapper import Context, Doc, Domain, Record, Section, ToolError, hookimpl
from knapper_plur.client import Client, unreachable


class PlurSettings(Section):
    """Where the store is and how it is asked; without an endpoint the tools say so."""

    endpoint: str | None = Field(default=None, pattern=r"^https?://")
    api_key: SecretStr | None = None
    api_prefix: str = ""
    timeout_ms: PositiveInt = 5000


plur = Domain("plur", summary="Recall from a plur engram store.", group="knowledge", settings=PlurSettings)

Query = Annotated[str, Doc("What to recall.", min_length=1, max_length=4000)]
Count = Annotated[int, Doc("How many.", ge=1, le=50)]
Scope = Annotated[str | None, Doc("Only within this scope.")]


class Engram(Record):
    engram_id: str
    score: float
    content: str
    type: str
    scope: str
    created_at: str
    bm25_score: float | None = None
    vector_score: float | None = None


class Engrams(Record):
    items: list[Engram]


@plur.tool("read:plur")
def plur_recall(ctx: Context, query: Query, k: Count = 10, scope: Scope = None) -> Engrams:
    """Recall engrams by their words."""
    return _engrams(_client(ctx).post("recall", query=query, k=k, scope=scope), k)


@plur.tool("read:plur")
def plur_recall_hybrid(
    ctx: Context,
    query: Query,
    k: Count = 10,
    scope: Scope = None,
    bm25_weight: Annotated[float, Doc("Words against meaning.", ge=0, le=1)] = 0.5,
) -> Engrams:
    """Recall engrams by their words and their meaning."""
    return _engrams(
        _client(ctx).post("recall/hybrid", query=query, k=k, scope=scope, bm25_weight=bm25_weight), k
    )


@plur.tool("read:plur")
def plur_similarity_search(
    ctx: Context,
    query: Query,
    k: Count = 10,
    scope: Scope = None,
    min_score: Annotated[float | None, Doc("Leave out what is less alike.", ge=-1, le=1)] = None,
) -> Engrams:
    """Recall engrams by their meaning."""
    found = _engrams(_client(ctx).post("similarity", query=query, k=k, scope=scope, min_score=min_score), k)
    if min_score is not None:
        found.items = [item for item in found.items if item.score >= min_score]
    return found


class EngramDetails(Record):
    engram_id: str
    content: str
    type: str
    scope: str
    created_at: str
    activation_count: int | None = None
    decay_score: float | None = None
    last_accessed_at: str | None = None


@plur.tool("read:plur")
def plur_get(
    ctx: Context, engram_id: Annotated[str, Doc("From a recall.", min_length=1, max_length=200)]
) -> EngramDetails:
    """Get one engram whole."""
    found = _client(ctx).get("engrams", engram_id)
    if found is None:
        raise ToolError("invalid_input", f"there is no engram {engram_id!r}", engram_id=engram_id)
    if not isinstance(found, dict):
        raise _no_engrams()
    count = _number(found, "activation_count")
    return EngramDetails(
        engram_id=_text(found, "engram_id", "id"),
        content=_text(found, "content"),
        type=_text(found, "type"),
        scope=_text(found, "scope"),
        created_at=_text(found, "created_at"),
        activation_count=None if count is None else int(count),
        decay_score=_number(found, "decay_score"),
        last_accessed_at=_text(found, "last_accessed_at") or None,
    )


def _client(ctx: Context) -> Client:
    settings = ctx.settings
    if settings.endpoint is None:
        raise ToolError(
            "plugin_missing",
            "no plur store is configured: set plur.endpoint",
            plugin="plur",
            reason="not_configured",
        )
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return Client(f"{settings.endpoint.rstrip('/')}{settings.api_prefix}", key, settings.timeout_ms / 1000)


def _engrams(answer: Any, most: int) -> Engrams:
    items = answer.get("items", answer.get("results")) if isinstance(answer, dict) else answer
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _no_engrams()
    return Engrams(items=[_engram(item) for item in items[:most]])


def _engram(item: dict[str, Any]) -> Engram:
    return Engram(
        engram_id=_text(item, "engram_id", "id"),
        score=_number(item, "score") or 0.0,
        content=_text(item, "content"),
        type=_text(item, "type"),
        scope=_text(item, "scope"),
        created_at=_text(item, "created_at"),
        bm25_score=_number(item, "bm25_score"),
        vector_score=_number(item, "vector_score"),
    )


def _text(item: dict[str, Any], *names: str) -> str:
    return next((str(item[name]) for name in names if item.get(name) is not None), "")


def _number(item: dict[str, Any], name: str) -> float | None:
    value = item.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _no_engrams()
    return float(value)


def _no_engrams() -> ToolError:
    return unreachable("the plur store answered with something else than engrams")


@hookimpl
def knapper_domains() -> Domain:
    return plur
