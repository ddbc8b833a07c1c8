"""Asking the person behind the client: by a request in the older revisions, by an answer in the modern ones.

In the modern revisions the server cannot ask. It answers a call with what it needs to know and a state that it signs;
the client asks the person and sends the call again with both. The state names a request kept in the store, so that one
answer lets one call through, once, whichever process it reaches.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import secrets
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.dispatch.confirm import Ask, Question
from knapper.dispatch.pipeline import Suspend
from knapper.errors import ToolError
from knapper.server import eras
from knapper.server.exchange import Exchange
from knapper.server.wire import INVALID_PARAMS, ProtocolError

if TYPE_CHECKING:
    from knapper.runtime import Runtime
    from knapper.server.facade import Target

KEY = "confirm"
MOST_DIFF = 4000
FORM = {
    "type": "object",
    "properties": {
        "confirm": {"type": "boolean", "title": "Allow this", "description": "Let this one call through."}
    },
    "required": ["confirm"],
}


class Asked(Suspend):
    """The call waits for the client to ask, and to send it again."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


class State(msgspec.Struct, array_like=True):
    """What a signed state holds: which request of the store, for whose call."""

    approval: str
    tool: str
    args_hash: str
    caller: str
    expires: float


def through_client(exchange: Exchange, runtime: Runtime, target: Target) -> Ask | None:
    """How this client is asked, or None where it cannot be; then a person approves at the command line."""
    if not _can_ask(exchange):
        return None
    if not exchange.modern:
        return lambda question: _request(exchange, runtime, question)
    if exchange.caller.name is None:  # nobody whom an answer could be bound to
        return None
    answer = _answer(exchange, runtime, target)
    if answer is not None:
        return lambda question: answer
    return lambda question: _suspend(runtime, question)


def _can_ask(exchange: Exchange) -> bool:
    declared = exchange.capabilities.get("elicitation")
    if not isinstance(declared, dict) or not eras.knows_elicitation(exchange.version):
        return False
    return not declared or "form" in declared  # one that names its modes may know only others


def _request(exchange: Exchange, runtime: Runtime, question: Question) -> bool:
    try:
        given = exchange.peer.request(
            "elicitation/create", _form(question), runtime.settings.elicit_ttl_seconds
        )
    except TimeoutError:
        raise ToolError("elicit_required", "nobody answered in time", args_hash=question.args_hash) from None
    except ProtocolError as error:
        raise ToolError(
            "elicit_required", f"the client could not ask: {error.message}", args_hash=question.args_hash
        ) from None
    return _accepted(given)


def _form(question: Question) -> dict[str, Any]:
    return {"message": text(question), "requestedSchema": FORM}


def text(question: Question) -> str:
    """What the person reads: the tool, the vault, and what would change."""
    lines = [f"Allow {question.tool} in the vault {question.vault!r}?"]
    lines += [
        f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for name, value in question.change.items()
    ]
    if question.diff:
        cut = question.diff[:MOST_DIFF]
        lines += ["", cut + ("\n…" if len(cut) < len(question.diff) else "")]
    return "\n".join(lines)


def _accepted(given: Any) -> bool:
    content = given.get("content") if isinstance(given, dict) else None
    return isinstance(content, dict) and given.get("action") == "accept" and content.get("confirm") is True


def _suspend(runtime: Runtime, question: Question) -> bool:
    assert question.caller is not None
    approval = runtime.approvals.request(
        question.vault, question.tool, question.args_hash, question.caller, question.change, question.diff
    )
    assert approval is not None
    expires = runtime.clock() + runtime.settings.elicit_ttl_seconds
    state = State(approval, question.tool, question.args_hash, question.caller, expires)
    form = {"method": "elicitation/create", "params": {"mode": "form", **_form(question)}}
    raise Asked(
        {
            "resultType": "input_required",
            "inputRequests": {KEY: form},
            "requestState": seal(runtime.folder, state),
        }
    )


def _answer(exchange: Exchange, runtime: Runtime, target: Target) -> bool | None:
    """What the person said, where this is the call sent again: None where it is not, or lacks the answer."""
    given, sealed = exchange.params.get("inputResponses"), exchange.params.get("requestState")
    if sealed is None:
        return None
    state = unseal(runtime.folder, sealed) if isinstance(sealed, str) else None
    bound = None if state is None else (state.tool, state.args_hash, state.caller)
    if (
        state is None
        or bound != (target.name, target.args_hash, exchange.caller.name)
        or state.expires < runtime.clock()
    ):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: 'requestState' does not belong to this call")
    if not isinstance(given, dict) or KEY not in given:
        return None
    try:
        if not _accepted(given[KEY]):
            runtime.approvals.deny(state.approval)
            return False
        runtime.approvals.approve(state.approval)
    except ToolError:  # answered before: a second use of one answer asks anew
        return None
    return None  # the gate itself spends the approval, once


def seal(folder: Path, state: State) -> str:
    """A state that the client carries but cannot write."""
    packed = msgspec.msgpack.encode(state)
    return base64.urlsafe_b64encode(_sign(folder, packed) + packed).rstrip(b"=").decode()


def unseal(folder: Path, sealed: str) -> State | None:
    """The state, or None where it is not one that we signed."""
    try:
        raw = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    except (binascii.Error, ValueError):
        return None
    if not hmac.compare_digest(raw[:32], _sign(folder, raw[32:])):
        return None
    return msgspec.msgpack.decode(raw[32:], type=State)


def _sign(folder: Path, packed: bytes) -> bytes:
    return hmac.digest(_secret(folder / "request-state.key"), packed, sha256)


def _secret(path: Path) -> bytes:
    """The signing key of this data folder, made on first use; every process of the folder has the same."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        made = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        try:
            os.link(made, path)  # the first one wins, and nobody reads half a key
        except FileExistsError:
            pass
        finally:
            made.unlink()
        return path.read_bytes()
