"""Which tools a caller is shown, and which may be called at all; one verdict for lists, search and dispatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.domain import Tool


def disabled(tool: Tool, rules: Any) -> bool:
    """Disabled tools cannot be called; hidden ones can, by name."""
    return tool.name in rules.disabled or not tool.tags.isdisjoint(rules.disabled_tags)


def verdict(tool: Tool, rules: Any, caller: Caller | None = None, *, read_only: bool = False) -> str:
    """`listed`, or the first reason why the tool is not shown."""
    if tool.name in rules.disabled:
        return "disabled_name"
    if not tool.tags.isdisjoint(rules.disabled_tags):
        return "disabled_tag"
    if tool.name in rules.hidden:
        return "hidden_name"
    if not tool.tags.isdisjoint(rules.hidden_tags):
        return "hidden_tag"
    if rules.require_read_only and tool.mutating:
        return "hidden_require_read_only"
    if rules.allowed is not None and tool.name not in rules.allowed:
        return "hidden_not_allowlisted"
    if caller is not None and tool.home and caller.vault not in (None, tool.home):
        return "scope_denied_other_vault"
    if caller is not None and not all(caller.may(scope) for scope in tool.scopes):
        return "scope_denied_missing_scope"
    if caller is not None and read_only and tool.mutating:
        return "scope_denied_read_only"
    return "listed"
