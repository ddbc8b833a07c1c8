"""What each kind of setting takes, whichever source it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knapper.config.load import load
from knapper.errors import ConfigError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "Notes"
    found.mkdir()
    return found


def value(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = getattr(settings, part)
    return settings


@pytest.mark.parametrize(
    ("key", "default", "in_file", "as_variable", "as_flag"),
    [
        ("transports.http.port", 8765, "1001", ("1002", 1002), 1003),
        ("watch.enabled", True, "false", ("true", True), False),
        ("embeddings.model", "", '"file"', ("env", "env"), "flag"),
        ("acl.read_paths", None, '["file/**"]', ('["env/**"]', ["env/**"]), ["flag/**"]),
        ("retention", 50, "7", ("8", 8), 9),
    ],
)
def test_a_flag_beats_a_variable_beats_the_file_beats_the_default_for_every_type(
    tmp_path: Path,
    folder: Path,
    key: str,
    default: Any,
    in_file: str,
    as_variable: tuple[str, Any],
    as_flag: Any,
) -> None:
    key = key if "." in key else f"snapshots.{key}"
    section, _, name = key.rpartition(".")
    file = tmp_path / "config.toml"
    file.write_text(f'[[vaults]]\nid = "main"\npath = "Notes"\n[{section}]\n{name} = {in_file}\n')
    env = {"KNAPPER_" + key.upper().replace(".", "__"): as_variable[0]}
    assert value(load(folder, env={}).settings, key) == default
    assert value(load(file, env={}).settings, key) not in (default, as_variable[1], None)
    assert value(load(file, env=env).settings, key) == as_variable[1]
    assert value(load(file, {key: as_flag}, env).settings, key) == as_flag


@pytest.mark.parametrize(("written", "meant"), [("1", True), ("true", True), ("0", False), ("false", False)])
def test_a_switch_is_true_or_false_or_one_or_nought(folder: Path, written: str, meant: bool) -> None:
    assert load(folder, env={"KNAPPER_WATCH__ENABLED": written}).settings.watch.enabled is meant


@pytest.mark.parametrize("written", ["yes", "no", "on", "off", "y", "2", "True?"])
def test_a_switch_is_nothing_else(folder: Path, written: str) -> None:
    with pytest.raises(ConfigError, match=r"watch\.enabled"):
        load(folder, env={"KNAPPER_WATCH__ENABLED": written})


@pytest.mark.parametrize("port", [-1, 65536, "x"])
def test_a_port_is_a_port_and_nought_asks_for_a_free_one(folder: Path, port: Any) -> None:
    with pytest.raises(ConfigError, match=r"transports\.http\.port"):
        load(folder, {"transports.http.port": port}, {})
    assert load(folder, {"transports.http.port": 0}, {}).settings.transports.http.port == 0


@pytest.mark.parametrize(
    "path", ["mcp", "", "/", "/a/../b", "/a/..", "/a\0b", "/a?b", "/a//b", "/a%2fb", "/a "]
)
def test_the_path_of_the_protocol_is_read_in_one_way_only(folder: Path, path: str) -> None:
    with pytest.raises(ConfigError, match=r"transports\.http\.path: .*has to begin with / and be plain"):
        load(folder, {"transports.http.path": path}, {})
    assert (
        load(folder, {"transports.http.path": "/notes.v1/mcp"}, {}).settings.transports.http.path
        == "/notes.v1/mcp"
    )
