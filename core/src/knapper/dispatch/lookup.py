"""Which tool is called, whether this caller may know of it, and whether its arguments fit."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from knapper.dispatch.call import Call
from knapper.dispatch.visibility import disabled, verdict
from knapper.errors import ToolError

LONGEST_NAME = 64


def find(call: Call) -> None:
    """An unknown tool and a disabled one are the same answer."""
    tool = call.runtime.tools.get(call.name)
    if tool is None or disabled(tool, call.runtime.settings.tool_visibility):
        call.name = call.name[
            :LONGEST_NAME
        ]  # what is no tool's name is the caller's to choose, and is logged
        raise unknown(call.name, _listed(call))
    call.tool = tool
    call.rate = tool.rate


def unknown(name: str, listed: Iterable[str]) -> ToolError:
    """The error for a name that is no tool's, with those that are nearest to it."""
    near = get_close_matches(name[:LONGEST_NAME], sorted(listed), n=3)
    return ToolError(
        "not_found", f"unknown tool: {name[:LONGEST_NAME]}", **({"suggestions": near} if near else {})
    )


def _listed(call: Call) -> list[str]:
    rules = call.runtime.settings.tool_visibility
    try:
        read_only = call.runtime.vaults.get(call.caller.vault).acl.read_only
    except ToolError:  # bound to a vault that is gone: nothing is suggested
        return []
    tools = call.runtime.tools.values()
    return [t.name for t in tools if verdict(t, rules, call.caller, read_only=read_only) == "listed"]


def parse(call: Call) -> None:
    if not call.args_hash:
        message = "is nested too deeply, or holds what JSON has no form for"
        issues = [{"field": "arguments", "message": message}]
        raise ToolError("validation_error", f"arguments: {message}", issues=issues)
    call.args = call.tool.signature.parse(call.raw)
