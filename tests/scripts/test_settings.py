from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from knapper.testing import Calls, VaultFolder
from knapper_scripts import knapper_lifespan, scripts
from knapper_scripts.domain import ScriptSettings
from tests.scripts.conftest import Run, Tools, saying


@pytest.mark.parametrize(
    "folder",
    [
        "/etc/tools",
        "C:\\tools",
        "../tools",
        "tools/../../other",
        "..",
        "",
        "/",
        ".",
        ".obsidian/tools",
        ".tools",
        "a\x00b",
    ],
)
def test_a_folder_that_is_not_inside_the_vault_is_the_default_with_a_warning(
    folder: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "knapper.scripts"):
        settings = ScriptSettings(folder=folder, folders={"main": folder})
    assert (settings.of("main"), settings.of("other")) == ("mcp-tools", "mcp-tools")
    assert [message.endswith("'mcp-tools' is used") for message in caplog.messages] == [True, True]


def test_each_vault_may_have_a_folder_of_its_own() -> None:
    settings = ScriptSettings(folder="Tools/", folders={"work": "Admin/Scripts"})
    assert (settings.of("work"), settings.of("home")) == ("Admin/Scripts", "Tools")


def test_scripts_come_from_the_folder_that_is_set(
    call: Calls, config: Path, run: Run, vault: VaultFolder
) -> None:
    settings = json.loads(config.read_text())
    settings["scripts"]["folder"] = "Admin/Tools"
    config.write_text(json.dumps(settings))
    call.settings = settings
    vault["Admin/Tools/one.py"] = saying("one")
    vault["mcp-tools/two.py"] = saying("two")
    run("trust", "one.py")
    assert Tools(call.runtime(scripts)).look() == ["one"]


def test_nothing_is_loaded_where_scripts_are_off(
    call: Calls, config: Path, run: Run, vault: VaultFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = json.loads(config.read_text())
    del settings["scripts"]
    config.write_text(json.dumps(settings))
    call.settings = settings
    vault["mcp-tools/one.py"] = saying("one")
    run("trust", "one.py")
    runtime = call.runtime(scripts)
    with knapper_lifespan(app=runtime):
        assert dict(runtime.tools) == {}
    assert not ScriptSettings().enabled
