"""The page about the bridge: its examples happen, and its tables are what the code does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from devtools.members import ROOT
from knapper_bridge_rest.answers import ERRORS
from knapper_bridge_rest.calls import UNKNOWN
from knapper_bridge_rest.routes import MOST_BYTES
from knapper_bridge_stdio.following import ATTEMPTS, delay
from knapper_bridge_stdio.options import NAMES, PREFIXES, USAGE, Options, read
from tests.core.index.conftest import until
from tests.docs.snippets import blocks
from tests.server.conftest import Place, Web

PAGE = ROOT / "docs" / "bridge.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(first: str) -> list[list[str]]:
    """The rows of the table whose first column has this title, without the marks around code."""
    found = []
    for line in TEXT.split(f"\n| {first} |", 1)[1].splitlines()[2:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return found


def examples() -> list[tuple[str, str, str, int, str]]:
    """Verb, path, body, status and answer of every example."""
    (text,) = [block.text for block in blocks(PAGE) if block.language == "text"]
    found = []
    for request, answer in (example.strip().split("\n") for example in text.split("\n\n")):
        verb, path, body = (*request.split(" ", 2), "")[:3]
        status, _, content = answer.partition(" ")
        found.append((verb, path, body, int(status), content))
    return found


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    place = Place(tmp_path_factory.mktemp("bridge"))
    copytree(ROOT / "examples" / "vault", place.vault, dirs_exist_ok=True)
    env = {name: value for name, value in place.env.items() if not name.startswith("KNAPPER_PLUGINS")}
    served = Web(place.command, env)
    yield served
    served.stop()


def test_every_example_happens_as_it_is_written(web: Web) -> None:
    assert len(examples()) == 5
    until(lambda: '"ready"' in web.request("GET", "/healthz")[2].decode())
    for verb, path, body, status, content in examples():
        found, _, answer = web.request(verb, path, body.encode() or None)
        assert (found, json.loads(answer)) == (status, json.loads(content)), path


def test_every_path_is_there(web: Web) -> None:
    for request, _ in rows("request"):
        verb, path = request.split(" ")
        assert web.request(verb, path.replace("{name}", "note_exists"), b"{}")[0] in (200, 400)


def test_every_refusal_is_listed_with_its_words() -> None:
    listed = [(int(status), error, code) for status, error, code, _ in rows("status")]
    known = [(status, error, code) for status, (error, code) in ERRORS.items()]
    assert sorted(listed) == sorted([*known, (404, *UNKNOWN)])
    assert f"over {MOST_BYTES} bytes" in TEXT


def test_every_option_is_listed_with_its_default() -> None:
    defaults = Options()
    listed = {name: default for name, _, default in rows("option")}
    assert tuple(listed) == NAMES
    assert [name for name in NAMES if f"  {name} " not in USAGE] == []
    assert listed["--url"] == defaults.url
    assert listed["--transport"] == defaults.transport
    assert float(listed["--poll"]) == defaults.poll_seconds
    assert float(listed["--timeout"]) == defaults.call_seconds


def test_every_variable_is_listed_under_both_names_and_read() -> None:
    values = {"HOST": "localhost", "PORT": "1234", "API_KEY": "secret", "TRANSPORT": "v1"}
    listed = [(first, second) for first, second, *_ in rows("variable")]
    assert listed == [(PREFIXES[0] + name, PREFIXES[1] + name) for name in values]
    for names in zip(*listed, strict=True):
        found = read([], dict(zip(names, values.values(), strict=True)))
        assert (found.url, found.api_key, found.transport) == ("http://localhost:1234/mcp", "secret", "v1")


def test_the_pauses_and_the_attempts_are_those_of_the_code() -> None:
    assert [delay(n) for n in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]
    assert "after 1, 2, 4, 8, 16 and then every 30 seconds" in TEXT
    assert ATTEMPTS == 30
    assert "given up after\n  thirty attempts" in TEXT


def test_the_client_of_the_example_starts_the_command_that_is_installed() -> None:
    (client,) = [json.loads(block.text) for block in blocks(PAGE) if block.language == "json"]
    entry = client["mcpServers"]["knapper"]
    scripts = Path(ROOT / "bridges" / "stdio" / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(rf"^{entry['command']} = ", scripts, re.MULTILINE)
    assert read(entry["args"], {}) == Options()
