"""Members: reading properties and calling methods of any value."""

import math
from decimal import ROUND_HALF_UP, Context, Decimal

from knapper.script.arrays import ARRAY_METHODS
from knapper.script.errors import ScriptFailed, ScriptRefused
from knapper.script.regexes import JsRegex
from knapper.script.scope import Scope
from knapper.script.texts import TEXT_METHODS
from knapper.script.values import UNDEFINED, Host, Value, nullish, number_text, to_number, to_text, to_whole


def read_member(value: Value, name: Value) -> Value:
    """value.name or value[name]."""
    if nullish(value):
        raise ScriptFailed(f"Cannot read properties of {to_text(value)} (reading '{to_text(name)}')")
    if isinstance(value, (str, list)):
        return _of_sequence(value, name)
    if isinstance(value, Host):
        return value.member(to_text(name))
    return UNDEFINED


def _of_sequence(value: str | list[Value], name: Value) -> Value:
    if name == "length":
        return len(value)
    index = to_number(name)
    if to_whole(index, -1) != index:
        return UNDEFINED
    return value[int(index)] if 0 <= index < len(value) else UNDEFINED


def call_member(value: Value, name: str, arguments: list[Value], scope: Scope) -> Value:
    """value.name(...arguments); what it reads and what it makes is paid for."""
    _spend_on(value, arguments, scope)
    result = _called(value, name, arguments, scope)
    scope.budget.pay(result)
    return result


def _called(value: Value, name: str, arguments: list[Value], scope: Scope) -> Value:
    if nullish(value):
        raise ScriptFailed(f"Cannot read properties of {to_text(value)} (reading '{name}')")
    if isinstance(value, str):
        if name in TEXT_METHODS:
            return TEXT_METHODS[name](value, arguments)
    elif isinstance(value, list):
        if name in ARRAY_METHODS:
            return ARRAY_METHODS[name](value, arguments)
    elif isinstance(value, JsRegex):
        if name == "test":
            return value.found_in(to_text(arguments[0] if arguments else UNDEFINED))
    elif isinstance(value, Host):
        return _call_host(value, name, arguments, scope)
    elif isinstance(value, (bool, int, float)):
        return _call_number(value, name, arguments)
    raise ScriptRefused(f".{name}() of {_kind(value)}")


def _spend_on(value: Value, arguments: list[Value], scope: Scope) -> None:
    scope.budget.spend()
    for one in (value, *arguments):
        scope.budget.pay(one)
    # One search may take a while, so the clock is looked at before each.
    if isinstance(value, JsRegex) or any(isinstance(argument, JsRegex) for argument in arguments):
        scope.budget.look()


def call_value(value: Value, arguments: list[Value], scope: Scope) -> Value:
    """value(...arguments)."""
    scope.budget.spend()
    if isinstance(value, Host):
        return _call_host(value, "", arguments, scope)
    if not callable(value):
        raise ScriptFailed(f"{to_text(value)} is not a function")
    return value(arguments)


def _call_host(value: Host, name: str, arguments: list[Value], scope: Scope) -> Value:
    method = value.called(name, arguments, scope)
    if method is not UNDEFINED:
        return method
    member = value.member(name) if name else UNDEFINED
    if not callable(member):
        raise ScriptFailed(f"{name or 'value'} is not a function")
    return member(arguments)


def _call_number(value: float | int | bool, name: str, arguments: list[Value]) -> Value:
    if name == "toString" and not arguments:
        return to_text(value)
    if name == "toFixed" and not isinstance(value, bool):
        digits = to_whole(arguments[0]) if arguments else 0
        return _fixed(value, min(max(digits, 0), 20))
    raise ScriptRefused(f".{name}() of a number")


def _fixed(value: float | int, digits: int) -> str:
    """A number with so many digits behind the point; where two are as near, JavaScript takes the larger."""
    if not math.isfinite(value) or abs(value) >= 1e21:
        return number_text(float(value))
    step = Decimal(1).scaleb(-digits)
    return f"{Decimal(value).quantize(step, ROUND_HALF_UP, Context(prec=60)):f}"


def _kind(value: Value) -> str:
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "an array"
    return "a regular expression" if isinstance(value, JsRegex) else "a function"
