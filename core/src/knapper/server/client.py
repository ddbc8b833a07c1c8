"""The client behind a call, for tools and gates that have to ask or tell it something.

In the older revisions the server sends the client a request and waits. In the modern ones it cannot: it answers the
call with what it needs to know and a signed state, and the client sends the call again with both. A confirmation is
kept in the store besides, so that one answer lets one call through, once, whichever process it reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.dispatch.confirm import Ask, Question
from knapper.dispatch.pipeline import Suspend
from knapper.errors import ToolError
from knapper.server import eras
from knapper.server.exchange import Exchange
from knapper.server.seal import State, seal, unseal
from knapper.server.wire import INVALID_PARAMS, MISSING_CAPABILITY, ProtocolError

if TYPE_CHECKING:
    from knapper.runtime import Runtime

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
CONFIRM = "confirm"
MOST_DIFF = 4000
FORM = {
    "type": "object",
    "properties": {
        "confirm": {"type": "boolean", "title": "Allow this", "description": "Let this one call through."}
    },
    "required": ["confirm"],
}


class Answered(Suspend):
    """The request is answered with something else than the call's result."""

    def __init__(self, result: dict[str, Any] | None = None, error: ProtocolError | None = None) -> None:
        super().__init__()
        self.result = result
        self.error = error

    def unwrap(self) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


class Client:
    """One request's client."""

    def __init__(self, exchange: Exchange, runtime: Runtime, name: str, args_hash: str) -> None:
        self._exchange = exchange
        self._runtime = runtime
        self._call = (exchange.method, name, args_hash, exchange.caller.name)
        self._state = self._sent_again() if exchange.modern else None
        self._answers: dict[str, Any] = dict(self._state.answers) if self._state else {}
        if exchange.modern:
            given = exchange.table("inputResponses")
            self._answers |= {key: answer for key, answer in given.items() if isinstance(answer, dict)}

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self._exchange.capabilities

    @property
    def asks(self) -> Ask | None:
        """How a person is asked to confirm; None where this client cannot, so that they do it by command."""
        if not self._elicits() or (self._exchange.modern and self._exchange.caller.name is None):
            return None
        return self._confirm

    def log(self, level: str, data: Any, logger: str) -> None:
        exchange = self._exchange
        wanted = (
            exchange.meta.get(eras.LOG_LEVEL) if exchange.modern else exchange.session.log_level or "info"
        )
        if wanted in LEVELS and level in LEVELS and LEVELS.index(level) >= LEVELS.index(wanted):
            exchange.peer.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def ask(self, requests: Mapping[str, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        missing = {
            NEEDS[method] for method, _ in requests.values() if method in NEEDS
        } - self.capabilities.keys()
        if missing and self._exchange.modern:
            data: dict[str, Any] = {"requiredCapabilities": {name: {} for name in sorted(missing)}}
            raise Answered(
                error=ProtocolError(MISSING_CAPABILITY, "The client lacks a required capability", data)
            )
        if missing:
            raise ToolError("invalid_input", f"the client does not offer {', '.join(sorted(missing))}")
        if not self._exchange.modern:
            return {key: self._request(method, params) for key, (method, params) in requests.items()}
        if not requests.keys() <= self._answers.keys():
            self._suspend({k: r for k, r in requests.items() if k not in self._answers})
        return {key: self._answers[key] for key in requests}

    def _elicits(self) -> bool:
        declared = self.capabilities.get("elicitation")
        if not isinstance(declared, dict) or not eras.knows_elicitation(self._exchange.version):
            return False
        return not declared or "form" in declared  # one that names its modes may know only others

    def _confirm(self, question: Question) -> bool:
        form = {"message": text(question), "requestedSchema": FORM}
        if not self._exchange.modern:
            return _accepted(self._request("elicitation/create", form))
        if self._state is not None and self._state.approval and CONFIRM in self._answers:
            decided = self._decide(question, self._state)
            if decided is not None:
                return decided
        approval = self._runtime.approvals.request(
            question.vault, question.tool, question.args_hash, question.caller, question.change, question.diff
        )
        self._answers.pop(CONFIRM, None)  # an answer to another question is none to this one
        asked = {CONFIRM: ("elicitation/create", {"mode": "form", **form})}
        self._suspend(asked, approval or "", question.digest)
        return False

    def _decide(self, question: Question, state: State) -> bool | None:
        """What the person said; None where that was used before, or was about something else, and is asked anew."""
        approvals, approval = self._runtime.approvals, state.approval
        try:
            if not _accepted(self._answers[CONFIRM]):
                approvals.deny(approval)
                return False
            if state.shown != question.digest:
                return None
            approvals.approve(approval, seen=state.shown)
        except ToolError:
            return None
        bound = (question.vault, question.tool, question.args_hash, question.caller)
        return approvals.consume(*bound, shown=state.shown) or None

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        seconds = self._runtime.settings.elicit_ttl_seconds
        try:
            return self._exchange.peer.request(method, params, seconds)
        except TimeoutError:
            problem = "cancelled" if self._exchange.cancelled else "nobody answered in time"
        except ProtocolError as error:
            problem = f"the client could not ask: {error.message}"
        raise ToolError("aborted" if self._exchange.cancelled else "elicit_required", problem)

    def _suspend(
        self, requests: Mapping[str, tuple[str, dict[str, Any]]], approval: str = "", shown: str = ""
    ) -> None:
        expires = self._runtime.clock() + self._runtime.settings.elicit_ttl_seconds
        state = State(*self._call, expires, self._answers, approval, shown)
        asked = {key: {"method": method, "params": params} for key, (method, params) in requests.items()}
        sealed = seal(self._runtime.folder, state)
        raise Answered({"resultType": "input_required", "inputRequests": asked, "requestState": sealed})

    def _sent_again(self) -> State | None:
        """The state of a call that is sent again with answers; ProtocolError where it is not that call's."""
        sealed = self._exchange.params.get("requestState")
        if sealed is None:
            return None
        state = unseal(self._runtime.folder, sealed) if isinstance(sealed, str) else None
        bound = None if state is None else (state.method, state.name, state.args_hash, state.caller)
        if state is None or bound != self._call or state.expires < self._runtime.clock():
            raise ProtocolError(INVALID_PARAMS, "Invalid params: 'requestState' does not belong to this call")
        return state


def text(question: Question) -> str:
    """What the person reads: the tool, the vault, and what would change."""
    lines = [f"Allow {question.tool} in the vault {question.vault!r}?"]
    for name, value in question.change.items():
        lines.append(f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}")
    if question.diff:
        cut = question.diff[:MOST_DIFF]
        lines += ["", cut + ("\n…" if len(cut) < len(question.diff) else "")]
    return "\n".join(lines)


def _accepted(given: Any) -> bool:
    content = given.get("content") if isinstance(given, dict) else None
    return isinstance(content, dict) and given.get("action") == "accept" and content.get("confirm") is True
