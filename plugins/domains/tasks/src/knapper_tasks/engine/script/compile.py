"""Compile: JavaScript statements and expressions turned into Python closures over a Scope."""

from collections.abc import Mapping
from datetime import date

from knapper_tasks.engine.budget import Budget
from knapper_tasks.engine.errors import BudgetExceeded, QueryError, ScriptRefused
from knapper_tasks.engine.regexes import compile_regex
from knapper_tasks.engine.wordlist import listed

from .closures import (
    Code,
    arrow_function,
    call,
    constant,
    cutting_short,
    in_order,
    number_in,
    operation,
    optional,
    returned_by,
    returning_early,
    scoped,
)
from .lexer import Token, tokens_of
from .members import call_member, read_member
from .operators import POWER, UNARY
from .scope import Scope
from .standard import GLOBALS
from .values import UNDEFINED, Value, checked, to_text, truthy

_STATEMENTS = frozenset(
    listed(
        "var function class for while do switch try throw async await yield new delete void import "
        "export debugger with super this break continue"
    )
)
_ASSIGNMENTS = frozenset(listed("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??= ++ --"))
_LITERALS: dict[str, Value] = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}
# What exists in Obsidian, but is out of reach here.
_OUTSIDE = frozenset(
    listed("app window document console process JSON Date Object Map Set RegExp Promise Symbol")
)


class Script:
    """A compiled script."""

    def __init__(self, source: str, code: Code) -> None:
        self.source = source
        self._code = code

    def run(self, names: Mapping[str, Value], budget: Budget, today: date) -> Value:
        """The value that the script returns."""
        try:
            budget.look()
            return self._code(Scope({**GLOBALS, **names}, budget, today))
        except RecursionError:
            raise BudgetExceeded("the expression is nested too deeply") from None


def compile_script(source: str) -> Script:
    """Compile an expression, or statements that end in `return`."""
    try:
        return Script(source, _Compiler(tokens_of(source)).program())
    except RecursionError:
        raise BudgetExceeded("the expression is nested too deeply") from None


class _Compiler:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _step(self) -> Token:
        token = self._token
        self._at += 1
        return token

    def _sees(self, *texts: str) -> bool:
        return self._token.kind in ("sign", "name") and self._token.text in texts

    def _accept(self, text: str) -> bool:
        if not self._sees(text):
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise QueryError(f"SyntaxError: Unexpected {self._token.text!r}, expected {text!r}")

    def program(self) -> Code:
        if not self._sees("const", "let", "if", "return", "{", *_STATEMENTS):
            value = self._expression()
            self._accept(";")
            if self._token.kind == "end":
                return value
            raise self._unexpected()
        return returned_by(self._block("end"))

    def _unexpected(self) -> QueryError:
        if self._token.text in _ASSIGNMENTS:
            return ScriptRefused(f"assignment ({self._token.text})")
        if self._token.text in _STATEMENTS:
            return ScriptRefused(self._token.text)
        return QueryError(f"SyntaxError: Unexpected {self._token.text!r}")

    def _block(self, end: str) -> Code:
        statements: list[Code] = []
        while not (self._token.kind == "end" if end == "end" else self._sees(end)):
            if self._token.kind == "end":
                raise QueryError(f"SyntaxError: Unexpected end, expected {end!r}")
            if not self._accept(";"):
                statements.append(self._statement())
        if end != "end":
            self._step()
        return in_order(statements)

    def _statement(self) -> Code:
        if self._accept("{"):
            return scoped(self._block("}"))
        if self._accept("const") or self._accept("let"):
            return self._declaration()
        if self._accept("if"):
            return self._if()
        if self._accept("return"):
            value = (
                self._undefined() if self._sees(";", "}") or self._token.kind == "end" else self._expression()
            )
            self._end_of_statement()
            return returning_early(value)
        if self._token.text in _STATEMENTS and self._token.kind == "name":
            raise self._unexpected()
        value = self._expression()
        self._end_of_statement()
        return value

    def _end_of_statement(self) -> None:
        if not self._accept(";") and not self._sees("}") and self._token.kind != "end":
            raise self._unexpected()

    def _declaration(self) -> Code:
        if self._token.kind != "name":
            raise ScriptRefused("destructuring")
        name = self._step().text
        self._expect("=")
        value = self._expression()
        self._end_of_statement()
        return lambda scope: scope.declare(name, value(scope))

    def _if(self) -> Code:
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        then = self._statement()
        otherwise = self._statement() if self._accept("else") else self._undefined()

        def run(scope: Scope) -> None:
            (then if truthy(condition(scope)) else otherwise)(scope)

        return run

    @staticmethod
    def _undefined() -> Code:
        return lambda scope: UNDEFINED

    def _expression(self) -> Code:
        arrow = self._arrow()
        if arrow is not None:
            return arrow
        condition = self._binary(0)
        if self._token.kind == "sign" and self._token.text in _ASSIGNMENTS:
            raise self._unexpected()
        if not self._accept("?"):
            return condition
        then = self._expression()
        self._expect(":")
        otherwise = self._expression()
        return lambda scope: (then if truthy(condition(scope)) else otherwise)(scope)

    def _arrow(self) -> Code | None:
        parameters, length = self._parameters()
        if parameters is None:
            return None
        self._at += length
        body = returned_by(self._block("}")) if self._accept("{") else self._expression()
        return lambda scope: arrow_function(parameters, body, scope)

    def _parameters(self) -> tuple[list[str] | None, int]:
        """The parameters of an arrow function that begins here, and how many tokens they take."""
        ahead = self._tokens[self._at :]
        if ahead[0].kind == "name" and len(ahead) > 1 and ahead[1].text == "=>":
            return [ahead[0].text], 2
        if ahead[0].text != "(" or ahead[0].kind != "sign":
            return None, 0
        close = next((number for number, token in enumerate(ahead) if token.text == ")"), None)
        if close is None or ahead[close + 1].text != "=>":
            return None, 0
        names = [token for token in ahead[1:close] if token.text != ","]
        if any(token.kind != "name" for token in names):
            raise ScriptRefused("destructuring")
        return [token.text for token in names], close + 2

    def _binary(self, lowest: int) -> Code:
        left = self._unary()
        while self._token.kind == "sign" and POWER.get(self._token.text, -1) >= lowest:
            sign = self._step().text
            right = self._binary(POWER[sign] + (sign != "**"))
            left = operation(sign, left, right)
        return left

    def _unary(self) -> Code:
        token = self._token
        if token.text in UNARY and token.kind in ("sign", "name"):
            self._step()
            operand, apply = self._unary(), UNARY[token.text]
            return lambda scope: apply(operand(scope))
        return self._chain()

    def _chain(self) -> Code:
        code, may_end = self._primary(), False
        while True:
            if self._accept("?."):
                may_end = True
                code = self._link(cutting_short(code))
            elif self._accept("."):
                code = self._member(code, self._name())
            elif self._sees("[", "("):
                code = self._link(code)
            elif self._token.kind == "template":
                raise ScriptRefused("tagged template")
            else:
                return optional(code) if may_end else code

    def _link(self, code: Code) -> Code:
        if self._accept("("):
            return call(code, self._arguments(")"))
        if self._accept("["):
            index = self._expression()
            self._expect("]")
            return lambda scope: read_member(code(scope), index(scope))
        return self._member(code, self._name())

    def _name(self) -> str:
        if self._token.kind != "name":
            raise QueryError(f"SyntaxError: Unexpected {self._token.text!r}")
        return self._step().text

    def _member(self, code: Code, name: str) -> Code:
        if self._accept("("):
            arguments = self._arguments(")")
            return lambda scope: call_member(code(scope), name, [value(scope) for value in arguments], scope)
        return lambda scope: read_member(code(scope), name)

    def _arguments(self, end: str) -> list[Code]:
        values: list[Code] = []
        while not self._accept(end):
            values.append(self._expression())
            if not self._accept(","):
                self._expect(end)
                break
        return values

    def _primary(self) -> Code:
        token = self._step()
        if token.kind == "number":
            return constant(number_in(token.text))
        if token.kind == "text":
            return constant(token.text)
        if token.kind == "template":
            return self._template(token)
        if token.kind == "regex":
            return constant(compile_regex(token.text, str(token.parts[0])))
        if token.kind == "name":
            return self._named(token)
        if token.text == "(":
            value = self._expression()
            self._expect(")")
            return value
        if token.text == "[":
            items = self._arguments("]")
            return lambda scope: [item(scope) for item in items]
        raise self._refused(token)

    def _named(self, token: Token) -> Code:
        name = token.text
        if name in _LITERALS:
            return constant(_LITERALS[name])
        if name in _STATEMENTS or name in _OUTSIDE:
            raise ScriptRefused(name)
        return lambda scope: scope.look_up(name)

    @staticmethod
    def _refused(token: Token) -> QueryError:
        named = {"{": "object literal", "...": "spread", "++": "assignment (++)", "--": "assignment (--)"}
        if token.kind == "sign" and token.text in named:
            return ScriptRefused(named[token.text])
        return QueryError(f"SyntaxError: Unexpected {token.text!r}")

    @staticmethod
    def _template(token: Token) -> Code:
        parts = [
            constant(part) if isinstance(part, str) else _Compiler(part).program() for part in token.parts
        ]
        return lambda scope: checked("".join(to_text(part(scope)) for part in parts))
