"""Administration: what the server is, how it is, and what its rules say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from knapper import Context, Doc, Domain, Record, hookimpl
from knapper.bridge import BridgeState
from knapper.caller import Caller
from knapper.index.status import Status
from knapper.metrics import Family, Reading

admin = Domain(
    "admin", summary="Health, configuration, metrics and folder rules of the server.", group="admin"
)


class Distribution(Record):
    name: str
    version: str
    hooks: list[str]


class ServerConfig(Record):
    version: str
    auth_mode: str
    vaults_summary: list[dict[str, Any]]
    limits: dict[str, Any]
    observability: dict[str, Any]
    plugins_detected: dict[str, list[str]]
    distributions: list[Distribution]


@admin.tool("admin:config", vault=False, words="settings options setup configured")
def get_server_config(ctx: Context) -> ServerConfig:
    """Show how the server is configured, without any secret."""
    settings: Any = ctx.server.settings
    vaults = ctx.server.visible_vaults(ctx.caller)
    watched = settings.observability
    return ServerConfig(
        version=ctx.server.version,
        auth_mode=settings.auth.mode,
        vaults_summary=[
            {"id": v.id, "name": v.name, "kind": v.kind, "read_only": v.acl.read_only} for v in vaults
        ],
        limits={
            "max_response_bytes": settings.governor.max_response_bytes,
            "regex_timeout_ms": settings.governor.regex_timeout_ms,
            "throttle": {name: tier.model_dump() for name, tier in settings.throttle.tiers.items()},
            "throttle_enabled": settings.throttle.enabled,
        },
        observability={
            "otel": watched.otel.endpoint is not None,
            "prometheus": watched.prometheus.enabled,
            "cloudevents": watched.cloudevents.spool or watched.cloudevents.http_endpoint is not None,
            "jsonl": watched.jsonl,
        },
        plugins_detected={v.id: ctx.server.obsidian_plugins(v) for v in vaults},
        distributions=[
            Distribution(name=p["distribution"], version=p["version"], hooks=p["hooks"])
            for p in ctx.server.plugins()
            if p["distribution"]
        ],
    )


class Verdict(Record):
    allowed: bool
    kill_switch: bool
    matched_rule: str | None = None
    denied_by: str | None = None


@admin.tool(
    "admin:acl", words="permission permitted allowed token may access rights forbidden writable readable"
)
def inspect_acl(
    ctx: Context,
    path: str,
    op: Literal["read", "write", "delete", "execute"],
    scopes: Annotated[list[str], Doc("The scopes of the caller to judge.")],
) -> Verdict:
    """Say whether a caller with these scopes could do this to a path, by the evaluator that enforces it."""
    vault = ctx.server.vault(ctx.vault.vault)
    judged = Caller("inspected", frozenset(scopes), authenticated=True)
    switch = vault.acl.read_only
    if not any(scope.partition(":")[0] in ("*", op) for scope in scopes):
        return Verdict(allowed=False, kill_switch=switch, denied_by=f"scope {op}:*")
    if op == "execute":
        return Verdict(allowed=not switch, kill_switch=switch, denied_by="read_only" if switch else None)
    verdict = ctx.server.evaluate(vault, op, ctx.vault.locate(path))
    missing = [scope for scope in verdict.required_scopes if not judged.may(scope)]
    return Verdict(
        allowed=verdict.allowed and not missing,
        kill_switch=switch,
        matched_rule=verdict.matched_rule,
        denied_by=verdict.denied_by or (f"scope {missing[0]}" if missing else None),
    )


class Metric(Record):
    name: str
    type: Literal["counter", "gauge", "histogram"]
    value: float
    labels: dict[str, str]


class Metrics(Record):
    metrics: list[Metric]


@admin.tool("admin:metrics", vault=False, words="statistics usage performance latency numbers handled")
def get_metrics(ctx: Context, vault: Annotated[str | None, Doc("Only this vault's.")] = None) -> Metrics:
    """Show counts and times of calls, and what was refused or lost, since the server's start.

    The same numbers as on the metrics listener, but for the buckets of a histogram: its sum and its count are here.
    """
    only = vault or ctx.caller.vault
    found: list[Metric] = []
    for family, readings in ctx.server.metrics.read():
        for reading in readings:
            if only is None or reading.labels.get("vault", only) == only:
                found += _metrics(family, reading)
    return Metrics(metrics=found)


def _metrics(family: Family, reading: Reading) -> Iterator[Metric]:
    if family.type == "histogram":
        name = f"{family.name}_count"
        yield Metric(name=name, type="histogram", value=reading.counts[-1], labels=reading.labels)
    name = f"{family.name}_sum" if family.type == "histogram" else family.name
    yield Metric(name=name, type=family.type, value=reading.value, labels=reading.labels)


class IndexHealth(Record):
    state: Literal["indexing", "ready", "degraded"]
    notes_ready: bool
    vectors_ready: bool
    indexed: int
    total: int
    reconcile_at: str | None
    write_failures: int


class PluginHealth(Record):
    loaded: int
    failed: list[str]


class JobHealth(Record):
    name: str
    every_seconds: float
    running: bool
    next_run_at: str
    consecutive_failures: int
    vault: str | None = None
    last_success_at: str | None = None


class Health(Record):
    status: Literal["ok", "degraded"]
    name: str
    version: str
    vaults: list[str]
    uptime_ms: int
    vec_enabled: bool
    fts_enabled: bool
    index: IndexHealth
    plugins: PluginHealth
    bridges: dict[str, BridgeState] | None = None
    jobs: list[JobHealth] | None = None


@admin.tool(vault=False, words="status running uptime working problem alive")
def server_health(ctx: Context) -> Health:
    """Say how the server is: its index, its plugins, its jobs, how long it runs."""
    view = ctx.server
    known = ctx.caller.authenticated and bool(ctx.caller.scopes)
    failed = [p["name"] for p in view.plugins() if p["state"] == "failed"]
    index = _index([vault.index.status() for vault in view.vaults])
    return Health(
        status="degraded" if failed or index.state == "degraded" else "ok",
        name="knapper",
        version=view.version,
        vaults=[v.id for v in view.visible_vaults(ctx.caller)] if known else [],
        uptime_ms=view.uptime_ms,
        vec_enabled=view.vectors_by_extension,
        fts_enabled=True,
        index=index,
        plugins=PluginHealth(loaded=sum(p["state"] == "loaded" for p in view.plugins()), failed=failed),
        bridges=_bridges(ctx) if known else None,
        jobs=_jobs(ctx) if known else None,
    )


def _jobs(ctx: Context) -> list[JobHealth]:
    """What runs by itself, for the vaults this caller may know of; why a job failed is in the log and the doctor."""
    seen = {"", *(vault.id for vault in ctx.server.visible_vaults(ctx.caller))}
    return [
        JobHealth(
            name=job.name,
            every_seconds=job.every_seconds,
            running=job.running,
            next_run_at=ctx.stamp(job.next_run_at),
            consecutive_failures=job.consecutive_failures,
            vault=job.vault or None,
            last_success_at=None if job.last_success_at is None else ctx.stamp(job.last_success_at),
        )
        for job in ctx.server.jobs()
        if job.vault in seen
    ]


def _bridges(ctx: Context) -> dict[str, BridgeState] | None:
    """How each vault stands with a running Obsidian; None where no companion is installed."""
    found = {vault.id: ctx.server.obsidian(vault) for vault in ctx.server.visible_vaults(ctx.caller)}
    return {id: state for id, state in found.items() if state is not None} or None


def _index(each: list[Status]) -> IndexHealth:
    """All vaults as one: ready when each is, degraded when one is."""
    states = {one.state for one in each}
    state: Literal["indexing", "ready", "degraded"] = "ready"
    if "degraded" in states:
        state = "degraded"
    elif "indexing" in states:
        state = "indexing"
    times = [one.reconciled_at for one in each if one.reconciled_at is not None]
    return IndexHealth(
        state=state,
        notes_ready=all(one.notes_ready for one in each),
        vectors_ready=all(one.vectors_ready for one in each),
        indexed=sum(one.indexed for one in each),
        total=sum(one.total for one in each),
        reconcile_at=datetime.fromtimestamp(min(times), UTC)
        .isoformat(timespec="seconds")
        .replace("+00:00", "Z")
        if times
        else None,
        write_failures=sum(one.write_failures for one in each),
    )


@hookimpl
def knapper_domains() -> Domain:
    return admin
