"""A keyed call is done once: claimed before the effect, marked at it, and never forgotten after it."""

from __future__ import annotations

from knapper.dispatch.call import Call
from knapper.errors import ToolError
from knapper.store.idempotency import Replay


def claim(call: Call) -> None:
    """Claim the key, or answer with what the first call answered."""
    if call.key is None:
        return
    got = call.runtime.keys.claim(call.vault.id, call.key, call.name, call.args_hash)
    if isinstance(got, Replay):
        _replay(call, got)
    else:
        call.claim = got


def _replay(call: Call, replay: Replay) -> None:
    call.replayed = True
    limit = call.runtime.settings.governor.max_response_bytes
    call.size = replay.size
    if replay.size > limit:
        raise ToolError("overflow", f"the answer has {replay.size} bytes, {limit} are allowed", result_size=replay.size, limit=limit)
    call.payload = replay.result


def abandon(call: Call) -> None:
    """After a failure: forget the claim where nothing happened, keep it as indeterminate where something may have."""
    if call.claim is None:
        return
    if call.returned or call.effect:
        call.runtime.keys.indeterminate(call.claim)
    else:
        call.runtime.keys.release(call.claim)
