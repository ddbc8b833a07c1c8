"""HTTP surfaces that plugins put beside /mcp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec


class Route(msgspec.Struct, frozen=True):
    """A path, its methods, and a synchronous function from (app, caller, request) to a Starlette response.

    Host and Origin are checked and the bearer is verified before it runs; `open` skips the bearer only. A body larger
    than `most_bytes` is not read to its end. `refuse` spells what the server itself has to answer (401, 403, 405, 413, 500)
    from a status and a text, where the surface has a form of its own for errors.
    """

    path: str
    endpoint: Callable[..., Any]
    methods: Sequence[str] = ("GET",)
    open: bool = False
    most_bytes: int | None = None
    refuse: Callable[[int, str], Any] | None = None
