import re
import urllib.error
import urllib.request
from typing import Any

import pytest

import knapper_sink_prometheus
from knapper import Caller, ConfigError, Context, Domain, Rejected, Verifier, hookimpl
from knapper.caller import LOCAL
from knapper.testing import Calls, VaultFolder

probe = Domain("probe", summary="A tool to watch.")


@probe.tool("read:notes")
def look(ctx: Context, word: str) -> str:
    """Give a word back."""
    return word


class Doors:
    """A verifier that knows two callers."""

    @staticmethod
    @hookimpl
    def knapper_verifiers() -> Verifier:
        return Verifier("doors", lambda settings: verify)


def verify(bearer: str) -> Caller:
    scopes = {"guest": frozenset({"read:*"}), "admin": frozenset({"admin:metrics"})}
    if bearer not in scopes:
        raise Rejected("signature")
    return Caller(bearer, scopes[bearer], authenticated=True)


def fetch(port: int, path: str = "/metrics", **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def serve(call: Calls, **observability: Any) -> int:
    call.settings["observability"] = {"prometheus": {"enabled": True, "port": 0, **observability}}
    call.plugins.append(knapper_sink_prometheus)
    (lane,) = call.runtime(probe).hub.lanes
    assert isinstance(lane.observer, knapper_sink_prometheus.Exposed)
    return int(lane.observer.listener.port)


def test_calls_are_counted_by_vault_tool_and_status(call: Calls, vault: VaultFolder) -> None:
    port = serve(call)
    runtime = call.runtime(probe)
    for arguments in ({"word": "a"}, {"word": "b"}, {}):
        runtime.call("look", arguments, Caller("ann", LOCAL, authenticated=True))
    runtime.call("look", {"word": "a"}, Caller("eve", frozenset({"write:notes"}), authenticated=True))
    status, text = fetch(port)
    assert status == 200
    assert 'knapper_tool_calls_total{status="ok",tool="look",vault="main"} 2.0' in text
    assert 'knapper_tool_calls_total{status="error",tool="look",vault=""} 1.0' in text
    assert 'knapper_acl_denied_total{reason="forbidden",scope_class="read",vault=""} 1.0' in text
    assert 'knapper_tool_duration_seconds_bucket{le="0.005",tool="look",vault="main"}' in text
    assert 'knapper_tool_duration_seconds_bucket{le="+Inf",tool="look",vault="main"} 2.0' in text
    assert 'knapper_response_bytes_bucket{le="1000.0",tool="look",vault="main"} 2.0' in text
    assert 'knapper_response_bytes_sum{tool="look",vault="main"} 28.0' in text
    assert "ann" not in text


def test_every_family_is_there_before_the_first_call(call: Calls, vault: VaultFolder) -> None:
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", fetch(serve(call))[1], re.MULTILINE))
    assert kinds == {
        "knapper_acl_denied_total": "counter",
        "knapper_audit_dropped_total": "counter",
        "knapper_audit_write_failed_total": "counter",
        "knapper_auth_rejections_total": "counter",
        "knapper_elicit_tokens_pending": "gauge",
        "knapper_governor_truncations_total": "counter",
        "knapper_hitl_elicited_total": "counter",
        "knapper_idempotency_cache_bytes": "gauge",
        "knapper_idempotency_cache_skipped_total": "counter",
        "knapper_idempotency_hits_total": "counter",
        "knapper_idempotency_release_failed_total": "counter",
        "knapper_index_write_failures_total": "counter",
        "knapper_rate_limit_hits_total": "counter",
        "knapper_response_bytes": "histogram",
        "knapper_scheduler_consecutive_failures": "gauge",
        "knapper_sink_dropped_total": "counter",
        "knapper_sink_failed_total": "counter",
        "knapper_tool_calls_total": "counter",
        "knapper_tool_duration_seconds": "histogram",
        "knapper_tools_registered": "gauge",
        "knapper_uptime_seconds": "gauge",
        "knapper_vaults_registered": "gauge",
    }


def test_the_buckets_are_those_that_dashboards_expect(call: Calls, vault: VaultFolder) -> None:
    port = serve(call)
    call.runtime(probe).call("look", {"word": "a"}, Caller("ann", LOCAL, authenticated=True))
    text = fetch(port)[1]
    assert re.findall(r'knapper_tool_duration_seconds_bucket\{le="([^"]+)"', text) == [
        *("0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "+Inf")
    ]
    assert re.findall(r'knapper_response_bytes_bucket\{le="([^"]+)"', text) == [
        *("1000.0", "10000.0", "100000.0", "1e+06", "1e+07", "+Inf")
    ]


def test_only_metrics_are_served_and_only_to_this_host(call: Calls, vault: VaultFolder) -> None:
    port = serve(call)
    assert fetch(port, "/other")[0] == 404
    assert fetch(port, Host="evil.example")[0] == 403
    assert fetch(port, Origin="https://evil.example")[0] == 403


def test_where_the_server_wants_a_bearer_so_does_the_listener(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(Doors)
    call.settings["auth"] = {"mode": "doors"}
    port = serve(call, bind="0.0.0.0")
    assert fetch(port) == (401, "missing bearer token\n")
    assert fetch(port, Authorization="Bearer thief") == (401, "invalid or expired token\n")
    assert fetch(port, Authorization="Bearer guest") == (403, "the scope admin:metrics is needed\n")
    status, text = fetch(port, Authorization="Bearer admin")
    assert status == 200
    assert 'knapper_auth_rejections_total{reason="signature"} 1.0' in text
    assert fetch(port, Authorization="Bearer admin", Host="evil.example")[0] == 403


def test_a_listener_for_others_needs_a_verifier(call: Calls, vault: VaultFolder) -> None:
    call.settings["observability"] = {"prometheus": {"enabled": True, "bind": "0.0.0.0", "port": 0}}
    with pytest.raises(ConfigError, match=r"must not be 'none'"):
        knapper_sink_prometheus.build(call.runtime(probe))


def test_it_is_off_until_enabled(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_prometheus)
    assert call.runtime(probe).hub.lanes == []
