"""Links that open Obsidian from outside: obsidian:// URIs, built as text."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote

from knapper import Context, Doc, Domain, Record, ToolError, hookimpl

uri = Domain("uri", summary="Build obsidian:// links.", group="automation")

Action = Literal["open", "search", "new", "daily", "command", "hookmark", "advanced"]
HOSTS = {"hookmark": "hook-get-address", "advanced": "adv-uri", "command": "adv-uri"}
KNOWN: dict[Action, frozenset[str]] = {
    "open": frozenset({"file", "path", "prepend", "append", "paneType"}),
    "search": frozenset({"query"}),
    "new": frozenset(
        {
            "name",
            "file",
            "path",
            "paneType",
            "content",
            "clipboard",
            "silent",
            "append",
            "prepend",
            "overwrite",
        }
    ),
    "daily": frozenset({"content", "clipboard", "silent", "append", "prepend", "paneType"}),
    "command": frozenset({"commandid", "commandname"}),
    "hookmark": frozenset(),
    "advanced": frozenset(),
}
NEEDED: dict[Action, tuple[str, ...]] = {
    "open": ("file", "path"),
    "search": ("query",),
    "new": ("name", "file", "path"),
    "command": ("commandid", "commandname"),
}


class Uri(Record):
    uri: str


@uri.tool(vault=False, words="url deep share address")
def generate_uri(
    ctx: Context,
    action: Action,
    vault_name: Annotated[str | None, Doc("The vault's name as Obsidian shows it.")] = None,
    params: Annotated[
        dict[str, Any] | None, Doc("The action's own parameters, such as file, query or content.")
    ] = None,
) -> Uri:
    """Build an obsidian:// link that opens, searches, creates, or runs a command; nothing is opened here."""
    given = dict(params or {})
    _check(action, given)
    pairs: list[tuple[str, str | None]] = [] if vault_name is None else [("vault", vault_name)]
    pairs += [(key, _text(key, value)) for key, value in given.items() if value is not False]
    query = "&".join(
        f"{quote(key, safe='')}={quote(value, safe='')}" if value is not None else quote(key, safe="")
        for key, value in pairs
    )
    return Uri(uri=f"obsidian://{HOSTS.get(action, action)}" + (f"?{query}" if query else ""))


def _check(action: Action, given: dict[str, Any]) -> None:
    known = KNOWN[action]
    unknown = sorted(given.keys() - known) if known else []
    if unknown:
        raise ToolError(
            "invalid_input", f"{action} has no parameter {unknown[0]!r}; it takes {', '.join(sorted(known))}"
        )
    wanted = NEEDED.get(action)
    if wanted and not any(given.get(key) for key in wanted):
        raise ToolError("invalid_input", f"{action} needs {' or '.join(wanted)} in params")


def _text(key: str, value: Any) -> str | None:
    """A parameter's text; true is a bare name, which is how Obsidian writes a switch."""
    if value is True:
        return None
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ToolError("invalid_input", f"the parameter {key!r} is not a text, a number or true")


@hookimpl
def knapper_domains() -> Domain:
    return uri
