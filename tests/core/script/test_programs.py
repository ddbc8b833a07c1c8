"""Programs: statements that assign, loop and wait, each error with its line."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.script.budget import Budget
from knapper.script.compile import compile_program
from knapper.script.errors import BudgetExceeded, ScriptError, ScriptFailed, ScriptRefused
from knapper.script.lexer import tokens_of
from knapper.script.scope import Clock
from knapper.vault.moment_locale import Week

NOW = datetime(2026, 3, 5, 14, 7, 9)


def _ran(source: str, name: str = "out", **names: Any) -> Any:
    program = compile_program(tokens_of(source))
    return program.run({"out": "", **names}, Budget(200_000, 5), Clock(NOW, Week(1, 4))).look_up(name)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("let a = 1\nlet b = a + 1\nout = b", 2),
        ("let a\nout = typeof a", "undefined"),
        ("out += 'x'; out += 'y'", "xy"),
        ("for (const n of [1, 2, 3]) { out += n }", "123"),
        ("for (const c of 'abc') out += c + '-'", "a-b-c-"),
        ("let n = 10; n -= 3; n *= 2; n /= 7; n **= 3; n %= 5; out = n", 3),
        ("let a = null; a ??= 'd'; let b = 'x'; b ||= 'y'; b &&= 'z'; out = a + b", "dz"),
        ("const f = (x) => { let y = x; y += 1; return y }\nout = [1, 2].map(f).join()", "2,3"),
        ("out = ([1, 2].map((x) => x + 1).join())", "2,3"),
        ("out = await (await 5)", 5),
        ("if (out) { out = 1 } else if (!out) { out = 2 } else { out = 3 }", 2),
        ("const a = []; a.push(2); a.push(1, 3); a.sort(); out = a.join('') + a.pop() + a.shift()", "12331"),
        ("const a = [1, 2]; a.reverse(); out = a.join()", "2,1"),
        ("const a = [2, 1]; const b = a.toSorted(); out = a.join() + b.join()", "2,11,2"),
        ("const m = moment('2026-03-05'); m.add(1, 'd'); out = m.format('DD')", "06"),
        (
            "const m = moment('2026-03-05'); m.clone().add(1, 'd'); moment(m).add(2, 'd'); out = m.format('DD')",
            "05",
        ),
        ("out = moment().format('YYYY-MM-DD HH:mm:ss')", "2026-03-05 14:07:09"),
        ("out = moment('05.03.2026', 'DD.MM.YYYY').format('YYYY-MM-DD')", "2026-03-05"),
        ("out = moment('2026-W10', 'GGGG-[W]WW').format('YYYY-MM-DD')", "2026-03-02"),
        ("out = moment('x', 'YYYY').format()", "Invalid date"),
        ("out = moment('2026-3-5', 'YYYY-MM-DD', true).isValid()", False),
        (
            "out = moment('2026-03-05').startOf('week').format('DD') + moment().endOf('month').format('DD HH:mm')",
            "0231 23:59",
        ),
        ("out = moment('2026-02').format('MMM D')", "Feb 1"),
        ("out = 'abc'['toUpperCase']()", "ABC"),
        ("out = 9007199254740991 + 2", 9007199254740992.0),
        ("/* a */ out = 1 // b\n", 1),
        ("out = 1 // b\nout += 1 /* c\nd */ out += 1", 3),
    ],
)
def test_statements_run_in_order(source: str, value: Any) -> None:
    assert _ran(source) == value


@pytest.mark.parametrize(
    ("source", "construct", "line"),
    [
        ("let a = 1\nwhile (a) {}", "while", 2),
        ("for (let i = 0; i < 3; i += 1) {}", "for without of", 1),
        ("for (i of [1]) {}", "for without const … of", 1),
        ("\n\nconst {a} = b", "destructuring", 3),
        ("for (const [a, b] of []) {}", "destructuring", 1),
        ("out++", "assignment (++)", 1),
        ("out.a = 1", "assignment to a part of a value", 1),
        ("out = {a: 1}", "object literal", 1),
        ("out = [...out]", "spread", 1),
        ("out =\n new Date()", "new", 2),
        ("try { } catch { }", "try", 1),
        ("function f() {}", "function", 1),
        ("out = async () => 1", "async", 1),
        ("var a = 1", "var", 1),
        ("return 1", "return outside of a function", 1),
        ("out = 5 & 1", "bitwise operator (&)", 1),
        ("out = 'a' in out", "in", 1),
        ("out = app.vault", "app", 1),
        ("out = moment('March 5, 2026')", "the date 'March 5, 2026', which is not in ISO form", 1),
        ("\nout = 'a'.blink()", ".blink() of a string", 2),
        ("out = moment().fromNow()", ".fromNow() of a moment", 1),
        ("out = tag`x`", "tagged template", 1),
    ],
)
def test_what_is_not_evaluated_is_refused_by_name_and_line(source: str, construct: str, line: int) -> None:
    with pytest.raises(ScriptRefused) as refused:
        _ran(source)
    assert (refused.value.construct, refused.value.number) == (construct, line)


@pytest.mark.parametrize(
    ("source", "reason", "line"),
    [
        ("const a = 1\na = 2", "Assignment to constant variable.", 2),
        ("a = 2", "a is not defined", 1),
        ("let a = 1; let a = 2", "Identifier 'a' has already been declared", 1),
        ("for (const a of 5) {}", "5 is not iterable", 1),
        ("\nif (true) {\n  out = null.length\n}", "Cannot read properties of null (reading 'length')", 3),
    ],
)
def test_a_failure_has_the_words_of_javascript_and_a_line(source: str, reason: str, line: int) -> None:
    with pytest.raises(ScriptFailed) as failed:
        _ran(source)
    assert (failed.value.reason, failed.value.number) == (reason, line)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("out = (1", 1),
        ("if (out) {\nout = 1", 2),
        ("out = 'a\n", 1),
        ("\nout = `a${1", 2),
        ("}", 1),
        ("let = 5", 1),
        ("\nout = 1 /* a", 2),
    ],
)
def test_broken_statements_are_a_syntax_error_with_a_line(source: str, line: int) -> None:
    with pytest.raises(ScriptError, match="SyntaxError") as broken:
        _ran(source)
    assert broken.value.number == line


@pytest.mark.parametrize(
    "source",
    [
        "const f = (x) => f(x); f(1)",
        "const a = [1]; for (const x of a) { a.push(x) }",
        "let s = 'x'; for (const a of 'x'.repeat(900000)) { s += a }",
        "out = " + "(" * 3000 + "1" + ")" * 3000,
        "out = " + "!" * 5000 + "1",
        "out = " + "[" * 5000,
        "{" * 5000,
        "const s = 'x'.repeat(900000); const a = []; for (const c of s) a.push(s + c)",
        "const s = 'x'.repeat(900000); s.split('').map((c) => s + c)",
        "const s = 'x'.repeat(900000); s.split('').map((c) => `${s}${c}`)",
        "const s = 'x'.repeat(900000); s.split('').map((c) => c.concat(s))",
        "const a = 'x'.repeat(1000).split(''); for (const x of a) for (const y of a) for (const z of a) { out = z }",
    ],
)
def test_a_program_ends_within_its_budget(source: str) -> None:
    with pytest.raises((BudgetExceeded, ScriptFailed)):
        _ran(source)


def test_a_text_never_grows_past_its_limit() -> None:
    with pytest.raises(ScriptFailed, match="Invalid string length"):
        _ran("let s = 'x'.repeat(1000); for (const a of s) { s += s }")


@given(st.text(alphabet="tRab=+(){}[];:.,'\"`$!?<>&|/*\n 012 \\", max_size=60))
def test_any_text_runs_or_is_refused_with_a_line(source: str) -> None:
    number: int | None = 1
    try:
        _ran(source, tR="", a=1, b=[1])
    except BudgetExceeded:
        return
    except ScriptError as error:
        number = error.number
    assert number is not None
    assert 1 <= number <= source.count("\n") + 1
