"""The tables of the page about the companion are what happens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from devtools.members import ROOT
from knapper import ToolError
from knapper.config.load import load
from knapper.config.model import BridgeSettings, VaultSettings
from knapper.testing_http import Reply, loopback
from knapper_companion import companion_bridge, knapper_bridges, plugin_bridge
from knapper_companion.envelope import PASSED_ON
from knapper_companion.link import PAUSE_SECONDS, STALE_SECONDS, Link
from tests.companion.certificates import self_signed
from tests.companion.obsidian import BUILT, obsidian
from tests.companion.vaults import PROBE, companion, ok, settings, without_companion

PAGE = (ROOT / "docs" / "companion.md").read_text("utf-8")


def table(first: str) -> list[list[str]]:
    """The rows of the table whose first heading it is, without their quotes."""
    head = PAGE.index(f"| {first} |")
    lines = PAGE[head:].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines]


Situation = Callable[[Path, ExitStack], VaultSettings]
SITUATIONS: dict[str, Situation] = {}


def situation(name: str) -> Callable[[Situation], Situation]:
    def keep(made: Situation) -> Situation:
        SITUATIONS[name] = made
        return made

    return keep


def served(folder: Path, stack: ExitStack, answer: Any = companion, **given: Any) -> VaultSettings:
    return settings(folder, stack.enter_context(loopback(answer)).url, **given)


def nobody(folder: Path) -> VaultSettings:
    with loopback(companion) as gone:
        return settings(folder, gone.url)


def rest_api(folder: Path, enabled: list[str]) -> None:
    plugin = folder / ".obsidian" / "plugins" / "obsidian-local-rest-api"
    plugin.mkdir(parents=True)
    (plugin / "manifest.json").write_text("{}", encoding="utf-8")
    (folder / ".obsidian" / "community-plugins.json").write_text(json.dumps(enabled), encoding="utf-8")


@situation("the vault's `mode` is `headless`")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, mode="headless")


@situation("the companion speaks another version of the contract")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, lambda _: ok({**PROBE, "obsidianTcApiVersion": "2"}))


@situation("nobody listens")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return nobody(folder)


@situation("Local REST API refuses the key")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, lambda _: Reply({"errorCode": 40101}, status=401))


@situation("its certificate is not the one that is trusted")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    own, other = self_signed(folder / "own"), self_signed(folder / "other")
    url = stack.enter_context(loopback(companion, own.server)).url
    return settings(folder, url, rest_api_certificate=other.digest)


@situation("nobody listens, though Local REST API is enabled in the vault")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    rest_api(folder, ["obsidian-local-rest-api"])
    return nobody(folder)


@situation("nobody listens, and Local REST API is disabled in the vault")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    rest_api(folder, [])
    return nobody(folder)


@situation("`rest_api_url` is not set")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return settings(folder, None)


@situation("Local REST API has no companion")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, without_companion)


@situation("the plugin does not run")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, lambda _: ok({**PROBE, "capabilities": {}}))


@situation("the plugin is in `force_disabled`")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, plugins={"force_disabled": ["dataview"], "force_enabled": ["dataview"]})


@situation("`probe_skip` is set and the plugin is not in `force_enabled`")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack, plugins={"probe_skip": True})


@situation("all is there")
def _(folder: Path, stack: ExitStack) -> VaultSettings:
    return served(folder, stack)


def code(bridge: Any, given: VaultSettings) -> str:
    try:
        bridge.connect(given)
    except ToolError as error:
        return error.code
    return "-"


def test_every_situation_is_on_the_page() -> None:
    listed = [line.split(" | ")[0].strip("| ") for line in PAGE.splitlines() if line.startswith("| ")]
    assert [name for name in SITUATIONS if name not in listed] == []
    assert len(table("situation")) == len(SITUATIONS) == 13


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_call_ends_as_the_page_says(tmp_path: Path, name: str) -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    _, engine, own, state = (cell.strip(" `|") for cell in line.split(" | "))
    dataview = plugin_bridge("dataview", "dataview", lambda remote: remote)
    commands = companion_bridge("commands", lambda remote: remote)
    with ExitStack() as stack:
        given = SITUATIONS[name](tmp_path, stack)
        assert (code(dataview, given), code(commands, given)) == (engine, own)
        bridge = knapper_bridges()
        assert bridge.state is not None
        found = bridge.state(given, True)
    assert f"{found.state} ({found.reason})" == state


def test_the_time_limits_are_the_settings_and_their_defaults() -> None:
    listed = {name: int(default) for name, default, _ in table("setting")}
    assert listed == BridgeSettings().model_dump()
    assert f"{round(PAUSE_SECONDS * 1000)} ms later" in PAGE
    assert STALE_SECONDS == 10.0
    assert "more than ten seconds ago" in PAGE


def test_the_codes_that_pass_are_those_on_the_page() -> None:
    passage = PAGE[PAGE.index("keeps its code where callers know it:") :].partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", passage)) == PASSED_ON


def test_the_routes_are_those_of_the_plugin() -> None:
    built = (BUILT / "main.js").read_text("utf-8")
    routes = set(re.findall(r'post\("(/[a-z/]+)"', built)) | {"/probe"}
    assert {row[0] for row in table("route")} == routes
    assert 'PREFIX = "/obsidian-tc/v1"' in built


@contextmanager
def everything(folder: Path) -> Iterator[VaultSettings]:
    with obsidian(folder, plugins={plugin: {} for _, plugin in table("key")}) as app:
        yield app.settings()


def test_the_keys_and_plugins_are_those_that_the_probe_names(tmp_path: Path) -> None:
    with everything(tmp_path) as given:
        found = Link(given).refresh(given).plugins
    assert {key for key, plugin in found.items() if plugin.installed} == {key for key, _ in table("key")}
    assert all(plugin.installed for plugin in found.values())


README = (ROOT / "bridges" / "companion" / "README.md").read_text("utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_bridge_in_the_readme_works(tmp_path: Path) -> None:
    made: dict[str, Any] = {}
    exec(block("python"), made)  # noqa: S102 - it is our own page
    with loopback(lambda _: ok({"count": 7})) as obsidian:
        plugins = {"probe_skip": True, "force_enabled": ["counter"]}
        engine = made["knapper_bridges"]().connect(settings(tmp_path, obsidian.url, plugins=plugins))
        assert engine.count("a.md") == 7
    assert [(asked.path, asked.body) for asked in obsidian.asked] == [
        ("/obsidian-tc/v1/counter/count", {"path": "a.md"})
    ]


def test_the_configuration_in_the_readme_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "knapper.toml").write_text(block("toml"), encoding="utf-8")
    vault = load(tmp_path / "knapper.toml", env={}).settings.vaults[0]
    assert vault.rest_api_url == "https://127.0.0.1:27124"


def test_what_the_readme_runs_in_the_plugin_is_there() -> None:
    scripts = json.loads((ROOT / "bridges" / "companion" / "plugin" / "package.json").read_bytes())["scripts"]
    assert set(re.findall(r"npm run (\w+)", README)) == set(scripts)
