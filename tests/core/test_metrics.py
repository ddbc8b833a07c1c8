"""One source of metrics: what is counted of calls, and what is measured when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from knapper import Caller, Context, Domain, Migration
from knapper.caller import LOCAL
from knapper.metrics import Family, Live, Metrics
from knapper.sinks import CallRecord, Event
from knapper.testing import Calls, VaultFolder

TABLE = "CREATE TABLE counted_things (vault_id TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (vault_id, n))"
counted = Domain("counted", summary="Tools to count.", tables=[Migration("20260101_001", TABLE)])


@counted.tool("read:notes")
def look(ctx: Context, word: str) -> str:
    """Give a word back."""
    return word


@counted.tool("write:notes", repeat="keyed", reach="nothing")
def keep(ctx: Context, size: int) -> str:
    """Give back an answer of a size."""
    with ctx.store.write() as conn:
        conn.exec_driver_sql("INSERT INTO counted_things VALUES (?, ?)", (ctx.vault.vault, size))
    return "x" * size


@counted.tool("write:notes", destructive=True, reach="nothing")
def wipe(ctx: Context) -> str:
    """Do what a person has to confirm."""
    return "done"


@counted.gauge
def counted_depth(store: Any, vault: str) -> float:
    """Things that were kept."""
    with store.read() as conn:
        sql = "SELECT count(*) FROM counted_things WHERE vault_id = ?"
        return float(conn.exec_driver_sql(sql, (vault,)).scalar_one())


def values(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    found = {family.name: readings for family, readings in metrics.read()}
    return {tuple(one.labels.values()): one.value for one in found[name]}


def test_each_way_a_call_can_end_is_counted_under_its_name(call: Calls, vault: VaultFolder) -> None:
    call.settings = {
        "governor": {"max_response_bytes": 100},
        "throttle": {"tiers": {"write": {"per_minute": 0.001, "burst": 2}}},
    }
    runtime = call.runtime(counted)
    ann = Caller("ann", LOCAL, authenticated=True)
    eve = Caller("eve", frozenset({"write:*"}), authenticated=True)
    for tool, arguments, caller in (
        ("keep", {"size": 3, "idempotency_key": "a"}, ann),
        ("keep", {"size": 3, "idempotency_key": "a"}, ann),
        ("keep", {"size": 300, "idempotency_key": "b"}, ann),
        ("keep", {"size": 4}, ann),
        ("wipe", {}, eve),
        ("look", {"word": "x"}, eve),
    ):
        runtime.call(tool, arguments, caller)
    keep_ = ("main", "keep")
    assert values(runtime.metrics, "knapper_tool_calls_total") == {
        (*keep_, "ok"): 2,
        (*keep_, "error"): 1,
        (*keep_, "denied"): 1,
        ("main", "wipe", "denied"): 1,
        ("", "look", "denied"): 1,
    }
    assert values(runtime.metrics, "knapper_idempotency_hits_total") == {keep_: 1}
    assert values(runtime.metrics, "knapper_idempotency_cache_skipped_total") == {keep_: 1}
    assert values(runtime.metrics, "knapper_governor_truncations_total") == {keep_: 1}
    assert values(runtime.metrics, "knapper_rate_limit_hits_total") == {("main", "write"): 1}
    assert values(runtime.metrics, "knapper_hitl_elicited_total") == {("main", "wipe"): 1}
    assert values(runtime.metrics, "knapper_acl_denied_total") == {("", "read", "forbidden"): 1}
    assert values(runtime.metrics, "knapper_elicit_tokens_pending") == {("main",): 1}
    assert values(runtime.metrics, "knapper_idempotency_cache_bytes") == {("main",): 16}


def test_names_that_are_no_tools_share_one_label(call: Calls, vault: VaultFolder) -> None:
    runtime = call.runtime(counted)
    for number in range(5):
        runtime.call(f"made_up_{number}", {}, Caller("ann", LOCAL, authenticated=True))
    assert values(runtime.metrics, "knapper_tool_calls_total") == {("", "unknown", "error"): 5}


def test_a_histogram_counts_up_to_each_bound_and_in_all() -> None:
    metrics = Metrics()
    for microseconds in (5000, 5001, 20_000_000):
        metrics.take(CallRecord(ts=0.0, tool="t", rate="read", duration_us=microseconds))
    found = {family.name: readings for family, readings in metrics.read()}
    (reading,) = found["knapper_tool_duration_seconds"]
    assert reading.counts == (1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3)
    assert reading.value == pytest.approx(20.010001)


def test_a_refused_bearer_is_counted_by_its_reason() -> None:
    metrics = Metrics()
    metrics.take(Event(ts=0.0, type="auth.rejected", data={"reason": "expired"}))
    metrics.take(Event(ts=0.0, type="server.start"))
    assert values(metrics, "knapper_auth_rejections_total") == {("expired",): 1}


def test_what_a_domain_measures_is_a_gauge_of_each_vault(call: Calls, vault: VaultFolder) -> None:
    runtime = call.runtime(counted)
    assert values(runtime.metrics, "knapper_counted_depth") == {("main",): 0}
    call(counted, "keep", size=7)
    assert values(runtime.metrics, "knapper_counted_depth") == {("main",): 1}


def test_what_cannot_be_measured_hides_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Iterator[Live]:
        raise OSError("no answer")

    metrics = Metrics()
    metrics.declare(Family("knapper_good", "gauge", "Well."))
    metrics.measure(broken)
    metrics.measure(lambda: [Live("knapper_good", (), 4)])
    assert values(metrics, "knapper_good") == {(): 4}
    assert [record.getMessage() for record in caplog.records] == ["a metric could not be measured"]
