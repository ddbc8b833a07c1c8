"""Expressions: JavaScript's expressions turned into Python closures over a Scope."""

from collections.abc import Callable

from knapper.script.closures import (
    Code,
    arrow_function,
    call,
    constant,
    cutting_short,
    number_in,
    operation,
    optional,
    returned_by,
)
from knapper.script.lexer import Token
from knapper.script.members import call_member, read_member
from knapper.script.operators import BINARY, LOGICAL, POWER, UNARY
from knapper.script.reader import ASSIGNMENTS, OUTSIDE, STATEMENTS, Reader
from knapper.script.regexes import compile_regex
from knapper.script.scope import Scope
from knapper.script.values import UNDEFINED, Value, checked, to_text, truthy

_LITERALS: dict[str, Value] = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}
_REFUSED = {"{": "object literal", "...": "spread", "++": "assignment (++)", "--": "assignment (--)"}
# Nobody writes a function of more parameters, and looking further ahead at every bracket would cost.
_FURTHEST = 64


class Expressions(Reader):
    """A parser of expressions; what a function's body may hold comes from the parser of statements."""

    def _body(self) -> Code:
        raise NotImplementedError

    def _expression(self) -> Code:
        arrow = self._arrow()
        if arrow is not None:
            return arrow
        start = self._at
        condition = self._binary(0)
        if self._token.kind == "sign" and self._token.text in ASSIGNMENTS:
            return self._assignment(start)
        if not self._accept("?"):
            return condition
        then = self._expression()
        self._expect(":")
        otherwise = self._expression()
        return lambda scope: (then if truthy(condition(scope)) else otherwise)(scope)

    def _assignment(self, start: int) -> Code:
        target, sign = self._tokens[start], self._token.text
        if not self._steps or sign in ("++", "--") or not self._known(sign):
            raise self._unexpected()
        if target.kind != "name" or self._at != start + 1:
            raise self._refused("assignment to a part of a value")
        self._step()
        return assigned(target.text, sign[:-1], self._expression())

    @staticmethod
    def _known(sign: str) -> bool:
        return sign == "=" or sign[:-1] in POWER

    def _arrow(self) -> Code | None:
        parameters, length = self._parameters()
        if parameters is None:
            return None
        self._at += length
        body = returned_by(self._body()) if self._accept("{") else self._expression()
        return lambda scope: arrow_function(parameters, body, scope)

    def _parameters(self) -> tuple[list[str] | None, int]:
        """The parameters of an arrow function that begins here, and how many tokens they take."""
        ahead = self._tokens[self._at : self._at + _FURTHEST]
        if ahead[0].kind == "name" and len(ahead) > 1 and ahead[1].text == "=>":
            return [ahead[0].text], 2
        if ahead[0].text != "(" or ahead[0].kind != "sign":
            return None, 0
        close = next((n for n, token in enumerate(ahead) if token.kind == "sign" and token.text == ")"), None)
        if close is None or close + 1 >= len(ahead) or ahead[close + 1].text != "=>":
            return None, 0
        if any(token.kind == "sign" and token.text == "(" for token in ahead[1:close]):
            return None, 0  # the arrow belongs to a bracket further in: (a.map((x) => x))
        names = [token for token in ahead[1:close] if token.text != ","]
        if any(token.kind != "name" for token in names):
            raise self._refused("destructuring")
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
        if self._steps and self._accept("await"):  # nothing here has to be waited for
            return self._unary()
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
                raise self._refused("tagged template")
            else:
                return optional(code) if may_end else code

    def _link(self, code: Code) -> Code:
        if self._accept("("):
            return call(code, self._arguments(")"))
        if self._accept("["):
            index = self._expression()
            self._expect("]")
            if self._accept("("):
                arguments = self._arguments(")")
                return _method(code, lambda scope: to_text(index(scope)), arguments)
            return lambda scope: read_member(code(scope), index(scope))
        return self._member(code, self._name())

    def _member(self, code: Code, name: str) -> Code:
        if self._accept("("):
            arguments = self._arguments(")")
            return _method(code, lambda scope: name, arguments)
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
        token = self._token
        if token.kind == "sign" and token.text not in ("(", "["):
            raise self._refused(_REFUSED[token.text]) if token.text in _REFUSED else self._unexpected()
        self._step()
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
        if token.kind == "end":
            raise self._unexpected()
        return self._bracketed(token.text)

    def _bracketed(self, sign: str) -> Code:
        if sign == "(":
            value = self._expression()
            self._expect(")")
            return value
        items = self._arguments("]")
        return lambda scope: [item(scope) for item in items]

    def _named(self, token: Token) -> Code:
        name = token.text
        if name in _LITERALS:
            return constant(_LITERALS[name])
        if name in STATEMENTS or name in OUTSIDE:
            raise self._refused(name, token)
        return lambda scope: scope.look_up(name)

    def _template(self, token: Token) -> Code:
        parts = [constant(part) if isinstance(part, str) else self._filled(part) for part in token.parts]

        def run(scope: Scope) -> str:
            text = checked("".join(to_text(part(scope)) for part in parts))
            scope.budget.pay(text)
            return text

        return run

    def _filled(self, tokens: list[Token]) -> Code:
        """The expression in a template literal, which stands in tokens of its own."""
        inner = type(self)(tokens, self._steps)
        value = inner._expression()
        if inner._token.kind != "end":
            raise inner._unexpected()
        return value


def _method(code: Code, name: Callable[[Scope], str], arguments: list[Code]) -> Code:
    def run(scope: Scope) -> Value:
        value = code(scope)
        return call_member(value, name(scope), [argument(scope) for argument in arguments], scope)

    return run


def assigned(name: str, sign: str, value: Code) -> Code:
    """An assignment to a name, perhaps of what an operator makes of its value; its length is paid for."""

    def run(scope: Scope) -> Value:
        old = scope.look_up(name) if sign else UNDEFINED
        if sign in LOGICAL and not LOGICAL[sign](old):
            return old
        new = value(scope)
        if sign and sign not in LOGICAL:
            new = BINARY[sign](old, new)
        scope.budget.spend(1 + len(new) // 256 if isinstance(new, (str, list)) else 1)
        scope.assign(name, new)
        return new

    return run
