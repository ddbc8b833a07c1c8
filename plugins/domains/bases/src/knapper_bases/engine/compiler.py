"""Turning a syntax tree into a Python closure, which is some ten times faster than walking the tree."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from knapper_bases.engine.arguments import check_count
from knapper_bases.engine.compare import compare, equal, tag_matches, truthy
from knapper_bases.engine.convert import MISSING, convert_all, converter, lookup
from knapper_bases.engine.dates import read_date
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.file_methods import FILE_FIELDS
from knapper_bases.engine.functions import FUNCTIONS
from knapper_bases.engine.jsregex import compiled
from knapper_bases.engine.list_compiler import LIST_EXPRESSIONS, compile_list_expression
from knapper_bases.engine.members import call_method, get_item, get_member
from knapper_bases.engine.nodes import (
    Binary,
    Call,
    Index,
    Items,
    Literal,
    Member,
    Name,
    Node,
    Pattern,
    Unary,
    children,
)
from knapper_bases.engine.operators import OPERATORS, negate, tidy
from knapper_bases.engine.parser import parse
from knapper_bases.engine.row import Evaluate, Row
from knapper_bases.engine.run import Run

_NUMBERS = frozenset((int, float))
_ORDERS: dict[str, frozenset[int]] = {
    "<": frozenset((-1,)),
    ">": frozenset((1,)),
    "<=": frozenset((-1, 0)),
    ">=": frozenset((1, 0)),
}


def compile_expression(text: str, run: Run, variables: frozenset[str] = frozenset()) -> Evaluate:
    """Compile an expression; what fails in it fails as a BasesError that names the expression."""
    inner = Compiler(run, variables).node(parse(text))

    def evaluate(row: Row) -> object:
        try:
            return inner(row)
        except BasesError as wrong:
            raise wrong.within(text) from None
        except RecursionError:
            raise BasesError("The expression or its value is nested too deeply", text) from None

    return evaluate


@dataclass(frozen=True)
class Compiler:
    """Compiles nodes for a run; `variables` are the names that a list function or a summary brings."""

    run: Run
    variables: frozenset[str]

    def node(self, node: Node) -> Evaluate:
        """Compile any node; what is the same for every row, such as `now() - "1d"`, is evaluated once."""
        evaluate = self.every_time(node)
        return _once(evaluate) if isinstance(node, Binary | Call) and _is_fixed(node) else evaluate

    def every_time(self, node: Node) -> Evaluate:
        """Compile a node to be evaluated for every row."""
        match node:
            case Literal():
                return _constant(node.value)
            case Pattern():
                return self.pattern(node)
            case Items():
                return _items([self.node(item) for item in node.items])
            case Name():
                return self.name(node.name)
            case Member():
                return self.member(node)
            case Index():
                return self.index(node)
            case Call():
                return self.call(node)
            case Unary():
                return self.unary(node)
            case Binary():
                return self.binary(node)

    def name(self, name: str) -> Evaluate:
        if name in self.variables:
            return _VARIABLES[name]
        if name == "file":
            return lambda row: row.file
        if name == "note":
            return lambda row: convert_all(row.file.entry.properties, row.file.path, row.run)
        if name == "this":
            return lambda row: row.run.this
        return self.property(name)

    def property(self, name: str) -> Evaluate:
        """Compile the access to a note's property by a fixed name."""
        folded = name.casefold()
        convert = converter(folded, self.run.types)

        def evaluate(row: Row) -> object:
            file = row.file
            raw = lookup(file.entry.properties, name, folded)
            return None if raw is MISSING else convert(raw, file.path, row.run)

        return evaluate

    def member(self, node: Member) -> Evaluate:
        scope = node.of.name if isinstance(node.of, Name) and node.of.name not in self.variables else None
        if scope == "note":
            return self.property(node.name)
        if scope == "formula":
            return _located(lambda row: row.formula(node.name), node.position)
        if scope == "file" and node.name in FILE_FIELDS:
            field = FILE_FIELDS[node.name]
            return lambda row: field(row.run, row.file)
        of, name = self.node(node.of), node.name
        return _located(lambda row: get_member(row.run, of(row), name), node.position)

    def index(self, node: Index) -> Evaluate:
        scope = node.of.name if isinstance(node.of, Name) and node.of.name not in self.variables else None
        key = self.node(node.key)
        if isinstance(node.key, Literal) and isinstance(node.key.value, str) and scope in ("note", "formula"):
            return self.member(Member(node.of, node.key.value, node.position))
        if scope == "formula":
            return _located(lambda row: row.formula(str(key(row))), node.position)
        of = self.node(node.of)
        return _located(lambda row: get_item(row.run, of(row), key(row)), node.position)

    def call(self, node: Call) -> Evaluate:
        if node.of is None:
            return _located(self.function(node), node.position)
        if node.name in LIST_EXPRESSIONS:
            inner = Compiler(self.run, self.variables | LIST_EXPRESSIONS[node.name].variables)
            return _located(compile_list_expression(node, self.node, inner.node), node.position)
        if node.name == "hasTag" and self.is_own_file(node.of):
            wanted = [item.value for item in node.arguments if isinstance(item, Literal)]
            tags = [value for value in wanted if isinstance(value, str)]
            if tags and len(tags) == len(node.arguments):
                return _has_tag(tags)
        of, name, arguments = self.node(node.of), node.name, [self.node(item) for item in node.arguments]

        def evaluate(row: Row) -> object:
            run = row.run
            run.budget.spend(1)
            return call_method(run, of(row), name, [argument(row) for argument in arguments])

        return _located(evaluate, node.position)

    def is_own_file(self, node: Node) -> bool:
        return isinstance(node, Name) and node.name == "file" and "file" not in self.variables

    def function(self, node: Call) -> Evaluate:
        arguments = [self.node(item) for item in node.arguments]
        if node.name == "if":
            return _conditional(arguments)
        function = FUNCTIONS.get(node.name)
        if function is None:
            return partial(_unknown_function, node.name)
        call, least, most = function

        def evaluate(row: Row) -> object:
            check_count(node.name, len(arguments), least, most)
            row.run.budget.spend(1)
            return call(row.run, row.file.path, [argument(row) for argument in arguments])

        return evaluate

    def pattern(self, node: Pattern) -> Evaluate:
        try:
            return _constant(compiled(node.source, node.flags))
        except BasesError as wrong:
            return _located(partial(_raise_again, wrong.message), node.position)

    def unary(self, node: Unary) -> Evaluate:
        operand = self.node(node.operand)
        if node.operator == "!":
            return lambda row: not truthy(operand(row))
        return _located(lambda row: negate(operand(row)), node.position)

    def binary(self, node: Binary) -> Evaluate:
        left, right = self.node(node.left), self.node(node.right)
        match node.operator:
            case "&&":
                return lambda row: truthy(left(row)) and truthy(right(row))
            case "||":
                return lambda row: truthy(left(row)) or truthy(right(row))
            case "==" | "!=":
                return self.equality(node, left, right)
            case "<" | ">" | "<=" | ">=":
                wanted = _ORDERS[node.operator]
                return lambda row: compare(left(row), right(row), row.run) in wanted
        evaluate = _located(_arithmetic(node.operator, left, right), node.position)
        return evaluate if node.joined is None else self.joined(node.joined, evaluate)

    def equality(self, node: Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        negated = node.operator == "!="
        fixed = node.right.value if isinstance(node.right, Literal) else None
        if isinstance(fixed, str) and not fixed.lstrip().startswith("[[") and not read_date(fixed, self.run):
            return partial(_equals_text, left, fixed, negated)
        if negated:
            return lambda row: not equal(left(row), right(row), row.run)
        return lambda row: equal(left(row), right(row), row.run)

    def joined(self, name: str, subtraction: Evaluate) -> Evaluate:
        """Prefer a property that is called `a-b` over the difference of a and b."""
        folded, read = name.casefold(), self.property(name)

        def evaluate(row: Row) -> object:
            known = lookup(row.file.entry.properties, name, folded) is not MISSING
            return read(row) if known else subtraction(row)

        return evaluate


# Functions whose result depends on their arguments and on what stays the same in a run.
_FIXED = frozenset(
    ("date", "duration", "escapeHTML", "html", "icon", "if", "max", "min", "now", "number", "today")
)


def _is_fixed(node: Node) -> bool:
    if isinstance(node, Name) or (isinstance(node, Call) and node.of is None and node.name not in _FIXED):
        return False
    return all(map(_is_fixed, children(node)))


def _once(evaluate: Evaluate) -> Evaluate:
    known: list[object] = []

    def remembered(row: Row) -> object:
        if not known:
            known.append(evaluate(row))
        return known[0]

    return remembered


_VARIABLES: dict[str, Evaluate] = {
    "value": lambda row: row.value,
    "index": lambda row: row.index,
    "acc": lambda row: row.acc,
    "values": lambda row: row.values,
}


def _constant(value: object) -> Evaluate:
    return lambda row: value


def _items(items: list[Evaluate]) -> Evaluate:
    return lambda row: [item(row) for item in items]


def _located(evaluate: Evaluate, position: int) -> Evaluate:
    def located(row: Row) -> object:
        try:
            return evaluate(row)
        except BasesError as wrong:
            # A formula's fault keeps the place in its own text.
            if wrong.position is None and not wrong.expression:
                wrong.position = position
            raise

    return located


def _has_tag(wanted: list[str]) -> Evaluate:
    """Whether the file has a tag of these; a vault has few tags, so each of them is compared once."""
    known: dict[str, bool] = {}

    def evaluate(row: Row) -> object:
        tags = row.file.entry.tags
        row.run.budget.spend(1)
        for tag in tags:
            fits = known.get(tag)
            if fits is None:
                fits = known[tag] = any(tag_matches(tag, want) for want in wanted)
            if fits:
                return True
        return False

    return evaluate


def _raise_again(message: str, row: Row) -> object:
    raise BasesError(message)


def _unknown_function(name: str, row: Row) -> object:
    raise BasesError(f'Cannot find function "{name}"')


def _conditional(arguments: list[Evaluate]) -> Evaluate:
    def evaluate(row: Row) -> object:
        check_count("if", len(arguments), 2, 3)
        if truthy(arguments[0](row)):
            return arguments[1](row)
        return arguments[2](row) if len(arguments) == 3 else None

    return evaluate


def _equals_text(left: Evaluate, fixed: str, negated: bool, row: Row) -> bool:
    value = left(row)
    same = value == fixed if type(value) is str else equal(value, fixed, row.run)
    return same is not negated


def _arithmetic(operator: str, left: Evaluate, right: Evaluate) -> Evaluate:
    operation = OPERATORS[operator]
    if operator == "*":

        def multiply(row: Row) -> object:
            a: Any = left(row)
            b: Any = right(row)
            if type(a) in _NUMBERS and type(b) in _NUMBERS:
                return tidy(a * b)
            return operation(a, b, row.run)

        return multiply
    return lambda row: operation(left(row), right(row), row.run)
