"""Confirmation by a person: bound to one caller, one tool, one set of arguments and one vault, and used up once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.errors import ToolError

if TYPE_CHECKING:
    from knapper.dispatch.call import Call
    from knapper.domain import Tool

FLOORS = frozenset({"admin:auth", "write:templater"})
LONGEST_ARGUMENT = 1000


class Question(msgspec.Struct, frozen=True):
    """What a person is asked: the call as it is bound, and what it would change."""

    tool: str
    vault: str
    args_hash: str
    caller: str | None
    change: dict[str, Any]
    diff: str


Ask = Callable[[Question], bool]
"""Asks through the client; True and False are a person's answers, and it may raise to suspend the call."""


def floor(call: Call) -> None:
    """Destructive tools and the scopes no setting can lower ask on every call."""
    if has_floor(call.tool):
        arguments = {name: _shown(value) for name, value in call.raw.items()}
        require(call, {"tool": call.name, "arguments": arguments}, "")


def has_floor(tool: Tool) -> bool:
    """Whether a person is asked on every call, whatever the tool itself asks for."""
    return tool.destructive or "execute" in tool.families or not FLOORS.isdisjoint(tool.scopes)


def _shown(value: Any) -> Any:
    """An argument as a person reads it: whole, or its beginning and its length."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(text) <= LONGEST_ARGUMENT else f"{text[:LONGEST_ARGUMENT]}… ({len(text)} characters)"


def require(call: Call, change: dict[str, Any], diff: str) -> None:
    """Go on if this very call was confirmed; else ask, or leave a request that a person can approve."""
    if call.confirmed:
        return
    approvals, caller = call.runtime.approvals, call.caller.name
    bound = (call.vault.id, call.name, call.args_hash, caller)
    if approvals.consume(*bound, call.elicit_token):
        call.confirmed = True
        return
    if call.ask is not None:
        with call.limit.paused() if call.limit else nullcontext():
            agreed = call.ask(Question(call.name, call.vault.id, call.args_hash, caller, change, diff))
        if not agreed:
            raise ToolError(
                "elicit_required", "the user did not confirm", args_hash=call.args_hash, declined=True
            )
        call.confirmed = True
        return
    pending = approvals.request(*bound, change, diff)
    if pending is None:
        text = "a person has to confirm this, and nobody can for a caller without a name: use a token with a subject"
        raise ToolError("elicit_required", text, args_hash=call.args_hash, change=change)
    raise ToolError(
        "elicit_required",
        f"a person has to confirm this: run `knapper approvals approve {pending}`, then send the same call again",
        args_hash=call.args_hash,
        approval=pending,
        change=change,
    )
