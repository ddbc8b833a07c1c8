"""The domain itself, which the modules of tools register with, and what they share."""

from __future__ import annotations

from typing import Annotated

from knapper import Doc, Domain

search = Domain("search", summary="Find notes by letter, pattern, property, meaning or query.")

Root = Annotated[str, Doc("Only notes below this folder.")]
