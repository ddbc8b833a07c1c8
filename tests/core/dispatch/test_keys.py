"""A keyed call is done once: replayed, refused or reported as uncertain, and never done again after an effect."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from knapper.caller import Caller
from knapper.dispatch.canonical import args_hash
from tests.core.dispatch.desk import Desk, MakeDesk

PUT: dict[str, Any] = {"path": "b.md", "text": "one", "idempotency_key": "k"}


def test_the_same_call_again_is_answered_from_the_first(desk: Desk) -> None:
    first, second = desk.call("put", pad=3, **PUT), desk.call("put", pad=3, **PUT)
    assert (first.payload, first.replayed) == (b'{"result":"xxx"}', False)
    assert (second.payload, second.replayed) == (b'{"result":"xxx"}', True)
    assert desk.ran == ["put"]
    assert desk.keys() == [("home", "k", "completed")]


def test_another_call_with_the_key_is_refused(desk: Desk) -> None:
    desk.call("put", **PUT)
    assert desk.error("put", **{**PUT, "text": "two"})["details"] == {"key": "k"}
    assert desk.code("put", **{**PUT, "text": "two"}) == "idempotency_key_mismatch"
    assert desk.code("scribble", path="b.md", lines=1, idempotency_key="k") == "idempotency_key_mismatch"
    assert desk.ran == ["put"]


def test_a_key_belongs_to_the_vault_that_the_call_is_for(desk: Desk) -> None:
    desk.call("put", **PUT)
    assert desk.call("put", vault="work", **PUT).replayed is False
    assert desk.keys() == [("home", "k", "completed"), ("work", "k", "completed")]


def test_naming_the_default_vault_is_another_call_but_the_same_key(desk: Desk) -> None:
    desk.call("put", **PUT)
    assert desk.code("put", vault="home", **PUT) == "idempotency_key_mismatch"


def test_a_replay_still_needs_the_scopes_and_the_folder(make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.call("put", **PUT)
    assert (
        desk.code("put", by=Caller("alice", frozenset({"read:*"}), authenticated=True), **PUT) == "forbidden"
    )
    vault = desk.runtime.vaults.get("home")
    vault.apply(vault.settings.model_copy(update={"acl": type(desk.runtime.settings.acl)(write_paths=[])}))
    assert desk.code("put", **PUT) == "acl_denied"


def test_a_replay_costs_no_rate(make_desk: MakeDesk) -> None:
    desk = make_desk(throttle={"tiers": {"write": {"per_minute": 0.001, "burst": 1}}})
    assert [desk.code("put", **PUT) for _ in range(5)] == ["ok"] * 5
    assert desk.code("put", **{**PUT, "idempotency_key": "other"}) == "throttled"


def test_a_call_that_failed_before_any_effect_gives_the_key_back(desk: Desk) -> None:
    assert desk.code("put_and_fail", path="b.md", when="before", idempotency_key="k") == "invalid_input"
    assert desk.keys() == []
    assert desk.code("put", **PUT) == "ok"


@pytest.mark.parametrize("when", ["inside", "after", "exit"])
def test_a_call_that_failed_after_an_effect_is_uncertain_for_ever(desk: Desk, when: str) -> None:
    desk.call("put_and_fail", path="b.md", when=when, idempotency_key="k")
    assert desk.keys() == [("home", "k", "indeterminate")]
    desk.clock.now += 3600  # past the time in which a crashed call may be taken over
    assert desk.code("put_and_fail", path="b.md", when=when, idempotency_key="k") == "indeterminate_outcome"
    assert desk.ran == ["put_and_fail"]


def test_an_answer_that_was_too_large_stays_the_end_of_that_call(make_desk: MakeDesk) -> None:
    desk = make_desk(governor={"max_response_bytes": 100})
    for _ in range(2):
        error = desk.error("put", pad=200, **PUT)
        assert (error["code"], error["details"]) == ("overflow", {"result_size": 213, "limit": 100})
    assert desk.keys() == [("home", "k", "completed")]
    wider = desk.runtime.settings.governor.model_copy(update={"max_response_bytes": 10_000})
    desk.runtime.settings = desk.runtime.settings.model_copy(update={"governor": wider})
    assert desk.code("put", pad=200, **PUT) == "overflow"
    assert desk.ran == ["put"]


def test_an_answer_over_a_limit_that_was_lowered_since_is_not_replayed(desk: Desk) -> None:
    assert desk.code("put", pad=200, **PUT) == "ok"
    narrower = desk.runtime.settings.governor.model_copy(update={"max_response_bytes": 100})
    desk.runtime.settings = desk.runtime.settings.model_copy(update={"governor": narrower})
    assert desk.code("put", pad=200, **PUT) == "overflow"


def test_a_crashed_call_is_taken_over_after_its_time_and_not_before(desk: Desk) -> None:
    desk.runtime.keys.claim("home", "k", "put", args_hash("put", PUT))
    error = desk.error("put", **PUT)
    assert (error["code"], error["retryable"]) == ("idempotency_in_flight", True)
    desk.clock.now += 59
    assert desk.code("put", **PUT) == "idempotency_in_flight"
    desk.clock.now += 1
    assert desk.code("put", **PUT) == "ok"


def test_a_key_is_forgotten_when_it_expires(desk: Desk) -> None:
    desk.call("put", **PUT)
    desk.clock.now += 86_400
    assert desk.call("put", **PUT).replayed is False


def test_of_many_calls_at_once_one_runs(desk: Desk) -> None:
    start, codes = threading.Barrier(8), []

    def go() -> None:
        start.wait()
        codes.append(desk.code("put", **PUT))

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert desk.ran == ["put"]
    assert set(codes) <= {"ok", "idempotency_in_flight"}
    assert "ok" in codes


def test_a_cancelled_call_gives_its_key_back(desk: Desk) -> None:
    answers = iter([False, True])
    assert desk.code("put", how={"cancelled": lambda: next(answers)}, **PUT) == "aborted"
    assert (desk.keys(), desk.ran) == ([], [])


def test_a_throttled_call_gives_its_key_back(make_desk: MakeDesk) -> None:
    desk = make_desk(throttle={"tiers": {"write": {"per_minute": 0.001, "burst": 1}}})
    assert desk.code("put", path="c.md", text="x") == "ok"
    assert desk.code("put", **PUT) == "throttled"
    assert desk.keys() == []


def test_a_call_that_waits_for_a_person_gives_its_key_back(desk: Desk) -> None:
    error = desk.error("scribble", path="b.md", lines=11, idempotency_key="k")
    assert (error["code"], desk.keys()) == ("elicit_required", [])
    desk.approve(error)
    assert desk.result("scribble", path="b.md", lines=11, idempotency_key="k") == 11
    assert desk.result("scribble", path="b.md", lines=11, idempotency_key="k") == 11
    assert desk.ran == ["scribble", "scribble"]  # asked, then done; the third was a replay
