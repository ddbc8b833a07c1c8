"""Closures: the pieces of running code that compiled scripts are put together from."""

from collections.abc import Callable, Iterable

from knapper.script.errors import ScriptError, ScriptFailed
from knapper.script.members import call_value
from knapper.script.operators import BINARY, LOGICAL
from knapper.script.scope import Scope
from knapper.script.values import UNDEFINED, Function, Value, nullish, to_text

Code = Callable[[Scope], Value]


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class _CutShort(Exception):
    """Raised where an optional chain meets null."""


def constant(value: Value) -> Code:
    """A value that is always the same."""
    return lambda scope: value


def number_in(text: str) -> float | int:
    """The number that a literal writes."""
    if text[:2].lower() == "0x":
        return float(int(text, 16)) if len(text) > 12 else int(text, 16)
    return int(text) if text.isdecimal() and len(text) < 16 else float(text)


def in_order(statements: Iterable[Code]) -> Code:
    """Statements one after the other."""
    steps = tuple(statements)

    def run(scope: Scope) -> None:
        for step in steps:
            step(scope)

    return run


def scoped(code: Code) -> Code:
    """A block with names of its own."""
    return lambda scope: code(scope.inner({}))


def numbered(line: int, code: Code) -> Code:
    """A statement whose errors carry the number of its line."""

    def run(scope: Scope) -> Value:
        try:
            return code(scope)
        except ScriptError as error:
            raise error.at("", line) from None

    return run


def looping(name: str, fixed: bool, items: Code, body: Code) -> Code:
    """`for (const name of items)`, where items are an array or a text."""

    def run(scope: Scope) -> None:
        several = items(scope)
        if not isinstance(several, (list, str)):
            raise ScriptFailed(f"{to_text(several)[:100]} is not iterable")
        for item in several:
            scope.budget.spend()
            inner = scope.inner({})
            inner.declare(name, item, fixed)
            body(inner)

    return run


def returning_early(value: Code) -> Code:
    """The `return` statement."""

    def run(scope: Scope) -> None:
        raise _Returned(value(scope))

    return run


def returned_by(code: Code) -> Code:
    """The value that statements return."""

    def run(scope: Scope) -> Value:
        try:
            code(scope)
        except _Returned as returned:
            return returned.value
        return UNDEFINED

    return run


def arrow_function(parameters: list[str], body: Code, scope: Scope) -> Function:
    """A function that remembers the scope it was written in."""

    def called(arguments: list[Value]) -> Value:
        scope.budget.spend()
        given = [*arguments, *([UNDEFINED] * (len(parameters) - len(arguments)))]
        return body(scope.inner(dict(zip(parameters, given, strict=False))))

    return called


def operation(sign: str, left: Code, right: Code) -> Code:
    """A binary operator; the logical ones look at the right side only where they must."""
    if sign in LOGICAL:
        goes_on = LOGICAL[sign]

        def run(scope: Scope) -> Value:
            value = left(scope)
            return right(scope) if goes_on(value) else value

        return run
    apply = BINARY[sign]

    def paid(scope: Scope) -> Value:
        value = apply(left(scope), right(scope))
        scope.budget.pay(value)
        return value

    return paid if sign == "+" else lambda scope: apply(left(scope), right(scope))


def call(code: Code, arguments: list[Code]) -> Code:
    """The call of a value."""
    return lambda scope: call_value(code(scope), [value(scope) for value in arguments], scope)


def cutting_short(code: Code) -> Code:
    """A value that ends its optional chain where it is null."""

    def run(scope: Scope) -> Value:
        value = code(scope)
        if nullish(value):
            raise _CutShort
        return value

    return run


def optional(code: Code) -> Code:
    """A chain that may be cut short."""

    def run(scope: Scope) -> Value:
        try:
            return code(scope)
        except _CutShort:
            return UNDEFINED

    return run
