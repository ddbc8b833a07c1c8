"""The bases domain itself, and how a base is read for its tools."""

from __future__ import annotations

from knapper import Domain, ToolError
from knapper_bases.engine import Base, BasesSyntaxError, read

bases = Domain("bases", summary="Read, change and query Obsidian's bases.", group="structured")


def read_base_text(text: str, path: str) -> Base:
    try:
        return read(text)
    except BasesSyntaxError as error:
        raise wrong(error, path) from None


def wrong(error: BasesSyntaxError, path: str) -> ToolError:
    """What is wrong with a base, place by place."""
    issues = [{"field": issue.place, "message": issue.message} for issue in error.issues]
    return ToolError("bases_syntax_error", str(error), path=path, issues=issues)
