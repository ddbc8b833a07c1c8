import socket
import urllib.error
import urllib.request
from typing import Any

import pytest

import knapper_sink_prometheus
from knapper import Caller, ConfigError, Context, Domain
from knapper.caller import LOCAL
from knapper.config.model import Settings
from knapper.testing import Calls, VaultFolder
from knapper_sink_prometheus import build

probe = Domain("probe", summary="A tool to watch.")


@probe.tool("read:notes")
def look(ctx: Context, word: str) -> str:
    """Give a word back."""
    return word


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fetch(port: int, path: str = "/metrics", **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def serve(call: Calls) -> int:
    port = free_port()
    call.settings["observability"] = {"prometheus": {"enabled": True, "port": port}}
    call.plugins.append(knapper_sink_prometheus)
    call.runtime(probe)
    return port


def test_calls_are_counted_by_vault_tool_and_status(call: Calls, vault: VaultFolder) -> None:
    port = serve(call)
    runtime = call.runtime(probe)
    for arguments in ({"word": "a"}, {"word": "b"}, {}):
        runtime.call("look", arguments, Caller("ann", LOCAL, authenticated=True))
    runtime.call("look", {"word": "a"}, Caller("eve", frozenset({"write:notes"}), authenticated=True))
    for lane in runtime.hub.lanes:
        assert lane.drain(5)
    status, text = fetch(port)
    assert status == 200
    assert 'knapper_tool_calls_total{status="ok",tool="look",vault="main"} 2.0' in text
    assert 'knapper_tool_calls_total{status="error",tool="look",vault=""} 1.0' in text
    assert 'knapper_acl_denied_total{reason="forbidden",scope_class="read",vault=""} 1.0' in text
    assert 'knapper_tool_duration_seconds_bucket{le="0.005",tool="look",vault="main"}' in text
    assert "ann" not in text


def test_only_metrics_are_served_and_only_to_this_host(call: Calls, vault: VaultFolder) -> None:
    port = serve(call)
    assert fetch(port, "/other")[0] == 404
    assert fetch(port, Host="evil.example")[0] == 403


def test_a_listener_for_others_needs_a_verifier() -> None:
    values: dict[str, Any] = {
        "vaults": [{"id": "main", "path": "."}],
        "observability": {"prometheus": {"enabled": True, "bind": "0.0.0.0", "port": 0}},
    }
    with pytest.raises(ConfigError, match="no verifier"):
        build(Settings.model_validate(values))


def test_it_is_off_until_enabled() -> None:
    assert build(Settings.model_validate({"vaults": [{"id": "main", "path": "."}]})) is None
