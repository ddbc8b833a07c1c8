"""Regexes: JavaScript regular expressions on Python's `regex`, each search within a time limit."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import regex

from knapper.repetition import repeats_too_much
from knapper.script.errors import BudgetExceeded, ScriptError

_LITERAL = re.compile(r"/(.+)/([^/]*)")
_WORD = "[A-Za-z0-9_]"
_EDGE = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_INSIDE = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_ESCAPES = {
    "d": "[0-9]",
    "D": "[^0-9]",
    "w": _WORD,
    "W": "[^A-Za-z0-9_]",
    "b": _EDGE,
    "B": _INSIDE,
    "/": "/",
    "-": r"\-",
}
_CLASS_ESCAPES = {"d": "0-9", "w": "A-Za-z0-9_", "b": r"\b", "/": "/"}
_TOKEN = re.compile(
    r"\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pPkK](?=[{<])|.)|\[\^?|\]|\(\?<(?=[A-Za-z_])|.",
    re.DOTALL,
)
_FLAGS = "dgimsuvy"
# One search; a script's own budget bounds their sum.
_SECONDS = 0.25


class JsRegex:
    """A compiled JavaScript regular expression."""

    def __init__(self, source: str, flags: str, pattern: "regex.Pattern[str]") -> None:
        self.source = source
        self.flags = flags
        self.pattern = pattern

    def found_in(self, text: str) -> bool:
        """Whether the expression matches somewhere in a text."""
        try:
            return self.pattern.search(text, timeout=_SECONDS) is not None
        except TimeoutError:
            raise BudgetExceeded(f"the regular expression /{self.source}/ takes too long") from None

    def search(self, text: str, position: int = 0) -> "regex.Match[str] | None":
        """The first match from a position on."""
        with self._in_time():
            return self.pattern.search(text, position, timeout=_SECONDS)

    def all_in(self, text: str) -> list[str]:
        """The text of every match."""
        with self._in_time():
            return [found[0] for found in self.pattern.finditer(text, timeout=_SECONDS)]

    def split(self, text: str) -> list[str | None]:
        """The text between the matches, with what their groups caught."""
        with self._in_time():
            return self.pattern.split(text, timeout=_SECONDS)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise BudgetExceeded(f"the regular expression /{self.source}/ takes too long") from None


def literal_regex(text: str) -> JsRegex | None:
    """Read /source/flags, or None where the slashes are missing."""
    found = _LITERAL.fullmatch(text)
    return None if found is None else compile_regex(found[1], found[2])


@lru_cache(maxsize=64)
def compile_regex(source: str, flags: str = "") -> JsRegex:
    """Compile a JavaScript regular expression, or raise ScriptError saying what is wrong with it."""
    if any(flag not in _FLAGS for flag in flags) or len(set(flags)) != len(flags):
        raise ScriptError(f"Invalid flags supplied to RegExp constructor '{flags}'")
    if repeats_too_much(source):
        raise ScriptError(f"Unsafe regular expression: /{source[:100]}/: it repeats too much")
    chosen = sum(
        {"i": int(regex.IGNORECASE), "m": int(regex.MULTILINE), "s": int(regex.DOTALL)}.get(flag, 0)
        for flag in flags
    )
    try:
        with warnings.catch_warnings():
            # `[[` means the same in JavaScript and in regex's first version, which warns of its second.
            warnings.simplefilter("ignore", FutureWarning)
            pattern = regex.compile(_translated(source, "m" in flags), regex.VERSION0 | chosen)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise ScriptError(f"Invalid regular expression: /{source}/: {error}") from None
    if _nests_repetition(source):
        raise ScriptError(f"Unsafe regular expression: /{source}/: a repetition inside of a repetition")
    return JsRegex(source, flags, pattern)


def _translated(source: str, multiline: bool) -> str:
    parts: list[str] = []
    in_class = False
    for token in _TOKEN.findall(source):
        if token.startswith("\\"):
            parts.append(_escape(token[1:], in_class))
        elif token == "]" and in_class:
            in_class = False
            # Empty classes: nothing, and anything.
            parts[-1:] = {"[": ["(?!)"], "[^": ["(?s:.)"]}.get(parts[-1], [parts[-1], "]"])
        elif in_class:
            parts.append(token.replace("[", r"\["))
        elif token.startswith("["):
            in_class = True
            parts.append(token)
        elif token == "$" and not multiline:
            parts.append(r"\Z")
        elif token == "(?<":
            parts.append("(?P<")
        else:
            parts.append(token)
    return "".join(parts)


def _escape(text: str, in_class: bool) -> str:
    if text[0] in "ux" and len(text) > 1:
        return regex.escape(chr(int(text[1:].strip("{}"), 16)))
    if text[0] == "c":
        return regex.escape(chr(ord(text[1]) % 32))
    known = _CLASS_ESCAPES if in_class else _ESCAPES
    if text in known:
        return known[text]
    if text == "k":
        return "\\g"
    # In Python an escaped letter without a meaning is an error, in JavaScript it is the letter.
    return text if text.isalpha() and text not in "sSnrtfvpPDWdwbB0" else "\\" + text


def _nests_repetition(source: str) -> bool:
    """Whether an unbounded repetition holds another, the shape of patterns that never end."""
    open_groups: list[bool] = []
    repeats = False
    tokens = [token for token in _TOKEN.findall(re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "x", source)) if token]
    for index, token in enumerate(tokens):
        if token.startswith("("):
            open_groups.append(repeats)
            repeats = False
        elif token == ")":
            outer = open_groups.pop() if open_groups else False
            if repeats and _repeated(tokens, index + 1):
                return True
            repeats = repeats or outer
        elif _repeated(tokens, index):
            repeats = True
    return False


def _repeated(tokens: list[str], index: int) -> bool:
    if index >= len(tokens):
        return False
    return tokens[index] in ("*", "+") or (
        tokens[index] == "{" and re.match(r"\{[0-9]+,\}", "".join(tokens[index : index + 12])) is not None
    )
