"""What the proxy is told on the command line and in the environment."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from knapper.testing_http import loopback
from knapper_bridge_stdio.options import Options, read
from tests.bridge_stdio.conftest import PROXY, Bench, V1Host, tool


def options(*arguments: str, **env: str) -> tuple[Options, list[str]]:
    notes: list[str] = []
    return read(list(arguments), env, notes.append), notes


def test_without_a_word_it_is_knappers_own_port_on_this_machine() -> None:
    found, notes = options()
    assert found == Options("http://127.0.0.1:8765/mcp", "auto", "", 5.0, 600.0, None)
    assert notes == []


@pytest.mark.parametrize("prefix", ["KNAPPER_STDIO_", "OBSIDIAN_MCP_"])
def test_the_environment_says_where_and_how(prefix: str) -> None:
    given = {"HOST": "localhost", "PORT": "3000", "API_KEY": "secret", "TRANSPORT": "V1"}
    found, notes = options(**{prefix + name: value for name, value in given.items()})
    assert (found.url, found.transport, found.api_key) == ("http://localhost:3000/mcp", "v1", "secret")
    assert notes == []


def test_the_nearer_word_counts_more() -> None:
    env = {"KNAPPER_STDIO_PORT": "1", "OBSIDIAN_MCP_PORT": "2", "OBSIDIAN_MCP_HOST": "::1"}
    assert options(**env)[0].url == "http://[::1]:1/mcp"
    assert options("--url", "http://127.0.0.1:3", **env)[0].url == "http://127.0.0.1:3/mcp"
    assert options("--transport=mcp", KNAPPER_STDIO_TRANSPORT="v1")[0].transport == "mcp"
    key = options("--api-key-env", "MINE", MINE="a", KNAPPER_STDIO_API_KEY="b")[0].api_key
    assert key == "a"


@pytest.mark.parametrize("port", ["0", "65536", "-1", "80a", "1e3", "٣", "99999999999"])
def test_a_port_that_is_none_is_noted_and_the_default_taken(port: str) -> None:
    found, notes = options(KNAPPER_STDIO_PORT=port)
    assert found.url == "http://127.0.0.1:8765/mcp"
    assert notes == [f"{port!r} is not a port; 8765 is used"]


@pytest.mark.parametrize(
    ("arguments", "env"), [([], {"OBSIDIAN_MCP_TRANSPORT": "carrier"}), (["--transport", "carrier"], {})]
)
def test_a_transport_that_is_none_is_noted_and_the_default_taken(arguments: Any, env: Any) -> None:
    found, notes = options(*arguments, **env)
    assert found.transport == "auto"
    assert notes == ["'carrier' is not a transport (auto, mcp, v1); auto is used"]


@pytest.mark.parametrize("given", ["never", "0", "-1", "nan", "inf"])
def test_seconds_that_are_none_are_noted_and_the_default_taken(given: str) -> None:
    found, notes = options("--poll", given)
    assert found.poll_seconds == 5
    assert notes == [f"{given!r} is no number of seconds for --poll; 5 is used"]


def test_a_key_that_is_not_there_or_cannot_be_sent_is_noted() -> None:
    found, notes = options("--api-key-env", "MISSING")
    assert found.api_key == ""
    assert notes == ["the variable MISSING of --api-key-env is not set; no key is sent"]
    found, notes = options(KNAPPER_STDIO_API_KEY="schlüssel")
    assert found.api_key == ""
    assert notes == ["the key has characters that no header can carry; no key is sent"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--nonsense"], "what is '--nonsense'?"),
        (["--url"], "--url needs a value"),
        (["--url", "ftp://x"], "'ftp://x' is not an address"),
        (["--url", "http://ann:secret@127.0.0.1/mcp"], "is not an address"),
        (["--url", "http://x:port"], "'http://x:port' is not an address"),
    ],
)
def test_what_it_does_not_understand_ends_it(arguments: list[str], says: str) -> None:
    ended = subprocess.run([*PROXY, *arguments], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert says in ended.stderr
    assert "usage: knapper-stdio" in ended.stderr


def test_a_process_reads_its_environment_and_notes_what_it_cannot_use(bench: Bench) -> None:
    with loopback(V1Host(tool("a"))) as told:
        port = told.url.rpartition(":")[2]
        env = {
            "OBSIDIAN_MCP_PORT": port,
            "OBSIDIAN_MCP_API_KEY": "secret",
            "KNAPPER_STDIO_TRANSPORT": "pigeon",
        }
        one = bench.connected("", **env)
        assert one.names() == ["a"]
        assert b"'pigeon' is not a transport" in one.errors[0]
        assert {asked.headers.get("authorization") for asked in told.asked} == {"Bearer secret"}
        assert one.leave() == 0
