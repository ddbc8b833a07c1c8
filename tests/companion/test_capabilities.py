from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper.bridge import BridgeState
from knapper.config.model import VaultSettings
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Reply, loopback
from knapper_companion import companion as domain
from knapper_companion import knapper_bridges, plugin_bridge
from tests.companion.vaults import PATIENCE, PROBE, companion, ok, settings, without_companion

COMPANION = knapper_bridges()
PATIENT = {"probe_timeout_ms": PATIENCE}


def state(given: VaultSettings, *, ask: bool, bridge: Any = COMPANION) -> tuple[str, str]:
    found: BridgeState = bridge.state(given, ask)
    return found.state, found.reason


def configure(call: Calls, vault: VaultFolder, **given: Any) -> None:
    base = {"id": "main", "path": str(vault.path), "bridges": PATIENT}
    call.settings = {"vaults": [{**base, **given}]}


def test_the_tool_looks_again_and_says_what_has_changed(call: Calls, vault: VaultFolder) -> None:
    with loopback(companion) as obsidian:
        configure(call, vault, rest_api_url=obsidian.url)
        first = call(domain, "refresh_plugin_capabilities")
        obsidian.next = [ok({**PROBE, "capabilities": {"dataview": {"installed": True, "version": "0.6.0"}}})]
        second = call(domain, "refresh_plugin_capabilities")
        third = call(domain, "refresh_plugin_capabilities")
    assert first.pop("probed_at")
    assert first == {
        "vault": "main",
        "companion": "reachable",
        "mode": "live",
        "state": "live",
        "reason": "companion-reachable",
        "plugins": {
            "dataview": {"installed": True, "version": "0.5.68"},
            "tasks": {"installed": False},
            "text-extractor": {"installed": True, "version": "0.6.1"},
        },
        "changed": ["dataview", "tasks", "text-extractor"],
        "plugin_version": "1.7.0",
        "obsidian_version": "1.8.9",
        "api_version": "1",
    }
    assert second["changed"] == ["dataview", "tasks", "text-extractor"]
    assert second["plugins"] == {"dataview": {"installed": True, "version": "0.6.0"}}
    assert third["changed"] == ["dataview", "tasks", "text-extractor"]
    assert len(obsidian.asked) == 3


def test_a_second_look_that_finds_the_same_says_that_nothing_changed(call: Calls, vault: VaultFolder) -> None:
    with loopback(companion) as obsidian:
        configure(call, vault, rest_api_url=obsidian.url)
        call(domain, "refresh_plugin_capabilities")
        assert call(domain, "refresh_plugin_capabilities")["changed"] == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"mode": "headless"}, ("missing", "headless", "headless", "mode-headless", None)),
        ({}, ("missing", "headless", "headless", "plugin-not-installed", "the vault has no rest_api_url")),
    ],
)
def test_without_obsidian_the_tool_says_so_and_fails_nothing(
    call: Calls, vault: VaultFolder, given: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    configure(call, vault, **given)
    found = call(domain, "refresh_plugin_capabilities")
    told = (*(found[k] for k in ("companion", "mode", "state", "reason")), found.get("problem"))
    assert told == expected
    assert found["plugins"] == {}


def test_a_mode_that_is_set_wins_over_what_was_found(call: Calls, vault: VaultFolder) -> None:
    with loopback(without_companion) as obsidian:
        configure(call, vault, rest_api_url=obsidian.url, mode="live")
        found = call(domain, "refresh_plugin_capabilities")
    assert (found["mode"], found["companion"], found["state"]) == ("live", "missing", "headless")


def test_what_is_not_asked_yet_is_unknown_and_stays_unasked(tmp_path: Path) -> None:
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url)
        assert state(given, ask=False) == ("unknown", "not-probed")
        assert obsidian.asked == []
        assert state(given, ask=True) == ("live", "companion-reachable")
        assert state(given, ask=False) == ("live", "companion-reachable")
    assert len(obsidian.asked) == 1


def nothing(folder: Path) -> None:
    """A vault that Obsidian never opened."""


def opened(folder: Path) -> None:
    (folder / ".obsidian").mkdir()


def installed(folder: Path) -> None:
    plugin = folder / ".obsidian/plugins/obsidian-local-rest-api"
    plugin.mkdir(parents=True)
    (plugin / "manifest.json").write_text("{}", encoding="utf-8")


def enabled(folder: Path) -> None:
    installed(folder)
    listed = json.dumps(["dataview", "obsidian-local-rest-api"])
    (folder / ".obsidian/community-plugins.json").write_text(listed, encoding="utf-8")


def broken(folder: Path) -> None:
    installed(folder)
    (folder / ".obsidian/community-plugins.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize(
    ("prepare", "unreached", "unset"),
    [
        (nothing, ("degraded", "companion-unreachable"), ("headless", "plugin-not-installed")),
        (opened, ("headless", "plugin-not-installed"), ("headless", "plugin-not-installed")),
        (installed, ("headless", "plugin-disabled"), ("headless", "plugin-disabled")),
        (broken, ("headless", "plugin-disabled"), ("headless", "plugin-disabled")),
        (enabled, ("degraded", "enabled-but-unreachable"), ("headless", "companion-missing")),
    ],
)
def test_where_nobody_answers_the_vaults_own_folder_says_why(
    tmp_path: Path,
    prepare: Callable[[Path], None],
    unreached: tuple[str, str],
    unset: tuple[str, str],
) -> None:
    prepare(tmp_path)
    with loopback(companion) as obsidian:
        url = obsidian.url
    assert state(settings(tmp_path, url), ask=True) == unreached
    assert state(settings(tmp_path, None), ask=True) == unset


@pytest.mark.parametrize(
    "reply", [Reply({"errorCode": 40101}, status=401), Reply({"ok": True, "result": 5})], ids=["key", "shape"]
)
def test_where_somebody_answers_the_vaults_own_folder_says_nothing(tmp_path: Path, reply: Reply) -> None:
    opened(tmp_path)
    with loopback(lambda _: reply) as http:
        assert state(settings(tmp_path, http.url), ask=True) == ("degraded", "companion-unreachable")


def test_a_companion_of_another_version_is_degraded_and_a_missing_one_headless(tmp_path: Path) -> None:
    with loopback(lambda _: ok({"obsidianTcApiVersion": "3"})) as obsidian:
        given = settings(tmp_path, obsidian.url)
        assert state(given, ask=True) == ("degraded", "version-skew")
        obsidian.answer = without_companion
        assert state(given, ask=True) == ("headless", "companion-missing")
        obsidian.answer = lambda _: Reply(b"", status=500)
        assert state(given, ask=True) == ("degraded", "companion-unreachable")


def test_a_plugin_stands_as_the_vault_does_and_is_live_only_where_it_runs(tmp_path: Path) -> None:
    dataview = plugin_bridge("dataview", "dataview", lambda remote: remote)
    tasks = plugin_bridge("tasks", "obsidian-tasks-plugin", lambda remote: remote)
    with loopback(companion) as obsidian:
        given = settings(tmp_path, obsidian.url)
        assert state(given, ask=False, bridge=dataview) == ("unknown", "not-probed")
        assert state(given, ask=True, bridge=dataview) == ("live", "companion-reachable")
        assert state(given, ask=False, bridge=tasks) == ("headless", "plugin-not-installed")
        off = given.model_copy(
            update={"plugins": given.plugins.model_copy(update={"force_disabled": ["dataview"]})}
        )
        assert state(off, ask=False, bridge=dataview) == ("headless", "plugin-disabled")
        on = given.model_copy(
            update={"plugins": given.plugins.model_copy(update={"force_enabled": ["tasks"]})}
        )
        assert state(on, ask=False, bridge=tasks) == ("live", "companion-reachable")
