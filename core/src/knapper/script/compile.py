"""Compile: JavaScript statements turned into Python closures over a Scope.

A script is an expression, or statements that end in `return`. A program is a list of statements that may also assign,
loop with `for … of` and wait; its errors carry the number of the line they were met on.
"""

from collections.abc import Mapping

from knapper.script.budget import Budget
from knapper.script.closures import Code, in_order, looping, numbered, returned_by, returning_early, scoped
from knapper.script.errors import BudgetExceeded, ScriptError
from knapper.script.expressions import Expressions
from knapper.script.lexer import Token, tokens_of
from knapper.script.reader import STATEMENTS
from knapper.script.scope import Clock, Scope
from knapper.script.standard import GLOBALS
from knapper.script.values import UNDEFINED, Value, truthy

_TOO_DEEP = "the expression is nested too deeply"


class Script:
    """A compiled script."""

    def __init__(self, source: str, code: Code) -> None:
        self.source = source
        self._code = code

    def run(self, names: Mapping[str, Value], budget: Budget, clock: Clock) -> Value:
        """The value that the script returns."""
        try:
            budget.look()
            return self._code(Scope({**GLOBALS, **names}, budget, clock))
        except RecursionError:
            raise BudgetExceeded(_TOO_DEEP) from None


class Program:
    """Compiled statements."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def run(self, names: Mapping[str, Value], budget: Budget, clock: Clock) -> Scope:
        """Run the statements, and hand back the names as they are then."""
        scope = Scope(names, budget, clock, Scope(GLOBALS, budget, clock))
        try:
            budget.look()
            self._code(scope)
        except RecursionError:
            raise BudgetExceeded(_TOO_DEEP) from None
        return scope


def compile_script(source: str) -> Script:
    """Compile an expression, or statements that end in `return`."""
    try:
        return Script(source, Statements(tokens_of(source)).script())
    except RecursionError:
        raise BudgetExceeded(_TOO_DEEP) from None
    except ScriptError as error:
        error.number = None  # where a script stands is known to whoever holds it
        raise


def compile_program(tokens: list[Token]) -> Program:
    """Compile statements that assign, loop and wait; the tokens may come from several pieces of text."""
    try:
        return Program(Statements(tokens, steps=True).program())
    except RecursionError:
        raise BudgetExceeded(_TOO_DEEP) from None


class Statements(Expressions):
    """A parser of statements."""

    _depth = 0

    def script(self) -> Code:
        """An expression, or statements that end in `return`."""
        self._depth = 1
        if self._sees("const", "let", "if", "return", "{", *STATEMENTS):
            return returned_by(self._block("end"))
        value = self._expression()
        self._accept(";")
        if self._token.kind != "end":
            raise self._unexpected()
        return value

    def program(self) -> Code:
        """Statements up to the end."""
        return self._block("end")

    def _body(self) -> Code:
        self._depth += 1
        body = self._block("}")
        self._depth -= 1
        return body

    def _block(self, end: str) -> Code:
        statements: list[Code] = []
        while not (self._token.kind == "end" if end == "end" else self._sees(end)):
            if self._token.kind == "end":
                raise self._unexpected(f", expected {end!r}")
            if not self._accept(";"):
                statements.append(self._statement())
        if end != "end":
            self._step()
        return in_order(statements)

    def _statement(self) -> Code:
        line = self._token.line
        code = self._unnumbered()
        return numbered(line, code) if self._steps else code

    def _unnumbered(self) -> Code:
        if self._accept("{"):
            return scoped(self._block("}"))
        if self._sees("const", "let"):
            return self._declaration()
        if self._accept("if"):
            return self._if()
        if self._steps and self._accept("for"):
            return self._for()
        if self._sees("return"):
            return self._return()
        if self._token.kind == "name" and self._token.text in STATEMENTS - {"await"}:
            raise self._unexpected()
        value = self._expression()
        self._end_of_statement()
        return value

    def _end_of_statement(self) -> None:
        ended = self._sees("}") or self._token.kind == "end" or (self._steps and self._token.fresh)
        if not self._accept(";") and not ended:
            raise self._unexpected()

    def _return(self) -> Code:
        if not self._depth:
            raise self._refused("return outside of a function")
        self._step()
        empty = self._sees(";", "}") or self._token.kind == "end" or (self._steps and self._token.fresh)
        value = _undefined if empty else self._expression()
        self._end_of_statement()
        return returning_early(value)

    def _declaration(self) -> Code:
        fixed = self._step().text == "const"
        name = self._declared()
        value: Code = _undefined
        if not self._steps or fixed or self._sees("="):
            self._expect("=")
            value = self._expression()
        self._end_of_statement()
        return lambda scope: scope.declare(name, value(scope), fixed)

    def _declared(self) -> str:
        if self._token.kind == "sign" and self._token.text in ("{", "["):
            raise self._refused("destructuring")
        return self._name()

    def _if(self) -> Code:
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        then = self._statement()
        otherwise = self._statement() if self._accept("else") else _undefined

        def run(scope: Scope) -> None:
            (then if truthy(condition(scope)) else otherwise)(scope)

        return run

    def _for(self) -> Code:
        self._expect("(")
        if not self._sees("const", "let"):
            raise self._refused("for without const … of")
        fixed = self._step().text == "const"
        name = self._declared()
        if not self._accept("of"):
            raise self._refused("for without of")
        items = self._expression()
        self._expect(")")
        return looping(name, fixed, items, self._statement())


def _undefined(scope: Scope) -> Value:
    return UNDEFINED
