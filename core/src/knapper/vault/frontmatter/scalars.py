"""What a plain YAML word means to Obsidian: the YAML 1.2 core schema, with leading zeros kept as text."""

import re
from math import inf, nan
from typing import TypeAlias

Scalar: TypeAlias = str | int | float | bool | None

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: inf for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), nan),
}
INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
NUMERIC_START = frozenset("0123456789+-.")


def resolve(word: str) -> Scalar:
    """The value of an unquoted scalar."""
    if word[:1] in NUMERIC_START:
        if INTEGER.match(word):
            return _integer(word, 10)
        if FLOAT.match(word):
            return float(word)
        if BASED.match(word):
            return _integer(word, 0)
    return WORDS.get(word, word)


def _integer(digits: str, base: int) -> int | float:
    # Past 64 bits no JSON encoder of ours takes an int; the app itself reads a double there.
    if len(digits) > 24:
        return float(digits) if base == 10 else inf
    value = int(digits, base)
    return value if -(2**63) <= value < 2**64 else float(value)


def key_text(value: object) -> str:
    """The property name a mapping key stands for: names are always text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(_pair(str(k), v) for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[ " + ", ".join(key_text(v) for v in value) + " ]"
    return str(value)


def _pair(key: str, value: object) -> str:
    return key if value is None else f"{key}: {key_text(value)}"
