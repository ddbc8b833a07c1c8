"""What is not a tool but goes through the same gates: throttled, checked, recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import msgspec

from knapper.dispatch.call import Call
from knapper.dispatch.canonical import args_hash
from knapper.dispatch.pipeline import GATES, run
from knapper.domain import Domain, Tool
from knapper.server.client import Answered, Client
from knapper.server.exchange import Exchange
from knapper.server.wire import INVALID_PARAMS, RESOURCE_NOT_FOUND, ProtocolError

core = Domain("server", summary="The vault's notes as resources, and prompts to begin with.")
MISSES = frozenset({"note_not_found", "path_invalid", "not_found", "vault_not_found"})
WRONG = frozenset({"validation_error", "invalid_input"})
OTHER = -32000


@lru_cache(maxsize=256)
def governed(
    fn: Callable[..., Any], domain: Domain, scopes: tuple[str, ...] = (), vault: bool = False
) -> Tool:
    """A function under the policy of a tool, though nobody can call it as one."""
    nowhere = Domain("nowhere", summary="Tools that are not in any list.")
    nowhere.tool(*scopes, vault=vault)(fn)
    tool = nowhere.tools[fn.__name__]
    tool.domain = domain
    return tool


@lru_cache(maxsize=256)
def _gates(tool: Tool) -> tuple[Callable[[Call], None], ...]:
    def find(call: Call) -> None:
        call.tool = tool
        call.rate = tool.rate

    return tuple(find if gate.__name__ == "find" else gate for gate in GATES)


def through_gates(
    exchange: Exchange, tool: Tool, raw: dict[str, Any], kind: Literal["resource", "prompt"]
) -> dict[str, Any]:
    """The result of a governed function, with its fields as the bytes they already are."""
    runtime = exchange.host.runtime
    hashed = args_hash(exchange.method, raw)
    client = Client(exchange, runtime, str(raw.get("name", "")), hashed)
    call = Call(
        runtime,
        exchange.method,
        raw,
        exchange.caller,
        hashed,
        kind,
        cancelled=lambda: exchange.cancelled,
        client=client,
    )
    try:
        outcome = run(call, _gates(tool))
    except Answered as answered:
        return answered.unwrap()
    if outcome.error is not None:
        raise refusal(exchange, outcome.error)
    fields: dict[str, Any] = msgspec.json.decode(outcome.payload, type=dict[str, msgspec.Raw])
    return fields


def refusal(exchange: Exchange, error: dict[str, Any]) -> ProtocolError:
    """An error of the gates as one of the protocol."""
    data = {"errorCode": error["code"], **{k: v for k, v in error.items() if k not in ("code", "message")}}
    if error["code"] in MISSES:
        data |= {"uri": exchange.params["uri"]} if "uri" in exchange.params else {}
        missing = (
            exchange.method == "resources/read" and not exchange.modern and error["code"] != "path_invalid"
        )
        return ProtocolError(RESOURCE_NOT_FOUND if missing else INVALID_PARAMS, error["message"], data)
    return ProtocolError(INVALID_PARAMS if error["code"] in WRONG else OTHER, error["message"], data)
