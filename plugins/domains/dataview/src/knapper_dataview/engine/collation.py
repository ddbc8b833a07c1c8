"""The order of strings: an approximation of the root collation that JavaScript's localeCompare uses.

A key has three levels. The first orders letters without case and accents, the second accents, the third case, small
letters before capitals. Spaces and punctuation count, in the collation's own order, before digits, before letters.
Scripts follow each other by code point, which the root collation does too, but for Georgian.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_ORDER = "\t\n\x0b\x0c\r\x85\u2028\u2029 _‿-–—,;:!¡?¿.…·'‘’‚‹›\"“”„«»()[]{}§¶@*/\\&#%‰†‡•`´˜^¯¨°©®+±÷×<=>|¦~"
_CURRENCY = "¤¢$£¥€₹₽₩₿"
# Weights are characters, so that a key is compared as a string. Past the tables a group's weight comes first and the
# character itself second.
_FIRST_SYMBOL, _FIRST_CURRENCY, _FIRST_DIGIT, _FIRST_LETTER = 0x200, 0x300, 0x400, 0x500
_OTHER = 0x80

_APART = {
    "ß": "ss",
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "đ": "d",
    "ł": "l",
    "ħ": "h",
    "ŧ": "t",
    "ð": "d",
    "þ": "th",
    "ı": "i",
}
_KEPT = {"й", "Й"}  # letters of their own, not accented ones

Key = tuple[str, str, str]


def _primary_table() -> dict[int, str]:
    table = dict.fromkeys([*range(32), 127], "")
    table.update({ord(char): chr(place) for place, char in enumerate(_ORDER, 1)})
    table.update({ord(char): chr(_FIRST_CURRENCY + place) for place, char in enumerate(_CURRENCY)})
    table.update({ord("0") + digit: chr(_FIRST_DIGIT + digit) for digit in range(10)})
    for place in range(26):
        table[ord("a") + place] = table[ord("A") + place] = chr(_FIRST_LETTER + place)
    return table


_PRIMARY = _primary_table()
_CASE = dict.fromkeys([*range(32), 127], "") | {ord("A") + place: "1" for place in range(26)}
_CASE |= {code: "0" for code in range(0x20, 0x7F) if code not in _CASE}


@lru_cache(maxsize=65536)
def collation_key(text: str) -> Key:
    """A key whose order is the order of the texts."""
    if text.isascii():
        case = "" if text.islower() or text == text.lower() else text.translate(_CASE)
        return text.translate(_PRIMARY), "", case
    return _general_key(text)


def _general_key(text: str) -> Key:
    primary: list[str] = []
    accents: list[str] = []
    case: list[str] = []
    for char in _decomposed(text):
        if unicodedata.combining(char):
            accents.append(char)
            continue
        lowered = char.lower()
        apart = _APART.get(lowered)
        for part in apart or lowered:
            primary.append(_primary(part))
            accents.append(" ")
            case.append("1" if char != lowered or char in _VARIANTS else "0")
        if apart:
            accents.append("\u0338")
    weights = "".join(accents)
    return "".join(primary), weights if weights.strip(" ") else "", "".join(case) if "1" in case else ""


_VARIANTS = frozenset(map(chr, range(0x30A1, 0x30F7)))  # katakana: the same letters as hiragana, after them


def _decomposed(text: str) -> str:
    return "".join(char if char in _KEPT else unicodedata.normalize("NFKD", char) for char in text)


def _primary(char: str) -> str:
    known = _PRIMARY.get(ord(char))
    if known is not None:
        return known
    if char in _VARIANTS:
        char = chr(ord(char) - 0x60)
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return chr(_FIRST_DIGIT + digit)
    category = unicodedata.category(char)
    if category[0] in "LM":
        return chr(_FIRST_LETTER + _OTHER) + char
    if category == "Sc":
        return chr(_FIRST_CURRENCY + _OTHER) + char
    return "" if category in ("Cc", "Cf") else chr(_FIRST_SYMBOL) + char


def compare_text(first: str, second: str) -> int:
    """Less than, equal to or greater than zero, as localeCompare answers."""
    if first == second:
        return 0
    one, other = collation_key(first), collation_key(second)
    return (one > other) - (one < other)
