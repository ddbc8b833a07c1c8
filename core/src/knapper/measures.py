"""What the server measures of itself when somebody looks: uptime, queues, losses, jobs, and what domains declare."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from knapper.metrics import Family, Live

if TYPE_CHECKING:
    from knapper.domain import Gauge
    from knapper.runtime import Runtime

UPTIME = Family("knapper_uptime_seconds", "gauge", "How long the server runs.")
VAULTS = Family("knapper_vaults_registered", "gauge", "Configured vaults.")
TOOLS = Family("knapper_tools_registered", "gauge", "Tools that can be called.")
AUDIT_FAILED = Family("knapper_audit_write_failed_total", "counter", "Audit rows that could not be written.")
AUDIT_DROPPED = Family("knapper_audit_dropped_total", "counter", "Audit rows that a full queue refused.")
RELEASE_FAILED = Family(
    "knapper_idempotency_release_failed_total", "counter", "Keys whose outcome could not be recorded."
)
SINK_DROPPED = Family(
    "knapper_sink_dropped_total", "counter", "Records that a sink's full queue refused.", ("sink",)
)
SINK_FAILED = Family("knapper_sink_failed_total", "counter", "Records that a sink failed to take.", ("sink",))
INDEX_FAILED = Family(
    "knapper_index_write_failures_total", "counter", "Writes that missed the index at first.", ("vault",)
)
PENDING = Family("knapper_elicit_tokens_pending", "gauge", "Calls that wait for a person's word.", ("vault",))
KEPT = Family("knapper_idempotency_cache_bytes", "gauge", "Answers kept for keyed calls.", ("vault",))
FAILURES = Family(
    "knapper_scheduler_consecutive_failures", "gauge", "Failures of a job in a row.", ("vault", "job")
)
MEASURED = (
    UPTIME, VAULTS, TOOLS, AUDIT_FAILED, AUDIT_DROPPED, RELEASE_FAILED, SINK_DROPPED, SINK_FAILED, INDEX_FAILED,
    PENDING, KEPT, FAILURES,
)  # fmt: skip
KEPT_BYTES = (
    "SELECT vault_id, sum(length(result)) FROM idempotency_keys WHERE result IS NOT NULL GROUP BY vault_id"
)


def declare(runtime: Runtime) -> None:
    """Make everything known that is measured of this server and by its domains."""
    for family in MEASURED:
        runtime.metrics.declare(family)
    runtime.metrics.measure(lambda: _process(runtime))
    runtime.metrics.measure(lambda: _losses(runtime))
    runtime.metrics.measure(lambda: _state(runtime))
    for domain in runtime.registry.domains.values():
        for gauge in domain.gauges:
            runtime.metrics.declare(Family(_name(gauge), "gauge", gauge.help, ("vault",)))
            runtime.metrics.measure(partial(_domain, runtime, domain.slug, gauge))


def _name(gauge: Gauge) -> str:
    return f"knapper_{gauge.name}"


def _domain(runtime: Runtime, slug: str, gauge: Gauge) -> Iterator[Live]:
    store = runtime.state.domain(slug)
    for vault in runtime.vaults:
        yield Live(_name(gauge), (vault.id,), gauge.fn(store, vault.id))


def _process(runtime: Runtime) -> Iterator[Live]:
    yield Live(UPTIME.name, (), round(runtime.clock() - runtime.started, 3))
    yield Live(VAULTS.name, (), len(list(runtime.vaults)))
    yield Live(TOOLS.name, (), len(runtime.view.tools()))


def _losses(runtime: Runtime) -> Iterator[Live]:
    yield Live(AUDIT_FAILED.name, (), runtime.audit.failed)
    yield Live(AUDIT_DROPPED.name, (), runtime.audit.dropped)
    yield Live(RELEASE_FAILED.name, (), runtime.keys.release_failed)
    for lane in runtime.hub.lanes:
        yield Live(SINK_DROPPED.name, (lane.name,), lane.dropped)
        yield Live(SINK_FAILED.name, (lane.name,), lane.failed)
    for vault in runtime.vaults:
        yield Live(INDEX_FAILED.name, (vault.id,), vault.index.write_failures)


def _state(runtime: Runtime) -> Iterator[Live]:
    for vault in runtime.vaults:
        yield Live(PENDING.name, (vault.id,), len(runtime.approvals.list(vault.id)))
    with runtime.state.read() as conn:
        for vault_id, size in conn.exec_driver_sql(KEPT_BYTES).all():
            yield Live(KEPT.name, (vault_id,), size)
    for job in runtime.jobs.status():
        yield Live(FAILURES.name, (job.vault, job.name), job.consecutive_failures)
