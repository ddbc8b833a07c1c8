"""Plur: recall from an engram store over HTTP; nothing is ever written to it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PositiveInt, SecretStr

from knapper import Context, Doc, Domain, Record, Section, ToolError, hookimpl
from knapper_plur.client import Client


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
    return _engrams(_client(ctx).post("recall", query=query, k=k, scope=scope))


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
        _client(ctx).post("recall/hybrid", query=query, k=k, scope=scope, bm25_weight=bm25_weight)
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
    found = _engrams(_client(ctx).post("similarity", query=query, k=k, scope=scope, min_score=min_score))
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
    return EngramDetails(
        engram_id=_text(found, "engram_id", "id"),
        content=_text(found, "content"),
        type=_text(found, "type"),
        scope=_text(found, "scope"),
        created_at=_text(found, "created_at"),
        activation_count=found.get("activation_count"),
        decay_score=found.get("decay_score"),
        last_accessed_at=found.get("last_accessed_at"),
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


def _engrams(answer: Any) -> Engrams:
    items = answer.get("items", answer.get("results")) if isinstance(answer, dict) else answer
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ToolError(
            "plugin_unreachable", "the plur store answered with something else than engrams", plugin="plur"
        )
    return Engrams(items=[_engram(item) for item in items])


def _engram(item: dict[str, Any]) -> Engram:
    return Engram(
        engram_id=_text(item, "engram_id", "id"),
        score=float(item.get("score") or 0.0),
        content=_text(item, "content"),
        type=_text(item, "type"),
        scope=_text(item, "scope"),
        created_at=_text(item, "created_at"),
        bm25_score=item.get("bm25_score"),
        vector_score=item.get("vector_score"),
    )


def _text(item: dict[str, Any], *names: str) -> str:
    return next((str(item[name]) for name in names if item.get(name) is not None), "")


@hookimpl
def knapper_domains() -> Domain:
    return plur
