"""The notes domain itself; its tools are in the modules beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from knapper import Doc, Domain, ToolError
from knapper.vault.edit import EditError, StringNotFound
from knapper.vault.frontmatter import FrontmatterError

notes = Domain("notes", summary="Read and write notes.", group="notes")

Hash = Annotated[str | None, Doc("Only if the note still has this content_hash.")]


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Say to the caller why a text could not be changed, and what would have worked."""
    try:
        yield
    except EditError as error:
        details: dict[str, Any] = {"candidates": error.candidates} if error.candidates else {}
        if isinstance(error, StringNotFound):
            details["found"] = error.found
        raise ToolError("invalid_input", str(error), path=path, **details) from None
    except FrontmatterError as error:
        raise ToolError("invalid_input", f"the properties cannot be written: {error}", path=path) from None
