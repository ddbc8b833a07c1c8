"""Which tool is called, whether this caller may know of it, and whether its arguments fit."""

from __future__ import annotations

from knapper.dispatch.call import Call
from knapper.dispatch.visibility import disabled
from knapper.errors import ToolError


def find(call: Call) -> None:
    """An unknown tool and a disabled one are the same answer."""
    tool = call.runtime.tools.get(call.name)
    if tool is None or disabled(tool, call.runtime.settings.tool_visibility):
        raise ToolError("not_found", f"unknown tool: {call.name}")
    call.tool = tool
    call.rate = tool.rate


def parse(call: Call) -> None:
    call.args = call.tool.signature.parse(call.raw)
