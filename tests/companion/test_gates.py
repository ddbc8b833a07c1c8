from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError
from knapper.config.model import VaultSettings
from knapper.testing_http import Asked, Reply, loopback
from knapper_companion import Remote, companion_bridge, knapper_bridges, plugin_bridge
from tests.companion.vaults import PROBE, companion, ok, settings, without_companion

DATAVIEW = plugin_bridge("dataview", "dataview", lambda remote: remote)
OCR = plugin_bridge("ocr", "text-extractor", lambda remote: remote, timeout="ocr_timeout_ms")
QUICKADD = plugin_bridge("quickadd", "quickadd", lambda remote: remote)
COMMANDS = companion_bridge("commands", lambda remote: remote)
INSTALL = (
    "Run `knapper plugin install --vault PATH`, then enable knapper-companion and Local REST API in Obsidian."
)


def refusal(bridge: Any, given: VaultSettings) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(ToolError) as raised:
        bridge.connect(given)
    return raised.value.code, raised.value.message, raised.value.details


def skewed(asked: Asked) -> Reply:
    return ok({**PROBE, "obsidianTcApiVersion": "2", "capabilities": {}})


def test_an_open_gate_gives_the_engine_its_remote(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url)
        obsidian.next = [ok(PROBE), ok({"rows": []})]
        assert DATAVIEW.connect(given).ask("/dataview/dql", dql="LIST", format=None) == {"rows": []}
    asked = obsidian.asked[1]
    assert (asked.method, asked.path, asked.body) == ("POST", "/obsidian-tc/v1/dataview/dql", {"dql": "LIST"})


def test_a_plugin_is_known_by_its_key_its_id_or_what_the_companion_calls_it(tmp_path: Path) -> None:
    named = plugin_bridge("ocr", "another-id", lambda remote: "there", capability="text-extractor")
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url)
        assert isinstance(OCR.connect(given), Remote)
        assert named.connect(given) == "there"


def test_headless_comes_first_and_asks_nobody(tmp_path: Path) -> None:
    with loopback(skewed) as obsidian:
        given = settings(tmp_path, obsidian.url, mode="headless")
        assert refusal(DATAVIEW, given) == (
            "requires_live_obsidian",
            "'dataview' needs a running Obsidian, and the mode of the vault 'main' is headless",
            {
                "tool": "dataview",
                "hint": "Use engine native, or set the vault's mode to auto.",
            },
        )
        assert refusal(COMMANDS, given)[0] == "requires_live_obsidian"
    assert obsidian.asked == []


def test_incompatible_comes_before_a_plugin_that_is_absent(tmp_path: Path) -> None:
    with loopback(skewed) as obsidian:
        given = settings(tmp_path, obsidian.url)
        assert refusal(DATAVIEW, given) == (
            "plugin_incompatible",
            "the companion in Obsidian speaks version '2', and this server '1'",
            {"plugin": "dataview", "companion_api": "2", "expected_api": "1", "hint": INSTALL},
        )
        assert refusal(COMMANDS, given)[0] == "plugin_incompatible"


def test_unreachable_comes_before_a_plugin_that_is_switched_off(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        url = obsidian.url
    given = settings(tmp_path, url, plugins={"force_disabled": ["dataview"]})
    assert refusal(DATAVIEW, given) == (
        "plugin_unreachable",
        "Obsidian cannot be asked for 'dataview': nothing listens at rest_api_url",
        {
            "plugin": "dataview",
            "companion": "unreachable",
            "hint": "Start Obsidian with the vault open and the plugin obsidian-local-rest-api enabled.",
        },
    )


def test_a_missing_companion_comes_before_a_plugin_that_is_forced_on(tmp_path: Path) -> None:
    with loopback(without_companion) as obsidian:
        given = settings(tmp_path, obsidian.url, plugins={"force_enabled": ["dataview"]})
        assert refusal(DATAVIEW, given) == (
            "plugin_missing",
            "'dataview' needs the plugin knapper-companion in Obsidian: the plugin knapper-companion is not there",
            {"plugin": "dataview", "reason": "companion_missing", "hint": INSTALL},
        )


def test_without_an_address_the_hint_says_what_to_set(tmp_path: Path) -> None:
    code, message, details = refusal(DATAVIEW, settings(tmp_path, None))
    assert (code, details["reason"]) == ("plugin_missing", "companion_missing")
    assert message.endswith("the vault has no rest_api_url")
    assert details["hint"] == f"{INSTALL} Then set rest_api_url and rest_api_key."


def test_last_comes_a_plugin_that_does_not_run(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url, plugins={"force_disabled": ["dataview"]})
        assert refusal(QUICKADD, given) == (
            "plugin_missing",
            "the plugin 'quickadd' does not run in Obsidian",
            {
                "plugin": "quickadd",
                "reason": "plugin_not_installed",
                "hint": "Install and enable quickadd in Obsidian.",
            },
        )
        assert refusal(DATAVIEW, given)[1] == "the plugin 'dataview' is switched off by force_disabled"


def test_with_the_probe_skipped_only_what_is_forced_on_is_there(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        plugins = {"probe_skip": True, "force_enabled": ["quickadd"]}
        given = settings(tmp_path, obsidian.url, plugins=plugins)
        assert isinstance(QUICKADD.connect(given), Remote)
        assert refusal(DATAVIEW, given)[0] == "plugin_missing"
        assert isinstance(COMMANDS.connect(given), Remote)
    assert obsidian.asked == []


@pytest.mark.parametrize(
    "given",
    [{"rest_api_url": "nonsense"}, {"rest_api_certificate": "no.pem"}],
    ids=["address", "certificate"],
)
def test_where_no_client_can_be_made_the_call_itself_is_unreachable(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    plugins = {"probe_skip": True, "force_enabled": ["dataview"]}
    found = settings(tmp_path, "https://127.0.0.1:1", plugins=plugins)
    remote = DATAVIEW.connect(found.model_copy(update=given))
    with pytest.raises(ToolError, match="rest_api_") as raised:
        remote.ask("/dataview/dql", dql="LIST")
    assert (raised.value.code, raised.value.details) == ("plugin_unreachable", {"plugin": "dataview"})


@pytest.mark.parametrize("found", ["missing", "unreachable"])
def test_for_what_the_companion_does_itself_missing_is_unreachable_too(tmp_path: Path, found: str) -> None:
    with loopback(without_companion) as obsidian:
        if found == "unreachable":
            obsidian.answer = lambda _: Reply(b"", status=500)
        code, _, details = refusal(COMMANDS, settings(tmp_path, obsidian.url))
    assert (code, details) == (
        "plugin_unreachable",
        {"plugin": "commands", "companion": found, "hint": INSTALL},
    )


def test_where_there_is_a_fallback_the_local_rest_api_answers_without_a_companion(tmp_path: Path) -> None:
    bridge = companion_bridge("commands", lambda remote: "live", fallback=lambda remote: remote)
    with loopback(without_companion) as obsidian:
        remote = bridge.connect(settings(tmp_path, obsidian.url))
        obsidian.next = [Reply({"commands": []})]
        assert remote.native("GET", "/commands/") == (200, b'{"commands": []}')
        assert obsidian.asked[-1].path == "/commands/"
        obsidian.answer = companion
        assert bridge.connect(settings(tmp_path / "other", obsidian.url)) == "live"
    for given in (settings(tmp_path, None), settings(tmp_path, obsidian.url, mode="headless")):
        assert refusal(bridge, given)[0] in ("plugin_unreachable", "requires_live_obsidian")


def test_a_connection_that_fails_makes_the_next_call_look_again(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url)
        remote = DATAVIEW.connect(given)
        obsidian.next = [Reply(hang_up=True)]
        with pytest.raises(ToolError, match=r"could not be asked for 'dataview': the connection failed"):
            remote.ask("/dataview/dql", dql="LIST")
        assert DATAVIEW.state is not None
        assert DATAVIEW.state(given, False).reason == "companion-unreachable"
        assert isinstance(DATAVIEW.connect(given), Remote)
        assert [asked.method for asked in obsidian.asked] == ["GET", "POST", "GET"]


def test_each_bridge_waits_as_long_as_its_own_setting_says(tmp_path: Path) -> None:
    import threading

    held = threading.Event()
    bridges = {"timeout_ms": 40, "ocr_timeout_ms": 60, "templater_timeout_ms": 80}
    templater = plugin_bridge("dataview", "dataview", lambda r: r, timeout="templater_timeout_ms")
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url, bridges=bridges)
        waits = []
        for bridge in (DATAVIEW, OCR, templater):
            remote = bridge.connect(given)
            obsidian.next = [Reply(hold=held)]
            with pytest.raises(ToolError) as raised:
                remote.ask("/slow")
            waits.append((raised.value.code, raised.value.message.rpartition(": ")[2]))
        held.set()
    assert waits == [
        ("plugin_unreachable", "it did not answer within 40 ms"),
        ("plugin_unreachable", "it did not answer within 60 ms"),
        ("plugin_unreachable", "it did not answer within 80 ms"),
    ]


def test_the_companion_itself_is_a_bridge_whose_engine_asks_any_route(tmp_path: Path) -> None:
    bridge = knapper_bridges()
    assert (bridge.key, bridge.plugin_id) == ("companion", "knapper-companion")
    with loopback(companion) as obsidian:
        remote = bridge.connect(settings(tmp_path, obsidian.url))
        obsidian.next = [ok({"path": "a.md", "opened_at": "2024-05-01T10:00:00.000Z"})]
        assert remote.ask("/notes/open", path="a.md", newtab=True)["path"] == "a.md"
    assert obsidian.asked[-1].body == {"path": "a.md", "newtab": True}
