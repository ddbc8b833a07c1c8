"""Collate: keys that order texts as JavaScript's numeric localeCompare does.

Punctuation comes first, then symbols, digits, letters; a run of digits counts as one number; accents
and then case (small before capital) only break ties.
"""

import re
import unicodedata
from functools import lru_cache

Key = tuple[str, str, str]

# The order of the Unicode collation's root for the ASCII signs; other signs, numbers and letters follow.
_SIGNS = "\t\n\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_NUMBER_AT = 0x60
_OTHER_SIGNS_AT = 0x50

_PRIMARY = {ord(sign): chr(number) for number, sign in enumerate(_SIGNS, 1)}
_PRIMARY |= {code: chr(code + 0x20) for code in range(ord("a"), ord("z") + 1)}
_PRIMARY |= {code: chr(code + 0x40) for code in range(ord("A"), ord("Z") + 1)}
_DIGITS = re.compile("[0-9]+")
_EXPANDED = str.maketrans({"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"})
_STROKED = str.maketrans("øØđĐłŁħĦ", "oOdDlLhH")


@lru_cache(maxsize=65536)
def key(text: str) -> Key:
    """The sort key of a text."""
    if text.isascii():
        return _DIGITS.sub(_number, text.translate(_PRIMARY)), "", text.swapcase()
    return _key_of_any(text)


def _key_of_any(text: str) -> Key:
    letters: list[str] = []
    marks: list[str] = []
    for char in unicodedata.normalize("NFKD", text.translate(_EXPANDED)):
        if unicodedata.combining(char):
            marks.append(f"{len(letters)}{char}")
        elif unicodedata.category(char) not in ("Cf", "Cc", "Mn", "Me"):
            letters.append(char)
    primary = "".join(map(_primary, "".join(letters).translate(_STROKED)))
    return _DIGITS.sub(_number, primary), "".join(marks), text.swapcase()


def _primary(char: str) -> str:
    if char.isascii():
        return _PRIMARY.get(ord(char), char)
    # Signs and emoji sort between the punctuation and the digits.
    return char.casefold() if char.isalpha() else chr(_OTHER_SIGNS_AT) + char


def _number(found: re.Match[str]) -> str:
    digits = found[0].lstrip("0") or "0"
    # The number of digits first, so that 9 comes before 10.
    return chr(_NUMBER_AT) + chr(0x100 + min(len(digits), 0x7F)) + digits
