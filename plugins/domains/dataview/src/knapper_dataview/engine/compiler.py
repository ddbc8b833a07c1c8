"""Expressions as Python closures: each takes a row and answers a value."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from knapper_dataview.engine.access import index
from knapper_dataview.engine.context import Context
from knapper_dataview.engine.dates import parse_date_or_word
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.functions import FUNCTIONS
from knapper_dataview.engine.numbers import bounded
from knapper_dataview.engine.operators import COMPARISONS, calculate
from knapper_dataview.engine.rows import Overlay, PageRow, file_field
from knapper_dataview.engine.syntax import (
    Binary,
    Call,
    DateLiteral,
    Expression,
    Index,
    Lambda,
    ListOf,
    Literal,
    Negated,
    ObjectOf,
    Variable,
)
from knapper_dataview.engine.values import Record, truthy, type_of

Evaluate = Callable[[Record], object]


def compile_expression(node: Expression, context: Context) -> Evaluate:
    """Bind an expression to the context it will run in."""
    match node:
        case Literal(value):
            return lambda row: value
        case DateLiteral(text):
            moment = parse_date_or_word(text, context.now)
            return lambda row: moment
        case Variable(name):
            return _variable(name, context)
        case Negated(child):
            negated = compile_expression(child, context)
            return lambda row: not truthy(negated(row))
        case Binary(left, op, right):
            return _binary(op, compile_expression(left, context), compile_expression(right, context), context)
        case Index(target, key):
            return _index(target, key, context)
        case Call(function, arguments):
            return _call(function, [compile_expression(argument, context) for argument in arguments], context)
        case Lambda(names, body):
            return _lambda(names, compile_expression(body, context), context)
        case ListOf(values):
            elements = [compile_expression(value, context) for value in values]
            return lambda row: [element(row) for element in elements]
        case ObjectOf(pairs):
            members = [(key, compile_expression(value, context)) for key, value in pairs]
            return lambda row: {key: member(row) for key, member in members}


def _variable(name: str, context: Context) -> Evaluate:
    if name == "this":

        def this(row: Record) -> object:
            own = row[name]
            return context.this() if own is None else own

        return this
    return itemgetter(name)


def _binary(op: str, left: Evaluate, right: Evaluate, context: Context) -> Evaluate:
    if op in COMPARISONS:
        return _comparison(op, left, right, context)
    if op == "&":

        def both(row: Record) -> object:
            # Both sides are always evaluated: an error on either drops the row.
            one, other = left(row), right(row)
            return truthy(one) and truthy(other)

        return both
    if op == "|":

        def either(row: Record) -> object:
            one, other = left(row), right(row)
            return truthy(one) or truthy(other)

        return either
    return _arithmetic(op, left, right, context)


def _comparison(op: str, left: Evaluate, right: Evaluate, context: Context) -> Evaluate:
    decide = COMPARISONS[op]
    compare = context.compare

    def run(row: Record) -> object:
        one, other = left(row), right(row)
        if type(one) is int and type(other) is int:
            return decide(one, other)
        return decide(compare(one, other), 0)

    def same(row: Record) -> object:
        one, other = left(row), right(row)
        if type(one) is str and one == other:
            return True
        return compare(one, other) == 0

    return same if op == "=" else run


def _arithmetic(op: str, left: Evaluate, right: Evaluate, context: Context) -> Evaluate:
    def run(row: Record) -> object:
        return calculate(op, left(row), right(row), context)

    def plus(row: Record) -> object:
        one, other = left(row), right(row)
        if type(one) is int and type(other) is int:
            return bounded(one + other)
        return calculate("+", one, other, context)

    return plus if op == "+" else run


def _index(target: Expression, key: Expression, context: Context) -> Evaluate:
    if isinstance(target, Variable) and target.name == "row":
        return _of_row(compile_expression(key, context), context)
    of = compile_expression(target, context)
    if isinstance(key, Literal) and isinstance(key.value, str):
        name = key.value
        if target == Variable("file"):
            return _of_file(name, of, context)

        def named(row: Record) -> object:
            value = of(row)
            if isinstance(value, Record):
                return value[name]
            return index(context, value, name)

        return named
    at = compile_expression(key, context)
    return lambda row: index(context, of(row), at(row))


def _of_file(name: str, of: Evaluate, context: Context) -> Evaluate:
    """`file.name` of a note without making its `file` first, which is what most queries ask."""

    def run(row: Record) -> object:
        if isinstance(row, PageRow) and "file" not in row:
            return file_field(row.page, context, name)
        return index(context, of(row), name)

    return run


def _of_row(key: Evaluate, context: Context) -> Evaluate:
    def run(row: Record) -> object:
        name = key(row)
        found = index(context, row, name)
        return context.this() if found is None and name == "this" else found

    return run


def _call(function: Expression, arguments: list[Evaluate], context: Context) -> Evaluate:
    if not isinstance(function, Variable):
        return _call_value(compile_expression(function, context), arguments, context)
    builtin = FUNCTIONS.get(function.name)
    if builtin is None:
        return _unknown(function.name)

    def run(row: Record) -> object:
        try:
            return builtin(context, *[argument(row) for argument in arguments])
        except (ValueError, ArithmeticError) as problem:
            raise EvaluationError(f"{builtin.name}: {problem}") from problem

    return run


def _unknown(name: str) -> Evaluate:
    def run(row: Record) -> object:
        raise EvaluationError(f"unrecognized function name {name!r}")

    return run


def _call_value(function: Evaluate, arguments: list[Evaluate], context: Context) -> Evaluate:
    def run(row: Record) -> object:
        called = function(row)
        given = [argument(row) for argument in arguments]
        if isinstance(called, str) and called in FUNCTIONS:
            return FUNCTIONS[called](context, *given)
        if not callable(called):
            raise EvaluationError(f"cannot call type {type_of(called)!r} as a function")
        return called(*given)

    return run


def _lambda(names: tuple[str, ...], body: Evaluate, context: Context) -> Evaluate:
    spend = context.budget.spend

    def make(row: Record) -> object:
        def call(*arguments: object) -> object:
            spend()
            scope = row
            for name, argument in zip(names, arguments, strict=False):
                scope = Overlay(scope, name, argument)
            return body(scope)

        return call

    return make
