"""Any sequence of claims, markers, outcomes and waits agrees with the rules written as a small model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from knapper.errors import ToolError
from knapper.store.idempotency import Claimed, Keys, Replay
from knapper.store.state import State

TTL, RECLAIM = 100.0, 10.0


class Entry:
    """What the model knows about a key."""

    def __init__(self, token: str, hash: str, now: float) -> None:
        self.token, self.hash, self.started, self.state = token, hash, now, "in_flight"
        self.size = 0


class KeyedCalls(RuleBasedStateMachine):
    """Drives Keys and the model side by side."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.state = State.open(Path(self.folder.name) / "state.db")
        self.now = 0.0
        self.keys = Keys(self.state, ttl=TTL, reclaim=RECLAIM, now=lambda: self.now)
        self.entries: dict[str, Entry] = {}

    def teardown(self) -> None:
        self.state.close()
        self.folder.cleanup()

    def mine(self, claim: Claimed) -> Entry | None:
        entry = self.entries.get(claim.key)
        return entry if entry is not None and entry.token == claim.token else None

    @rule(seconds=st.sampled_from([1.0, 9.0, 10.0, 50.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(target=claims, key=st.sampled_from("ab"), hash=st.sampled_from("xy"))
    def claim(self, key: str, hash: str) -> Claimed | None:
        expected = self.expected(key, hash)
        if expected != "claimed":
            assert self.refused(key, hash) == expected
            return None
        answer = self.keys.claim("main", key, "tool", hash)
        assert isinstance(answer, Claimed)
        self.entries[key] = Entry(answer.token, hash, self.now)
        return answer

    def refused(self, key: str, hash: str) -> str:
        try:
            answer = self.keys.claim("main", key, "tool", hash)
        except ToolError as error:
            return error.code
        return f"replay {answer.size}" if isinstance(answer, Replay) else "claimed"

    def expected(self, key: str, hash: str) -> str:
        entry = self.entries.get(key)
        if entry is None or entry.started + TTL <= self.now:
            return "claimed"
        if entry.state == "in_flight" and entry.started + RECLAIM <= self.now:
            return "claimed"
        if entry.hash != hash:
            return "idempotency_key_mismatch"
        if entry.state == "completed":
            return f"replay {entry.size}"
        if entry.state == "effect_committed" and self.now < entry.started + RECLAIM:
            return "idempotency_in_flight"
        return "idempotency_in_flight" if entry.state == "in_flight" else "indeterminate_outcome"

    @rule(claim=claims)
    def commit(self, claim: Claimed | None) -> None:
        if claim is None:
            return
        entry = self.mine(claim)
        if entry is None:
            with pytest.raises(ToolError, match="another call has taken over this key"):
                self.keys.committed(claim)
            return
        self.keys.committed(claim)
        if entry.state == "in_flight":
            entry.state = "effect_committed"

    @rule(claim=claims, size=st.integers(0, 9), fits=st.booleans())
    def complete(self, claim: Claimed | None, size: int, fits: bool) -> None:
        if claim is None:
            return
        entry = self.mine(claim)
        done = self.keys.complete(claim, b"1", size) if fits else self.keys.overflow(claim, size)
        assert done == (entry is not None)
        if entry is not None:
            entry.state, entry.size = "completed", size

    @rule(claim=consumes(claims))
    def release(self, claim: Claimed | None) -> None:
        if claim is None:
            return
        entry = self.mine(claim)
        assert self.keys.release(claim) == (entry is not None and entry.state == "in_flight")
        if entry is not None and entry.state == "in_flight":
            del self.entries[claim.key]
        elif entry is not None and entry.state != "completed":
            entry.state = "indeterminate"

    @invariant()
    def the_rows_are_the_models(self) -> None:
        with self.state.read() as conn:
            rows = conn.exec_driver_sql("SELECT key, claim, state FROM idempotency_keys").all()
        assert {(key, token, state) for key, token, state in rows} == {
            (key, entry.token, entry.state) for key, entry in self.entries.items()
        }


KeyedCalls.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestKeyedCalls = KeyedCalls.TestCase
