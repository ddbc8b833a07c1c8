"""A keyed call is done once: claimed before the effect, marked at it, and never forgotten after it."""

from __future__ import annotations

from knapper.dispatch.answer import overflow
from knapper.dispatch.call import Call
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
    # An answer that was too large was not kept: under a higher limit it is still the end of that call.
    if replay.result is None or replay.size > limit:
        raise overflow(replay.size, limit)
    call.payload = replay.result


def mark(call: Call) -> None:
    """The handler came back: from here on the key is never forgotten, whatever fails."""
    if call.claim is not None:
        call.takes_effect()
