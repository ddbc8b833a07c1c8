"""The built plugin in Node, asked by the client over HTTP: how it gets in, what it says of itself, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from knapper import ToolError
from knapper_companion import companion_bridge, plugin_bridge
from knapper_companion.link import Link
from knapper_companion.snapshot import Plugin, Snapshot
from tests.companion.certificates import self_signed
from tests.companion.obsidian import Obsidian, obsidian
from tests.companion.vaults import KEY

NONE = {
    key: Plugin(False)
    for key in ("excalidraw", "dataview", "tasks", "templater", "quickadd", "text-extractor", "make-md")
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Obsidian]:
    """An app in which no other plugin runs."""
    with obsidian(tmp_path_factory.mktemp("bare")) as app:
        yield app


def probed(app: Obsidian, **given: Any) -> Snapshot:
    settings = app.settings(**given)
    return Link(settings).refresh(settings)


def remote(app: Obsidian) -> Any:
    return companion_bridge("companion", lambda found: found).connect(app.settings())


def refusal(app: Obsidian, route: str, **body: Any) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(ToolError) as raised:
        remote(app).ask(route, **body)
    return raised.value.code, raised.value.message, raised.value.details


def test_it_says_who_it_is_and_what_runs_beside_it(tmp_path: Path) -> None:
    plugins = {"dataview": {"version": "0.5.70"}, "text-extractor": {"version": "0.6.1"}, "unknown": {}}
    with obsidian(tmp_path, plugins=plugins) as app:
        assert probed(app) == Snapshot(
            companion="reachable",
            plugins={**NONE, "dataview": Plugin(True, "0.5.70"), "text-extractor": Plugin(True, "0.6.1")},
            plugin_id="knapper-companion",
            plugin_version="0.1.0",
            obsidian_version="1.8.9",
            api_version="1",
        )
        assert app.state()["notices"] == []


def test_it_answers_over_tls_with_the_certificate_that_is_pinned(tmp_path: Path) -> None:
    own, foreign = self_signed(tmp_path / "own"), self_signed(tmp_path / "foreign")
    with obsidian(tmp_path / "vault", tls=own) as app:
        assert probed(app).companion == "reachable"
        assert probed(app, rest_api_certificate=str(own.certificate)).companion == "reachable"
        app.state()
        assert probed(app, rest_api_certificate=foreign.digest).companion == "unreachable"
        assert app.state()["asked"] == []


def test_its_vault_is_named_by_its_folder_and_on_a_phone_by_its_name(tmp_path: Path) -> None:
    for desktop, expected in ((True, str(tmp_path)), (False, "My notes")):
        with obsidian(tmp_path, desktop=desktop, name="My notes") as app:
            answer = remote(app).native("GET", "/obsidian-tc/v1/probe")
            assert f'"vault_path":{expected!r}'.replace("'", '"') in answer.body.decode()


@pytest.mark.parametrize("offers", ["public", "addRoute", "api", "extension", "router"])
def test_it_finds_its_way_into_every_version_of_the_local_rest_api(tmp_path: Path, offers: str) -> None:
    with obsidian(tmp_path, offers=offers) as app:
        assert probed(app).companion == "reachable"
        assert remote(app).ask("/commands/list") == {"items": [], "total": 0}


def test_it_waits_for_a_local_rest_api_that_is_enabled_later(tmp_path: Path) -> None:
    with obsidian(tmp_path, late=True) as app:
        assert probed(app).companion == "missing"
        assert app.state()["notices"] == [
            "Knapper companion waits for the plugin obsidian-local-rest-api to be enabled."
        ]
        app.do("enable_rest_api")
        assert probed(app).companion == "reachable"


def test_it_waits_for_a_local_rest_api_that_is_not_ready_yet(tmp_path: Path) -> None:
    with obsidian(tmp_path, offers="unready") as app:
        assert probed(app).companion == "missing"
        app.do("offer", offers="public")
        app.do("enable_rest_api")
        assert probed(app).companion == "reachable"


@pytest.mark.parametrize("offers", ["public", "router"])
def test_it_is_gone_when_it_is_disabled_and_back_when_it_is_enabled(tmp_path: Path, offers: str) -> None:
    with obsidian(tmp_path, offers=offers) as app:
        app.do("enable_rest_api")
        assert probed(app).companion == "reachable"
        app.do("disable_companion")
        assert probed(app).companion == "missing"
        assert app.state()["listening"] == 0
        app.do("enable_companion")
        assert probed(app).companion == "reachable"


def test_without_it_the_local_rest_api_still_runs_commands(tmp_path: Path) -> None:
    commands = [{"id": "app:go back", "name": "Back"}]
    with obsidian(tmp_path, companion=False, commands=commands) as app:
        bridge = companion_bridge("commands", lambda found: "live", fallback=lambda found: found)
        native = bridge.connect(app.settings())
        listed = native.native("GET", "/commands/")
        assert (listed.status, listed.body) == (200, b'{"commands":[{"id":"app:go back","name":"Back"}]}')
        assert native.native("POST", "/commands/app%3Ago%20back/").status == 204
        assert native.native("POST", "/commands/nope/").status == 404
        assert app.events("command") == ["app:go back"]


@pytest.mark.parametrize(
    ("without", "warning"),
    [
        ("commands", "app.commands.listCommands is no function"),
        ("plugins", "app.plugins.plugins is no object"),
    ],
)
def test_an_obsidian_of_another_shape_is_told_and_breaks_nothing(
    tmp_path: Path, without: str, warning: str
) -> None:
    with obsidian(tmp_path, without=[without], late=True) as app:
        assert app.events("console.warn") == [f"Knapper companion: {warning}"]


def test_a_missing_part_of_obsidian_is_in_the_probe_and_its_routes_fail_alone(tmp_path: Path) -> None:
    with obsidian(tmp_path, without=["commands"]) as app:
        assert probed(app).shape_warnings == ["app.commands.listCommands is no function"]
        code, _, details = refusal(app, "/commands/list")
        assert (code, details) == (
            "plugin_unreachable",
            {"plugin": "companion", "bridge_code": "bridge_error"},
        )
        assert remote(app).ask("/notes/refresh", paths=["a.md"]) == {"refreshed": [], "skipped": []}


def test_a_wrong_key_reaches_nothing(bare: Obsidian) -> None:
    found = probed(bare, rest_api_key="another key")
    assert (found.companion, found.problem) == (
        "unreachable",
        "The Local REST API refuses the key: copy it from the plugin's settings to rest_api_key.",
    )


def test_a_route_that_it_does_not_have_is_no_envelope(bare: Obsidian) -> None:
    code, _, details = refusal(bare, "/nothing/here")
    assert (code, details) == ("plugin_unreachable", {"plugin": "companion", "http_status": 404})


@pytest.mark.parametrize(
    ("plugin_id", "route", "body"),
    [
        ("dataview", "/dataview/dql", {"dql": "LIST"}),
        ("dataview", "/dataview/validate", {"dql": "LIST"}),
        ("dataview", "/dataview/eval", {"expression": "1"}),
        ("obsidian-tasks-plugin", "/tasks/filter", {"filter": "done"}),
        ("templater-obsidian", "/templater/list", {}),
        ("templater-obsidian", "/templater/execute", {"template": "t.md", "target": "a.md"}),
        ("quickadd", "/quickadd/actions", {}),
        ("quickadd", "/quickadd/trigger", {"action_name": "x"}),
        ("text-extractor", "/ocr/attachment", {"path": "a.png"}),
        ("text-extractor", "/ocr/bulk", {"paths": ["a.png"]}),
        ("obsidian-excalidraw-plugin", "/excalidraw/read", {"path": "a.excalidraw"}),
        ("obsidian-excalidraw-plugin", "/excalidraw/write", {"path": "a.excalidraw"}),
        ("make-md", "/makemd/spaces", {}),
        ("make-md", "/makemd/query", {"space_id": "x"}),
    ],
)
def test_a_route_whose_plugin_is_gone_since_the_probe_says_so(
    bare: Obsidian, plugin_id: str, route: str, body: dict[str, Any]
) -> None:
    assert refusal(bare, route, **body) == (
        "plugin_missing",
        f"the plugin {plugin_id} is not installed or not enabled",
        {"plugin": "companion", "reason": "plugin_not_installed"},
    )


@pytest.mark.parametrize(
    ("plugin_id", "without", "route", "body", "lacks"),
    [
        ("dataview", "api", "/dataview/dql", {"dql": "LIST"}, "dataview has no api.query"),
        ("dataview", "api.evaluate", "/dataview/eval", {"expression": "1"}, "dataview has no api.evaluate"),
        (
            "templater-obsidian",
            "templater.create_running_config",
            "/templater/execute",
            {"template": "t.md", "target": "a.md"},
            "templater has no templater.create_running_config",
        ),
        (
            "quickadd",
            "api.executeChoice",
            "/quickadd/trigger",
            {"action_name": "x"},
            "quickadd has no api.executeChoice",
        ),
        (
            "text-extractor",
            "api.extractText",
            "/ocr/attachment",
            {"path": "a.png"},
            "text-extractor has no api.extractText",
        ),
        (
            "obsidian-excalidraw-plugin",
            "ea",
            "/excalidraw/read",
            {"path": "a.excalidraw"},
            "excalidraw has no ea.getSceneFromFile",
        ),
        ("make-md", "superstate", "/makemd/spaces", {}, "make-md has no superstate"),
        ("make-md", "superstate.spacesIndex", "/makemd/spaces", {}, "make-md has no spacesIndex"),
    ],
)
def test_a_plugin_of_another_shape_cannot_be_reached(
    tmp_path: Path, plugin_id: str, without: str, route: str, body: dict[str, Any], lacks: str
) -> None:
    with obsidian(tmp_path, plugins={plugin_id: {"without": [without]}}) as app:
        code, message, _ = refusal(app, route, **body)
    assert (code, message) == ("plugin_unreachable", f"the plugin {lacks} in this version")


OPEN, REFRESH, EXECUTE = "/notes/open", "/notes/refresh", "/templater/execute"


@pytest.mark.parametrize(
    ("route", "body", "field", "message"),
    [
        ("/commands/execute", {}, "command_id", "a text that is not empty"),
        ("/commands/execute", {"command_id": 7}, "command_id", "a text that is not empty"),
        ("/commands/list", {"filter": ""}, "filter", "a text that is not empty"),
        (OPEN, {"path": "../a.md"}, "path", "a path inside the vault"),
        (OPEN, {"path": "/etc/passwd"}, "path", "a path inside the vault"),
        (OPEN, {"path": "a\\b.md"}, "path", "a path inside the vault"),
        (OPEN, {"path": "a/./b.md"}, "path", "a path inside the vault"),
        (OPEN, {"path": "a.md", "newtab": "yes"}, "newtab", "true or false"),
        (REFRESH, {"paths": []}, "paths", "a list of texts that is not empty"),
        (REFRESH, {"paths": "a.md"}, "paths", "a list of texts that is not empty"),
        (REFRESH, {"paths": ["a.md", ".."]}, "paths", "a path inside the vault"),
        ("/dataview/dql", {"dql": "LIST", "format": "cards"}, "format", "one of table, list, task, calendar"),
        ("/tasks/filter", {}, "filter", "a text that is not empty"),
        (EXECUTE, {"template": "t.md", "target": "a.md", "args": [1]}, "args", "an object"),
        (
            "/ocr/bulk",
            {"paths": ["a.png"], "max_concurrent": 5},
            "max_concurrent",
            "a whole number from 1 to 4",
        ),
        (
            "/excalidraw/read",
            {"path": "a.excalidraw", "format": "x"},
            "format",
            "one of elements, text, both",
        ),
        ("/excalidraw/write", {"path": "a.excalidraw", "elements": [1]}, "elements", "a list of objects"),
        ("/makemd/query", {"space_id": "x", "limit": 0}, "limit", "a whole number from 1 to 1000"),
    ],
)
def test_a_field_that_is_wrong_is_named(
    bare: Obsidian, route: str, body: dict[str, Any], field: str, message: str
) -> None:
    assert refusal(bare, route, **body) == (
        "invalid_input",
        f"{field} has to be {message}",
        {"plugin": "companion", "field": field},
    )


def test_a_body_that_is_no_object_is_refused(bare: Obsidian) -> None:
    url = f"{bare.url}/obsidian-tc/v1/commands/list"
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    answer = httpx.post(url, content=b"[1]", headers=headers, timeout=60, trust_env=False)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {
        "ok": False,
        "code": "invalid_input",
        "message": "the body has to be a JSON object",
    }


def test_what_the_bridges_name_is_what_the_companion_reports(tmp_path: Path) -> None:
    ids = {
        "excalidraw": "obsidian-excalidraw-plugin",
        "dataview": "dataview",
        "tasks": "obsidian-tasks-plugin",
        "templater": "templater-obsidian",
        "quickadd": "quickadd",
        "ocr": "text-extractor",
        "makemd": "make-md",
    }
    with obsidian(tmp_path, plugins={plugin: {} for plugin in ids.values()}) as app:
        for key, plugin in ids.items():
            assert plugin_bridge(key, plugin, lambda found: "there").connect(app.settings()) == "there"
