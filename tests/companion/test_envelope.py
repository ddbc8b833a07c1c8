from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError
from knapper.errors import CODES
from knapper.testing_http import Reply, loopback
from knapper_companion.envelope import PASSED_ON
from knapper_companion.link import Link
from tests.companion.vaults import KEY, failed, ok, settings


def asked(folder: Path, reply: Reply) -> Any:
    with loopback(lambda _: reply) as obsidian:
        return Link(settings(folder, obsidian.url)).post("/route", {}, "dataview", 5000)


def error(folder: Path, reply: Reply) -> ToolError:
    with pytest.raises(ToolError) as raised:
        asked(folder, reply)
    return raised.value


@pytest.mark.parametrize("result", [None, [], {"a": [1, "ü"]}, "text", 0, False])
def test_a_result_comes_through_as_it_is(tmp_path: Path, result: Any) -> None:
    assert asked(tmp_path, ok(result)) == result


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize(
    "code",
    [
        "plugin_missing",
        "plugin_unreachable",
        "invalid_input",
        "dql_error",
        "jsonlogic_error",
        "operation_timeout",
        "note_not_found",
        "note_exists",
        "acl_denied",
    ],
)
def test_codes_that_callers_know_pass_whatever_the_status(tmp_path: Path, code: str, status: int) -> None:
    reply = failed(code, "no such note", path="a.md")._replace(status=status)
    found = error(tmp_path, reply)
    assert (found.code, found.message) == (code, "no such note")
    assert found.details == {"plugin": "dataview", "path": "a.md"}


def test_no_other_code_passes() -> None:
    assert len(PASSED_ON) == 9
    assert set(CODES) >= PASSED_ON


@pytest.mark.parametrize("code", ["bridge_error", "git_error", "internal", "forbidden", "unauthorized", ""])
def test_any_other_code_is_plugin_unreachable_and_named(tmp_path: Path, code: str) -> None:
    found = error(tmp_path, failed(code, "it broke", line=3))
    assert (found.code, found.message) == ("plugin_unreachable", "it broke")
    assert found.details == {"plugin": "dataview", "line": 3, "bridge_code": code}


def test_a_failure_without_a_message_says_its_code(tmp_path: Path) -> None:
    found = error(tmp_path, Reply({"ok": False, "code": "bridge_error"}))
    assert found.message == "the companion failed with 'bridge_error'"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(b"<html>secret</html>", status=500), 500),
        (Reply({"message": "Not Found"}, status=404), 404),
        (Reply(b"\xff\xfe", status=200), 200),
        (Reply({"ok": "yes"}), 200),
        (Reply([1]), 200),
        (Reply(b""), 200),
    ],
)
def test_what_is_no_envelope_tells_only_its_status(tmp_path: Path, reply: Reply, status: int) -> None:
    found = error(tmp_path, reply)
    assert found.code == "plugin_unreachable"
    assert found.details == {"plugin": "dataview", "http_status": status}
    assert "secret" not in found.message


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_said_with_what_to_do(tmp_path: Path, status: int) -> None:
    found = error(tmp_path, Reply({"errorCode": 40101}, status=status))
    assert found.details["http_status"] == status
    assert "rest_api_key" in found.details["hint"]


def test_neither_the_key_nor_the_vaults_place_comes_back_in_an_error(tmp_path: Path) -> None:
    text = f"bad header 'Bearer {KEY}' for {tmp_path}/a.md"
    found = error(tmp_path, failed("invalid_input", text, where=text, many=[text], deep={"x": text}))
    assert found.message == "bad header 'Bearer [key]' for [vault]/a.md"
    assert found.details == {"plugin": "dataview", "where": found.message}


def test_a_long_message_is_cut(tmp_path: Path) -> None:
    assert error(tmp_path, failed("dql_error", "x" * 9000)).message == "x" * 500 + "…"


def test_an_answer_is_bounded_in_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knapper_companion.transport.MOST_BYTES", 1 << 20)
    assert len(asked(tmp_path, ok("x" * (1 << 19)))) == 1 << 19
    found = error(tmp_path, ok("x" * (1 << 20)))
    assert (found.code, found.message) == (
        "plugin_unreachable",
        "Obsidian could not be asked for 'dataview': it answered with over 1 MiB",
    )
