"""What the lists of acceptance are made of."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """One item: what it asks, the tests that prove it, and what holds here instead where that differs."""

    says: str
    tests: tuple[str, ...]
    ours: str = ""
