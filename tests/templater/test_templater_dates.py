"""Dates whose texts are moment's own: `dates.json` holds what moment 2.30 makes of the same arguments."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from knapper.script.budget import Budget
from knapper.script.compile import compile_program
from knapper.script.scope import Clock
from knapper.script.values import Record
from knapper_templater.dates import Dates
from knapper_templater.syntax import pieces, program_tokens

KNOWN: dict[str, str] = json.loads(Path(__file__).with_name("dates.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("expression", KNOWN)
def test_a_date_is_written_as_moment_writes_it(expression: str) -> None:
    program = compile_program(program_tokens(pieces(f"<% {expression} %>")))
    names = {"tp": Record({"date": Dates()}), "tR": ""}
    scope = program.run(names, Budget(), Clock(datetime(2026, 3, 5, 14, 7, 9)))
    assert scope.look_up("tR") == KNOWN[expression]
