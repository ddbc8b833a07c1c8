"""What a log line may say: our own words, the kind of an error and where it went, and nothing that was quoted."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest

from knapper import ToolError
from knapper.server.logs import Json, Reduced

SECRET = "what the note says"


def record(message: str, *arguments: Any, name: str = "knapper.x", **more: Any) -> logging.LogRecord:
    made = logging.getLogger(name).makeRecord(
        name, logging.WARNING, "/srv/app/x.py", 7, message, arguments, None, **more
    )
    made.created = 1_000_000.0
    return made


def failing() -> Any:
    try:
        try:
            raise OSError(SECRET)
        except OSError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError:
        return sys.exc_info()


def test_a_line_of_words_has_time_level_logger_and_message() -> None:
    line = Reduced().format(record("the index %s is built anew: %d", "home.db", 3))
    assert line.split(" ", 2)[2] == "WARNING knapper.x: the index home.db is built anew: 3"


def test_a_line_of_json_has_the_fields_beside_the_message() -> None:
    made = record("read_note ok", extra={"fields": {"tool": "read_note", "total_ms": 1.5}})
    assert json.loads(Json().format(made)) == {
        "ts": 1_000_000.0,
        "level": "warning",
        "logger": "knapper.x",
        "message": "read_note ok",
        "tool": "read_note",
        "total_ms": 1.5,
    }


def test_an_exception_is_its_kind_and_its_way_without_its_words() -> None:
    made = record("it failed")
    made.exc_info = failing()
    found = json.loads(Json().format(made))
    assert found["exception"]["type"] == "RuntimeError from OSError"
    assert [place.partition(" ")[2] for place in found["exception"]["at"]] == ["failing"]
    assert SECRET not in Json().format(made) + Reduced().format(made)
    assert "(RuntimeError from OSError at " in Reduced().format(made)


def test_an_error_among_the_arguments_is_its_kind_or_its_code() -> None:
    refused = ToolError("note_not_found", SECRET)
    assert Reduced().message(record("not read: %s, %s", OSError(SECRET), refused)) == (
        "not read: OSError, ToolError note_not_found"
    )
    assert Reduced().message(record("not read: %(why)s", {"why": OSError(SECRET)})) == "not read: OSError"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot open '/home/me/My Vault/a.md'", "cannot open '…/a.md'"),
        ("cannot open /usr/lib/python3/x.so: no such file", "cannot open …: no such file"),
        (r"cannot open C:\Users\me\a.md", "cannot open …"),
        ("listening on http://127.0.0.1:8765/mcp/a/b", "listening on http://127.0.0.1:8765/mcp/a/b"),
        ("the route /mcp failed", "the route /mcp failed"),
        ("the note Projects/a.md is open", "the note Projects/a.md is open"),
    ],
)
def test_no_absolute_path_is_shown(text: str, shown: str) -> None:
    assert Reduced(("/home/me/My Vault",)).message(record(text)) == shown


def test_what_other_libraries_say_is_only_placed() -> None:
    assert Reduced().message(record("bad object: %s", SECRET, name="pypdf._reader")) == "said at x:7"
    assert Reduced().message(record("socket %d closed", 3, name="uvicorn.error")) == "socket 3 closed"
