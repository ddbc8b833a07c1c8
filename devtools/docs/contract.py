"""The hooks and the error codes, from where they are defined."""

from __future__ import annotations

import inspect

from devtools.docs.tables import table
from knapper import hookspecs
from knapper.errors import CODES
from knapper.plugins import HOOKS


def hooks() -> str:
    """Each hook with its signature and when it is called."""
    parts = []
    for name in HOOKS:
        function = getattr(hookspecs, name)
        signature = str(inspect.signature(function)).replace("'", "")
        parts.append(f"### {name}\n\n```text\n{name}{signature}\n```\n\n{inspect.getdoc(function)}")
    return "\n\n".join(parts)


def codes() -> str:
    rows = [
        [f"`{name}`", code.meaning, "yes" if code.retryable else "no", code.recovery]
        for name, code in sorted(CODES.items())
    ]
    return table(["code", "meaning", "retry", "what to do"], rows)
