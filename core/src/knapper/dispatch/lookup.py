"""Which tool is called, whether this caller may know of it, and whether its arguments fit."""

from __future__ import annotations

from knapper.dispatch.call import Call
from knapper.dispatch.visibility import disabled
from knapper.errors import ToolError

LONGEST_NAME = 64


def find(call: Call) -> None:
    """An unknown tool and a disabled one are the same answer."""
    tool = call.runtime.tools.get(call.name)
    if tool is None or disabled(tool, call.runtime.settings.tool_visibility):
        call.name = call.name[
            :LONGEST_NAME
        ]  # what is no tool's name is the caller's to choose, and is logged
        raise ToolError("not_found", f"unknown tool: {call.name}")
    call.tool = tool
    call.rate = tool.rate


def parse(call: Call) -> None:
    if not call.args_hash:
        message = "is nested too deeply, or holds what JSON has no form for"
        issues = [{"field": "arguments", "message": message}]
        raise ToolError("validation_error", f"arguments: {message}", issues=issues)
    call.args = call.tool.signature.parse(call.raw)
