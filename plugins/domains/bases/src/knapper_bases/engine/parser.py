"""Reading an expression into its tree."""

import re
from functools import lru_cache
from itertools import pairwise

from knapper_bases.engine.errors import UnreadableExpression
from knapper_bases.engine.lexer import UNREADABLE, Token, tokenize
from knapper_bases.engine.nodes import Binary, Call, Index, Items, Literal, Member, Name, Node, Pattern, Unary

_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)

LONGEST_EXPRESSION = 20_000
DEEPEST_NESTING = 100
# Evaluation recurses along a chain such as `a + b + c`, so its length is bounded like the nesting.
LONGEST_CHAIN = 200


@lru_cache(maxsize=1024)
def parse(text: str) -> Node:
    """Read an expression; what the language does not have is an UnreadableExpression."""
    if len(text) > LONGEST_EXPRESSION:
        raise UnreadableExpression(
            f"{UNREADABLE} It is longer than {LONGEST_EXPRESSION} characters", text[:80]
        )
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.place = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.binary(0)
        if self.ahead.kind != "end":
            raise self.unexpected(self.ahead)
        return node

    @property
    def ahead(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def accept(self, kind: str) -> bool:
        if self.ahead.kind != kind:
            return False
        self.place += 1
        return True

    def expect(self, kind: str) -> Token:
        if self.ahead.kind != kind:
            raise self.unexpected(self.ahead, f", {kind!r} is missing")
        return self.take()

    def unexpected(self, token: Token, why: str = "") -> UnreadableExpression:
        found = "the end" if token.kind == "end" else repr(token.text)
        return UnreadableExpression(f"{UNREADABLE} Unexpected {found}{why}", self.text, token.start)

    def binary(self, lowest: int) -> Node:
        """Read operators that bind at least as strongly as `lowest`."""
        first, count = self.place, 0
        left = self.unary()
        while (level := _LEVEL.get(self.ahead.kind, -1)) >= lowest:
            operator = self.take()
            count += 1
            if count > LONGEST_CHAIN:
                raise self.unexpected(operator, f", more than {LONGEST_CHAIN} operators in a row")
            right = self.binary(level + 1)
            left = Binary(operator.kind, left, right, operator.start, self.joined(first))
        return left

    def joined(self, first: int) -> str | None:
        """Give the text of names and dashes without a space between, which may be one property's name."""
        tokens = self.tokens[first : self.place]
        glued = all(a.end == b.start for a, b in pairwise(tokens))
        named = all(token.kind == ("-" if place % 2 else "name") for place, token in enumerate(tokens))
        return self.text[tokens[0].start : tokens[-1].end] if glued and named else None

    def unary(self) -> Node:
        if self.ahead.kind not in ("!", "-"):
            return self.postfix(self.primary())
        operator = self.take()
        self.deeper(operator)
        node = Unary(operator.kind, self.unary(), operator.start)
        self.depth -= 1
        return node

    def postfix(self, node: Node) -> Node:
        for _ in range(LONGEST_CHAIN):
            if self.accept("."):
                node = self.member(node, self.expect("name"))
            elif self.ahead.kind == "[":
                start = self.take().start
                node = Index(node, self.nested(), start)
                self.expect("]")
            else:
                return node
        raise self.unexpected(self.ahead, f", more than {LONGEST_CHAIN} members in a row")

    def member(self, node: Node, name: Token) -> Node:
        if self.accept("("):
            return Call(node, name.text, self.arguments(")"), name.start)
        return Member(node, name.text, name.start)

    def primary(self) -> Node:
        token = self.take()
        match token.kind:
            case "number":
                return Literal(_number(token.text), token.start)
            case "string":
                return Literal(_unescape(token.text[1:-1]), token.start)
            case "regex":
                source, _, flags = token.text[1:].rpartition("/")
                return Pattern(source, flags, token.start)
            case "name":
                return self.named(token)
            case "[":
                return Items(self.arguments("]"), token.start)
            case "(":
                node = self.nested()
                self.expect(")")
                return node
        raise self.unexpected(token)

    def named(self, token: Token) -> Node:
        if token.text in _WORDS:
            return Literal(_WORDS[token.text], token.start)
        if self.accept("("):
            return Call(None, token.text, self.arguments(")"), token.start)
        return Name(token.text, token.start)

    def arguments(self, closing: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(self.nested())
        return tuple(found)

    def nested(self) -> Node:
        self.deeper(self.ahead)
        node = self.binary(0)
        self.depth -= 1
        return node

    def deeper(self, token: Token) -> None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            raise self.unexpected(token, f", more than {DEEPEST_NESTING} levels deep")


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else found[0]
    return _ESCAPES.get(found[4], found[4])
