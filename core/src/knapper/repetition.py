"""How large a regular expression becomes when it is compiled, told from its text before that is tried."""

from __future__ import annotations

import re

MOST = 10_000
# An escape, a class, the beginning of a group with its kind, its end, a fixed number of repetitions, any other sign.
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|\((?:\?(?:[:=!|>]|<[=!]|P?<\w*>)?)?|\)|\{(\d+)(?:,\d*)?\}|.", re.DOTALL
)


def repeats_too_much(pattern: str) -> bool:
    """Whether a compiled form has more than `MOST` parts: `x{9}` becomes nine, `(x{9}){9}` eighty-one.

    The regex module writes fixed repetitions out, so `x{1000000000}` would fill the memory, and no time limit stops it.
    """
    sizes, atom = [0], 0
    for token in _TOKEN.finditer(pattern):
        text, count = token[0], token[1]
        if count is not None:
            added = atom * max(int(count) - 1, 0)
            sizes[-1] += added
            atom += added
        elif text.startswith("("):
            sizes.append(0)
        elif text == ")" and len(sizes) > 1:
            atom = sizes.pop()
            sizes[-1] += atom
        else:
            atom = 1
            sizes[-1] += 1
        if sizes[-1] > MOST:
            return True
    return False
