"""Names that a person types: one that is not there is a mistake in usage, and is told with those that are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import click

MOST = 40


def check(kind: str, name: str, names: Iterable[str]) -> None:
    """UsageError where there is no such thing, with what there is of its kind."""
    known = sorted(names)
    if name in known:
        return
    near = get_close_matches(name, known, n=1, cutoff=0.7)
    meant = f"; did you mean {near[0]!r}?" if near else "."
    shown = ", ".join(known[:MOST]) + (f" and {len(known) - MOST} more" if len(known) > MOST else "")
    there = f" There is: {shown}." if known else " There is none."
    raise click.UsageError(f"there is no {kind} {name!r}{meant}{there}")
