"""Confirmation by a person: bound to one caller, one tool, one set of arguments and one vault, and used up once.

It is for what the person was shown, too: where the files have other content by then, they are asked anew.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.errors import ToolError
from knapper.store.confirmations import digest

if TYPE_CHECKING:
    from knapper.dispatch.call import Call
    from knapper.domain import Tool
    from knapper.touches import Access

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

    @property
    def digest(self) -> str:
        """Stands for what a person is shown."""
        return digest(self.change, self.diff)


Look = Callable[[], tuple[dict[str, Any], str]]
"""What a call would change as things are now, and the diff of it."""

Ask = Callable[[Question], bool]
"""Asks through the client; True and False are a person's answers, and it may raise to suspend the call."""


def floor(call: Call) -> None:
    """Destructive tools and the scopes no setting can lower ask on every call."""
    if has_floor(call.tool):
        require(call, lambda: _preview(call))


def _preview(call: Call) -> tuple[dict[str, Any], str]:
    arguments = {name: _shown(value) for name, value in call.raw.items()}
    change: dict[str, Any] = {"tool": call.name, "arguments": arguments}
    if call.tool.preview is None:
        return change, ""
    more, diff = call.tool.preview(call.context(), call.args)
    return {**change, **more}, diff


def has_floor(tool: Tool) -> bool:
    """Whether a person is asked on every call, whatever the tool itself asks for."""
    return tool.destructive or "execute" in tool.families or not FLOORS.isdisjoint(tool.scopes)


def _shown(value: Any) -> Any:
    """An argument as a person reads it: whole, or its beginning and its length."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(text) <= LONGEST_ARGUMENT else f"{text[:LONGEST_ARGUMENT]}… ({len(text)} characters)"


def require(call: Call, look: Look) -> None:
    """Go on if this very call was confirmed; else ask, or leave a request that a person can approve."""
    if call.confirmed:
        return
    approvals, caller = call.runtime.approvals, call.caller.name
    bound = (call.vault.id, call.name, call.args_hash, caller)
    change, diff = look()
    question = Question(call.name, call.vault.id, call.args_hash, caller, {**change, **_contents(call)}, diff)
    if approvals.consume(*bound, call.elicit_token, shown=question.digest):
        call.confirmed = True
        return
    if call.ask is not None:
        _ask(call, call.ask, question, look)
        return
    pending = approvals.request(*bound, question.change, diff)
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


def _ask(call: Call, ask: Ask, question: Question, look: Look) -> None:
    """Ask through the client; what has changed while a person was thinking is not what they allowed."""
    with call.limit.paused() if call.limit else nullcontext():
        agreed = ask(question)
    if not agreed:
        raise ToolError(
            "elicit_required", "the user did not confirm", args_hash=call.args_hash, declined=True
        )
    change, diff = look()
    if digest({**change, **_contents(call)}, diff) != question.digest:
        text = "what was confirmed has changed meanwhile: send the call again to be asked anew"
        raise ToolError("elicit_required", text, args_hash=call.args_hash)
    call.confirmed = True


def _contents(call: Call) -> dict[str, Any]:
    """The content of every file among the arguments, by its hash."""
    found: dict[str, str] = {}

    def note(access: Access, path: str) -> str:
        if (known := call.context().vault.known_hash(path)) is not None:
            found[path] = known
        return path

    call.tool.signature.visit(call.args, note)
    return {"content_hash": found} if found else {}
