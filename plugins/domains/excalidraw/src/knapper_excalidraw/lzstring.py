"""LZ-String in its Base64 form, which drawings are compressed with.

A stream of codes, each with its lowest bit first: 0 and 1 bring a new character of 8 and 16 bits, 2 ends the stream, every
other one names a text seen before. Codes grow by a bit whenever the table has filled what they can name. Characters
are units of UTF-16, as in JavaScript.
"""

from __future__ import annotations

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BITS = {letter: f"{number:06b}" for number, letter in enumerate(ALPHABET)} | {"=": "000000"}
_SHORT, _LONG, _END, _FIRST = 0, 1, 2, 3


def compress(text: str) -> str:
    """The text in as few letters as LZ-String makes of it."""
    bits = "".join(_codes(_units(text)))
    bits += "0" * (6 - len(bits) % 6)  # a stream that ends with a letter gets another one
    letters = "".join(ALPHABET[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6))
    return letters + "=" * (-len(letters) % 4)


def _codes(units: str) -> list[str]:
    codes: list[str] = []
    table: dict[str, int] = {}
    unsent: set[str] = set()
    width, room = 2, 2

    def grow() -> None:
        nonlocal width, room
        room -= 1
        if room == 0:
            room = 1 << width
            width += 1

    def send(known: str) -> None:
        if known in unsent:
            unsent.discard(known)
            short = ord(known) < 256
            codes.append(
                _backwards(_SHORT if short else _LONG, width) + _backwards(ord(known), 8 if short else 16)
            )
            grow()
        else:
            codes.append(_backwards(table[known], width))
        grow()

    known = ""
    for unit in units:
        if unit not in table:
            table[unit] = len(table) + _FIRST
            unsent.add(unit)
        longer = known + unit
        if longer in table:
            known = longer
            continue
        send(known)
        table[longer] = len(table) + _FIRST
        known = unit
    if known:
        send(known)
    codes.append(_backwards(_END, width))
    return codes


def decompress(letters: str) -> str:
    """The text that these letters stand for; a ValueError where they stand for none."""
    try:
        bits = "".join(_BITS[letter] for letter in letters)
    except KeyError as unknown:
        raise ValueError(f"{unknown} is no letter of Base64") from None
    table: list[str] = [""] * _FIRST
    parts: list[str] = []
    at, width, room, before = 0, 2, 1, ""

    def take(count: int) -> int:
        nonlocal at
        if at + count > len(bits):
            raise ValueError("the text ends in the middle")
        at += count
        return int(bits[at - count : at][::-1], 2)

    def grow() -> None:
        nonlocal width, room
        room -= 1
        if room == 0:
            room = 1 << width
            width += 1

    while True:
        code = take(width)
        if code == _END:
            return _text("".join(parts))
        if code in (_SHORT, _LONG):
            table.append(chr(take(8 if code == _SHORT else 16)))
            code = len(table) - 1
            if before:
                grow()
        if code < len(table):
            entry = table[code]
        elif code == len(table) and before:
            entry = before + before[0]
        else:
            raise ValueError(f"the code {code} stands for nothing")
        parts.append(entry)
        if before:
            table.append(before + entry[0])
        grow()
        before = entry


def _backwards(value: int, width: int) -> str:
    return f"{value:0{width}b}"[::-1]


def _units(text: str) -> str:
    """The text with a pair of surrogates for each character that JavaScript counts as two."""
    if text.isascii() or max(text) < "\U00010000":
        return text
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(raw[at] | raw[at + 1] << 8) for at in range(0, len(raw), 2))


def _text(units: str) -> str:
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
