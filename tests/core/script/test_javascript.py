"""Expressions whose values are JavaScript's own: `javascript.json` holds what Node and moment 2.30 say in UTC."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from knapper.script.budget import Budget
from knapper.script.compile import compile_program
from knapper.script.lexer import tokens_of
from knapper.script.scope import Clock

KNOWN: dict[str, str] = json.loads(Path(__file__).with_name("javascript.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("expression", KNOWN)
def test_an_expression_has_the_value_that_javascript_gives_it(expression: str) -> None:
    program = compile_program(tokens_of(f'out = "" + ({expression})'))
    scope = program.run({"out": ""}, Budget(), Clock(datetime(2026, 3, 5, 14, 7, 9)))
    assert scope.look_up("out") == KNOWN[expression]


def test_a_replacement_is_stopped_before_it_fills_the_memory() -> None:
    source = "const s = 'x'.repeat(900000); s.replace(/x/g, '$&' + s)"
    with pytest.raises(ValueError, match="Invalid string length"):
        compile_program(tokens_of(source)).run({}, Budget(), Clock(datetime(2026, 3, 5)))
