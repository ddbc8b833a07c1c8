"""The one glob compiler: `**` is anything, `*` and `?` stay inside a folder, all else is literal."""

from __future__ import annotations

import re
from collections.abc import Iterable

from knapper.errors import ConfigError
from knapper.vault import paths

LONGEST = 512

_TOKENS = re.compile(r"\*{2,}|\*|\?|[^*?]+")
_WILD = {"*": "[^/]*", "?": "[^/]"}


def compiled(globs: Iterable[str], *, fold_case: bool = False) -> re.Pattern[str]:
    """One pattern whose fullmatch says whether any glob matches; give it texts from `subject`."""
    patterns = [_pattern(subject(glob, fold_case=fold_case)) for glob in globs]
    return re.compile("|".join(patterns) if patterns else r"(?!)", re.DOTALL)


def subject(text: str, *, fold_case: bool = False) -> str:
    """A path or glob as it is compared: composed, and without case where the filesystem has none."""
    return paths.folded(text) if fold_case else paths.nfc(text)


def _pattern(glob: str) -> str:
    if len(glob) > LONGEST:
        raise ConfigError(f"the glob {glob[:32]!r}… is longer than {LONGEST} characters")
    return "".join(_piece(token) for token in _TOKENS.findall(glob))


def _piece(token: str) -> str:
    return ".*" if token.startswith("**") else _WILD.get(token) or re.escape(token)
