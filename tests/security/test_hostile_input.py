"""Input made to break the reader: JSON, YAML and patterns that cost more than they look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knapper.testing import Calls, VaultFolder
from knapper_notes import notes
from knapper_properties import properties
from tests.security.wire import Site, end
from tests.server.conftest import Pipe, Web

CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_note","arguments":%s}}'


def deep(depth: int, inside: str = "1") -> str:
    return '{"path":' + "[" * depth + inside + "]" * depth + "}"


HOSTILE_JSON = {
    "nested a hundred thousand deep": deep(100_000),
    "nested as deep as the parser goes": deep(900),
    "objects nested five hundred deep": '{"path":' + '{"a":' * 500 + "1" + "}" * 501,
    "never closed": '{"path":' + "[" * 50_000,
    "a number of a million digits": '{"path":' + "9" * 1_000_000 + "}",
    "a float of a million digits": '{"path":0.' + "9" * 1_000_000 + "}",
    "a number without end": '{"path":1e999999999}',
    "no number": '{"path":NaN}',
    "infinity": '{"path":-Infinity}',
    "half a surrogate": '{"path":"\\ud800"}',
    "a raw control character": '{"path":"a\nb"}'.replace("\n", "\x01"),
    "a hundred thousand keys": "{" + ",".join(f'"k{n}":{n}' for n in range(100_000)) + "}",
    "one key a hundred thousand times": "{"
    + ",".join('"path":"a.md"' for _ in range(100_000))
    + ',"path":5}',
    "a key of a million characters": '{"' + "k" * 1_000_000 + '":1}',
    "a path of a million characters": '{"path":"' + "a/" * 500_000 + '"}',
    "a list for arguments": "[1,2,3]",
    "nothing for arguments": "null",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def pipe(site: Site) -> Iterator[Pipe]:
    one = site.pipe()
    yield one
    end(one)


@pytest.fixture(scope="module")
def web(site: Site) -> Iterator[Web]:
    one = site.web("--set", "transports.http.max_body_bytes=4000000")
    yield one
    end(one)


def refused(answer: dict[str, Any]) -> bool:
    if "error" in answer:
        return answer["error"]["code"] in (-32700, -32600, -32602)
    content = answer["result"]
    return bool(content["isError"]) and content["structuredContent"]["code"] in (
        "validation_error",
        "path_invalid",
    )


@pytest.mark.parametrize("kind", HOSTILE_JSON)
def test_hostile_json_on_stdio_is_refused_and_the_server_goes_on(pipe: Pipe, kind: str) -> None:
    pipe.raw((CALL % HOSTILE_JSON[kind]).encode("utf-8", "surrogatepass"))
    answer = pipe.read()
    assert refused(answer), answer
    assert len(json.dumps(answer)) < 10_000
    good = pipe.call(8, "read_note", path="a.md")
    assert good["result"]["structuredContent"]["content"] == "at home\n"


@pytest.mark.parametrize("line", [b"\xff\xfe{}", b"{", b"[]", b"5", b'"text"', b"\x00" * 1000, b"{}" * 1000])
def test_what_is_no_message_is_refused_and_the_server_goes_on(pipe: Pipe, line: bytes) -> None:
    pipe.raw(line)
    assert refused(pipe.read())
    assert pipe.ask(9, "ping")["result"] == {}


@pytest.mark.parametrize("kind", HOSTILE_JSON)
def test_hostile_json_over_http_is_refused_and_the_server_goes_on(web: Web, kind: str) -> None:
    session = web.opened()
    body = (CALL % HOSTILE_JSON[kind]).encode("utf-8", "surrogatepass")
    status, _, content = web.request(body=body, Mcp_Session_Id=session)
    assert status in (200, 400, 413)
    assert len(content) < 10_000
    assert b"isError" in content or b'"error"' in content
    assert web.request(body={"jsonrpc": "2.0", "id": 1, "method": "ping"}, Mcp_Session_Id=session)[0] == 200


def test_a_body_over_the_limit_is_not_read_to_its_end(web: Web) -> None:
    session = web.opened()
    assert web.request(body=b" " * 5_000_000, Mcp_Session_Id=session)[0] == 413


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE_YAML = {
    "a billion laughs": LAUGHS,
    "a billion merges": "a: &a {x: 1}\n"
    + "".join(
        f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}], {name}: 1}}\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "a list that holds itself": "a: &a [*a]\n",
    "a table that holds itself": "a: &a {b: *a}\n",
    "brackets nested ten thousand deep": f"a: {'[' * 10_000}{']' * 10_000}\n",
    "braces nested ten thousand deep": f"a: {'{b: ' * 10_000}1{'}' * 10_000}\n",
    "indented a thousand deep": "".join(f"{' ' * n}k{n}:\n" for n in range(1000)),
    "dashes nested two thousand deep": "a:\n  " + "- " * 2000 + "x\n",
    "a thousand anchors": "".join(f"k{n}: &n{n} v\nr{n}: *n{n}\n" for n in range(1000)),
    "an anchor that is not there": "a: *nowhere\n",
    "an object of python": "a: !!python/object/apply:os.system ['touch CANARY']\n",
    "a module of python": "a: !!python/module:os\n",
    "an unknown tag": "a: !evil {b: c}\n",
    "a very long line": f"a: {'x' * 500_000}\n",
    "many quotes": f"a: {chr(39) * 100_001}\n",
    "many colons": f"a{': ' * 50_000}\n",
    "a number of a hundred thousand digits": f"a: {'9' * 100_000}\n",
    "a time far out": "a: 99999-99-99\nb: 0000-00-00T99:99:99Z\n",
    "control characters": "a: \x01\x02\x7f\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "keys that are no texts": "? [a, b]\n: c\n? {d: e}\n: f\nnull: g\n1: h\ntrue: i\n",
    "the same key ten thousand times": "a: 1\n" * 10_000,
}


@pytest.mark.parametrize("kind", HOSTILE_YAML)
def test_hostile_properties_break_no_tool_and_cost_no_other_note(
    call: Calls, vault: VaultFolder, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    vault["bad.md"] = f"---\n{HOSTILE_YAML[kind]}---\nBody #tag.\n"
    vault["good.md"] = "---\nstate: fine\n---\nGood.\n"
    answers = [
        call.outcome(notes, "read_note", path="bad.md"),
        call.outcome(notes, "read_notes", paths=["bad.md", "good.md"]),
        call.outcome(notes, "append_note", path="bad.md", content="more"),
        call.outcome(properties, "read_frontmatter", path="bad.md"),
        call.outcome(properties, "read_property", path="bad.md", key="a"),
        call.outcome(properties, "list_properties"),
        call.outcome(properties, "update_frontmatter", path="bad.md", mode="set", key="new", value=1),
        call.outcome(properties, "update_frontmatter", path="bad.md", mode="remove", key="a"),
    ]
    codes = {answer.error["code"] if answer.error else "ok" for answer in answers}
    assert codes <= {"ok", "invalid_input", "overflow"}, codes
    found = call(properties, "find_notes_by_property", filter=[{"key": "state", "op": "eq", "value": "fine"}])
    assert [item["path"] for item in found["items"]] == ["good.md"]
    assert not (tmp_path / "CANARY").exists()
    assert all(len(answer.payload) < 1_000_000 for answer in answers)


@pytest.mark.parametrize(
    "value", ["x" * 300_000, ["y"] * 50_000, {"k": {"k": {"k": "z"}}}, "&a *a !!python/x"]
)
def test_hostile_values_are_written_as_values_and_read_back_as_they_were(
    call: Calls, vault: VaultFolder, value: Any
) -> None:
    vault["n.md"] = "text\n"
    call(properties, "update_frontmatter", path="n.md", mode="set", key="v", value=value)
    assert call(properties, "read_property", path="n.md", key="v")["value"] == value


def test_values_nested_too_deeply_are_refused_before_a_file_is_touched(
    call: Calls, vault: VaultFolder
) -> None:
    vault["n.md"] = "text\n"
    value: Any = "deep"
    for _ in range(300):
        value = {"in": value}
    outcome = call.outcome(properties, "update_frontmatter", path="n.md", mode="set", key="v", value=value)
    assert outcome.error is not None
    assert outcome.error["code"] == "validation_error"
    assert vault["n.md"] == "text\n"


PATTERNS = [
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+$",
    "(.*a){30}$",
    "((a{1,30}){1,30}){1,30}$",
    "(?:(?:a*)*)*b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "a{0,65535}{0,65535}",
    "(" * 400 + "a" + ")" * 400,
    "[" + "\\w" * 400,
    "(?P<n>a)(?P=n)*(?P=n)*(?P=n)*b",
    "\\",
    "(?i)" * 200,
    "a" * 1000,
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_that_would_never_end_ends(call: Calls, vault: VaultFolder, pattern: str) -> None:
    search = pytest.importorskip("knapper_search")
    vault["bait.md"] = "a" * 5000 + "!\n" + "ab " * 2000
    vault["good.md"] = "needle\n"
    call.settings = {"governor": {"regex_timeout_ms": 300}}
    domain = search.knapper_domains()
    outcome = call.outcome(domain, "search_regex", pattern=pattern)
    code = outcome.error["code"] if outcome.error else "ok"
    assert code in ("ok", "compute_budget_exceeded", "invalid_input", "validation_error"), outcome.error
    found = call(domain, "search_regex", pattern="needle")
    assert [item["path"] for item in found["items"]] == ["good.md"]
