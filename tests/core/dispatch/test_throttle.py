"""Token buckets: a caller, a class and a vault each; a refusal takes nothing, and forgetting gives nothing away."""

from __future__ import annotations

import pytest

from knapper.caller import LOCAL, Caller
from knapper.config.model import ThrottleSettings
from knapper.dispatch import throttle as module
from knapper.dispatch.throttle import Throttle
from knapper.errors import ToolError
from tests.core.dispatch.desk import Clock, MakeDesk


def make(clock: Clock, **tiers: dict[str, float]) -> Throttle:
    return Throttle(ThrottleSettings.model_validate({"tiers": tiers}), clock)


def refused(throttle: Throttle, caller: str = "a", rate: str = "write", vault: str = "v") -> bool:
    try:
        throttle.take(caller, rate, vault)
    except ToolError:
        return True
    return False


def test_a_burst_is_free_and_then_the_rate_holds() -> None:
    clock = Clock()
    throttle = make(clock, write={"per_minute": 60, "burst": 3})
    assert [refused(throttle) for _ in range(4)] == [False, False, False, True]
    clock.now += 1
    assert [refused(throttle) for _ in range(2)] == [False, True]


def test_a_refusal_says_when_to_come_back_and_takes_nothing() -> None:
    clock = Clock()
    throttle = make(clock, write={"per_minute": 6, "burst": 1})
    throttle.take("a", "write", "v")
    for _ in range(50):
        with pytest.raises(ToolError) as error:
            throttle.take("a", "write", "v")
    assert error.value.details == {
        "scope_class": "write",
        "retry_after_seconds": 10,
        "current_burst": 1,
        "current_rate": 6.0,
    }
    clock.now += 10
    assert not refused(throttle)
    assert throttle.hits == {("v", "write"): 50}


def test_each_caller_class_and_vault_has_a_bucket_of_its_own() -> None:
    throttle = make(Clock(), write={"per_minute": 1, "burst": 1}, read={"per_minute": 1, "burst": 1})
    assert not refused(throttle)
    assert not refused(throttle, caller="b")
    assert not refused(throttle, vault="w")
    assert not refused(throttle, rate="read")
    assert refused(throttle)


def test_a_bucket_is_never_fuller_than_its_burst() -> None:
    clock = Clock()
    throttle = make(clock, write={"per_minute": 60, "burst": 2})
    clock.now += 1_000_000
    assert [refused(throttle) for _ in range(3)] == [False, False, True]


def test_an_idle_bucket_is_forgotten_only_when_it_is_full_again() -> None:
    clock = Clock()
    throttle = make(clock, write={"per_minute": 0.05, "burst": 1}, read={"per_minute": 600, "burst": 5})
    throttle.take("slow", "write", "v")
    throttle.take("quick", "read", "v")
    clock.now += 601
    throttle.take("other", "read", "v")
    assert {key[0] for key in throttle._buckets} == {"slow", "other"}
    assert refused(throttle, caller="slow")


def test_among_too_many_buckets_full_ones_go_first_and_no_burst_is_minted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_BUCKETS", 10)
    clock = Clock()
    throttle = make(clock, write={"per_minute": 0.5, "burst": 1}, read={"per_minute": 600, "burst": 5})
    for number in range(20):
        throttle.take(f"r{number}", "read", "v")
    throttle.take("slow", "write", "v")
    clock.now += 61
    throttle.take("next", "read", "v")
    assert {key[0] for key in throttle._buckets} == {"slow", "next"}
    assert refused(throttle, caller="slow")


def test_buckets_are_swept_at_most_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BUCKETS", 1)
    clock = Clock()
    throttle = make(clock, read={"per_minute": 600, "burst": 5})
    for number in range(50):
        clock.now += 1
        throttle.take(f"r{number}", "read", "v")
    assert len(throttle._buckets) == 50


def test_a_class_without_a_tier_and_a_throttle_that_is_off_let_everything_pass() -> None:
    throttle = make(Clock())
    assert not any(refused(throttle, rate="unheard-of") for _ in range(1000))
    off = Throttle(ThrottleSettings.model_validate({"enabled": False}), Clock())
    assert not any(refused(off, rate="admin") for _ in range(1000))


def test_the_tiers_are_those_that_are_documented() -> None:
    tiers = {name: (tier.per_minute, tier.burst) for name, tier in ThrottleSettings().tiers.items()}
    assert tiers == {
        "read": (600, 100),
        "write": (60, 20),
        "delete": (60, 20),
        "bulk": (10, 3),
        "execute": (5, 1),
        "admin": (5, 1),
    }


def test_a_call_is_charged_to_its_caller_its_class_and_the_vault_it_is_for(make_desk: MakeDesk) -> None:
    desk = make_desk(throttle={"tiers": {"read": {"per_minute": 0.001, "burst": 1}}})
    bob = Caller("bob", LOCAL, authenticated=True)
    assert desk.code("look", path="a.md") == "ok"
    assert desk.code("look", path="a.md") == "throttled"
    assert desk.code("look", path="a.md", vault="work") == "ok"
    assert desk.code("look", path="a.md", by=bob) == "ok"
    assert desk.code("tune") == "ok"


def test_only_calls_that_may_be_made_are_charged(make_desk: MakeDesk) -> None:
    desk = make_desk(throttle={"tiers": {"read": {"per_minute": 0.001, "burst": 1}}})
    for _ in range(5):
        assert desk.code("look", path="../a.md") == "path_invalid"
        assert desk.code("look") == "validation_error"
    assert desk.code("look", path="a.md") == "ok"
