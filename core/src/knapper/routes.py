"""HTTP surfaces that plugins put beside /mcp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec


class Route(msgspec.Struct, frozen=True):
    """A path, its methods, and a synchronous function from (app, caller, request) to a Starlette response.

    Host and Origin are checked and the bearer is verified before it runs; `open` skips the bearer only.
    """

    path: str
    endpoint: Callable[..., Any]
    methods: Sequence[str] = ("GET",)
    open: bool = False
