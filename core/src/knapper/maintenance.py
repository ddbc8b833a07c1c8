"""What the server does of itself: its jobs, and the reset of what can be built again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from knapper import traces
from knapper.sinks import Event
from knapper.store.maintenance import Retention, sweep

if TYPE_CHECKING:
    from knapper.runtime import Runtime
    from knapper.vaults import Vault


def declare_jobs(runtime: Runtime) -> None:
    """The core's own jobs and those of the domains."""
    settings = runtime.settings
    if settings.maintenance.enabled:
        runtime.jobs.declare(
            "maintenance.sweep", settings.maintenance.interval_minutes * 60, lambda: run_sweep(runtime)
        )
        runtime.jobs.declare(
            "traces.retention", settings.maintenance.interval_minutes * 60, lambda: _retain_traces(runtime)
        )
    for vault in runtime.vaults:
        every = settings.maintenance.reconcile_interval_minutes * 60
        runtime.jobs.declare(
            "index.reconcile", every, partial(_reconcile, vault), vault=vault.id, when=partial(_leads, vault)
        )
    for domain in runtime.registry.domains.values():
        for job in domain.jobs:
            runtime.jobs.declare(job.name, job.every_seconds, partial(job.fn, runtime))


def _leads(vault: Vault) -> bool:
    """Only the process that indexes a vault heals its index; another that took the job would let it go undone."""
    return vault.index.leads


def _reconcile(vault: Vault) -> str:
    """Heal what the watcher missed."""
    result = vault.index.reconcile()
    return f"upserted {result.upserted}, deleted {result.deleted}"


def _retain_traces(runtime: Runtime) -> str:
    """Remove the traces of sessions that nobody has added to for as long as the configuration keeps them."""
    days = runtime.settings.observability.retention.traces_days
    return f"removed {traces.sweep(traces.folder(runtime.settings), days, runtime.clock())}"


def run_sweep(runtime: Runtime) -> str:
    settings = runtime.settings
    retention = Retention(
        event_log_days=settings.observability.retention.event_log_days,
        succeeded_run_days=settings.maintenance.jobs_complete_retention_days,
        failed_run_days=settings.maintenance.jobs_failed_retention_days,
        snapshots_per_path=settings.snapshots.retention,
    )
    swept = sweep(runtime.state, runtime.clock, retention)
    for vault in runtime.vaults:
        vault.disk.sweep()  # what a killed process left half written beside its target
    runtime.hub.put(
        Event(
            ts=runtime.clock(), type="maintenance.sweep", data={"rows_dropped": sum(swept), **swept._asdict()}
        )
    )
    return str(swept)


def reset_cache(
    runtime: Runtime, vault: Vault, *, index: bool, vectors: bool, keys: bool, log: bool
) -> dict[str, int]:
    """Drop what was asked for; the index fills again in the background, and files are never touched."""
    dropped: dict[str, int] = {}
    if index:
        dropped |= vault.index.clear()
    elif vectors:
        dropped["embeddings"] = vault.index.vectors.clear()
    if log:
        runtime.audit.flush()  # or rows of the past would be written after it was forgotten
    with runtime.state.write() as conn:
        if keys:
            done = (
                "DELETE FROM idempotency_keys WHERE vault_id = ? AND state IN ('completed', 'indeterminate')"
            )
            dropped["idempotency_keys"] = conn.exec_driver_sql(done, (vault.id,)).rowcount
        if log:
            dropped["event_log"] = conn.exec_driver_sql(
                "DELETE FROM event_log WHERE vault_id = ?", (vault.id,)
            ).rowcount
    runtime.hub.put(Event(ts=runtime.clock(), type="vault.cache_reset", vault=vault.id, data=dropped))
    return dropped
