"""`knapper connect`: an entry in another program's file, and nothing else touched."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from knapper.cli._splice import Unreadable, put_json, put_toml, read_json
from knapper.cli.connect import CLIENTS, command

DOCS = Path(__file__).parents[2] / "docs" / "clients.md"
ENTRY = {"command": "/bin/knapper", "args": ["serve", "/notes"]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "KNAPPER_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "Notes").mkdir()
    return tmp_path


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_documented_by_hand_is_what_connect_prints(name: str) -> None:
    part = DOCS.read_text().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    (snippet,) = re.findall(r"```(?:json|toml)\n(.*?)```", part, re.DOTALL)
    entry = CLIENTS[name].entry(["/path/to/knapper", "serve", "/path/to/vault"])
    assert CLIENTS[name].shown("knapper", entry) == snippet


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_gets_an_entry_that_starts_this_installation(name: str, home: Path) -> None:
    done = connect(name, str(home / "Notes"))
    assert done.exit_code == 0, done.output
    file = CLIENTS[name].file
    text = file.read_text()
    settings: Any = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    entry = settings[CLIENTS[name].section]["knapper"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-2:] == ["serve", str(home / "Notes")]


def test_printing_writes_nothing(home: Path) -> None:
    done = connect("cursor", str(home / "Notes"), "--print")
    assert json.loads(done.output)["mcpServers"]["knapper"]["args"][-1] == str(home / "Notes")
    assert not CLIENTS["cursor"].file.exists()


def test_what_was_there_is_copied_aside_and_kept(home: Path) -> None:
    file = CLIENTS["cursor"].file
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}')
    assert connect("cursor", str(home / "Notes")).exit_code == 0
    found = json.loads(file.read_text())
    assert found["theme"] == "dark"
    assert found["mcpServers"].keys() == {"other", "knapper"}
    (kept,) = file.parent.glob("*.bak")
    assert kept.read_text() == '{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}'


def test_connecting_twice_changes_nothing_more(home: Path) -> None:
    connect("codex", str(home / "Notes"))
    before = CLIENTS["codex"].file.read_text()
    assert connect("codex", str(home / "Notes")).exit_code == 0
    assert CLIENTS["codex"].file.read_text() == before
    assert list(CLIENTS["codex"].file.parent.glob("*.bak")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a link needs a privilege there")
def test_each_change_leaves_its_own_copy_and_a_link_stays_one(home: Path) -> None:
    kept = home / "dotfiles" / "cursor.json"
    kept.parent.mkdir()
    kept.write_text('{"theme": "dark"}')
    file = CLIENTS["cursor"].file
    file.parent.mkdir()
    file.symlink_to(kept)
    for name in ("one", "two", "three"):
        assert connect("cursor", str(home / "Notes"), "--name", name).exit_code == 0
    assert file.is_symlink()
    assert json.loads(kept.read_text())["mcpServers"].keys() == {"one", "two", "three"}
    copies = [json.loads(path.read_text()) for path in kept.parent.glob("*.bak")]
    assert sorted(len(copy.get("mcpServers", {})) for copy in copies) == [0, 1, 2]


def test_a_file_in_another_encoding_is_left_as_it_is(home: Path) -> None:
    file = CLIENTS["cursor"].file
    file.parent.mkdir()
    file.write_bytes(b'{"name": "caf\xe9"}')
    assert "was left as it is, because it is not UTF-8" in str(
        connect("cursor", str(home / "Notes")).exception
    )
    assert file.read_bytes() == b'{"name": "caf\xe9"}'


def test_a_file_that_cannot_be_read_is_left_as_it_is(home: Path) -> None:
    file = CLIENTS["cursor"].file
    file.parent.mkdir()
    file.write_text('{"mcpServers": ')
    done = connect("cursor", str(home / "Notes"))
    assert done.exit_code != 0
    assert "was left as it is" in str(done.exception)
    assert file.read_text() == '{"mcpServers": '


def test_without_a_vault_the_configuration_is_connected_and_without_one_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = connect("cursor")
    assert refused.exit_code == 2
    assert (
        "name the vault to serve, for nothing is configured: knapper connect CLIENT VAULT" in refused.output
    )
    assert not CLIENTS["cursor"].file.exists()
    config = home / "knapper.toml"
    config.write_text('[[vaults]]\nid = "main"\npath = "Notes"\n')
    monkeypatch.setenv("KNAPPER_CONFIG", str(config))
    assert json.loads(connect("cursor", "--print").output)["mcpServers"]["knapper"]["args"][-1] == str(config)


def test_what_could_not_be_served_is_not_connected(home: Path) -> None:
    config = home / "knapper.toml"
    config.write_text('[[vaults]]\nid = "main"\npth = "Notes"\n')
    assert "pth: is not a setting" in str(connect("cursor", str(config)).exception)
    assert "there is no such file or folder" in str(connect("cursor", str(home / "Nots")).exception)
    assert not CLIENTS["cursor"].file.exists()


def test_a_running_server_is_connected_by_its_address(home: Path) -> None:
    shown = connect("vscode", "--url", "http://127.0.0.1:8765/mcp", "--print").output
    assert json.loads(shown) == {"servers": {"knapper": {"type": "http", "url": "http://127.0.0.1:8765/mcp"}}}


def test_a_client_that_takes_no_addresses_gets_the_program_that_passes_everything_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(home / "bin" / "python"))
    asked = ("claude-desktop", "--url", "http://127.0.0.1:8765/mcp", "--print")
    assert "takes no addresses in its configuration; install knapper-bridge-stdio" in str(
        connect(*asked).exception
    )
    program = home / "bin" / ("knapper-stdio.exe" if sys.platform == "win32" else "knapper-stdio")
    program.parent.mkdir()
    program.touch()
    entry = {"command": str(program), "args": ["--url", "http://127.0.0.1:8765/mcp"]}
    assert json.loads(connect(*asked).output) == {"mcpServers": {"knapper": entry}}


COMMENTED = """\
// my settings
{
  "theme": "dark", // do not change
  "context_servers": {
    /* the first */
    "first": { "command": "a{b}\\"c", "args": ["x", "y"], },
  },
  "last": [1, 2, {"knapper": 3}],
}
"""


def test_comments_and_other_entries_stay_as_they_are_written() -> None:
    after = put_json(COMMENTED, "context_servers", "knapper", ENTRY)
    assert [line for line in COMMENTED.splitlines() if line not in after.splitlines()] == []
    found = read_json(after)
    assert found["context_servers"] == {"first": {"command": 'a{b}"c', "args": ["x", "y"]}, "knapper": ENTRY}
    assert put_json(after, "context_servers", "knapper", ENTRY) == after


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"a": 1}',
        '{"s": {}}',
        '{"s": {"x": {"y": [1, {"z": 2}]}}}',
        '{"s": {"knapper": {"command": "old", "env": {"K": "v"}}, "x": 1}, "t": 2}',
        '{"s": {"knapper": null}}',
        '{\n  "s": {\n    "x": true\n  }\n}\n',
        "// nothing\n{\n}\n",
        '\ufeff{"s": {"x": -1.5e3,},}',
    ],
)
def test_only_the_one_entry_differs_afterwards(text: str) -> None:
    wanted = read_json(text)
    wanted.setdefault("s", {})["knapper"] = ENTRY
    assert read_json(put_json(text, "s", "knapper", ENTRY)) == wanted


@pytest.mark.parametrize("text", ["[]", "nonsense", '{"s": [1]}', '{"s": 5}', '{"a": 1', '{"a" 1}'])
def test_what_is_not_an_object_of_entries_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        put_json(text, "s", "knapper", ENTRY)


def test_a_toml_table_is_replaced_with_its_subtables_and_the_rest_is_kept() -> None:
    text = '# mine\nmodel = "o"\n\n[mcp_servers.knapper]\ncommand = "old"\n\n[mcp_servers.knapper.env]\nA = "1"\n\n[mcp_servers.other]\ncommand = "x" # y\n'
    after = put_toml(text, "mcp_servers", "knapper", ENTRY)
    assert tomllib.loads(after) == {
        "model": "o",
        "mcp_servers": {"knapper": ENTRY, "other": {"command": "x"}},
    }
    assert "# mine" in after
    assert 'command = "x" # y' in after
    with pytest.raises(Unreadable):
        put_toml("[broken", "mcp_servers", "knapper", ENTRY)
    with pytest.raises(Unreadable):
        put_toml('mcp_servers = { knapper = { command = "x" } }', "mcp_servers", "knapper", ENTRY)
