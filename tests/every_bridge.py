"""What every bridge to a plugin does, whichever plugin it is; each bridge's tests add what only it does."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import pytest

from knapper import Bridge, ToolError
from knapper.testing_http import Reply
from knapper_companion.link import PERHAPS
from tests.companion.vaults import PATIENCE
from tests.live_obsidian import Obsidian, failed


class Ask(NamedTuple):
    """A method of an engine with its arguments, and the request that it makes."""

    method: str
    given: tuple[Any, ...]
    named: dict[str, Any]
    route: str
    body: dict[str, Any]

    def of(self, engine: Any) -> Any:
        return getattr(engine, self.method)(*self.given, **self.named)


def refusal(ask: Ask, engine: Any) -> ToolError:
    """The error that a call ends with."""
    with pytest.raises(ToolError) as raised:
        ask.of(engine)
    return raised.value


class EveryBridge:
    """Subclassed by the tests of a bridge, which say what it is and what it asks."""

    bridge: Bridge
    key: str
    plugin_id: str
    capability: str
    timeout: str = "timeout_ms"
    asks: tuple[Ask, ...]
    acts: frozenset[str] = frozenset()

    def test_it_goes_by_its_key_and_its_plugin(self) -> None:
        assert (self.bridge.key, self.bridge.plugin_id) == (self.key, self.plugin_id)

    def test_each_call_is_one_request_and_its_answer_comes_back_untouched(self, obsidian: Obsidian) -> None:
        engine = self.bridge.connect(obsidian.settings())
        for number, ask in enumerate(self.asks):
            obsidian.says(ask.route, {"answer": number, "ünï": [None, 1.5]})
            assert ask.of(engine) == {"answer": number, "ünï": [None, 1.5]}
        assert obsidian.asked == [(ask.route, ask.body) for ask in self.asks]

    def test_a_vault_whose_obsidian_lacks_the_plugin_is_told_its_id(self, obsidian: Obsidian) -> None:
        obsidian.plugins[self.capability] = False
        with pytest.raises(
            ToolError, match=f"the plugin '{self.plugin_id}' does not run in Obsidian"
        ) as raised:
            self.bridge.connect(obsidian.settings())
        assert raised.value.code == "plugin_missing"
        assert raised.value.details["plugin"] == self.plugin_id
        assert raised.value.details["reason"] == "plugin_not_installed"

    def test_no_companion_no_address_and_no_obsidian_are_told_apart(self, obsidian: Obsidian) -> None:
        obsidian.companion = False
        for given, code in (
            ({}, "plugin_missing"),
            ({"rest_api_url": None}, "plugin_missing"),
            ({"rest_api_url": "http://127.0.0.1:9"}, "plugin_unreachable"),
            ({"mode": "headless"}, "requires_live_obsidian"),
        ):
            with pytest.raises(ToolError) as raised:
                self.bridge.connect(obsidian.settings(**given))
            assert raised.value.code == code

    @pytest.mark.parametrize(
        "code",
        [
            "plugin_missing",
            "plugin_unreachable",
            "invalid_input",
            "note_not_found",
            "note_exists",
            "dql_error",
        ],
    )
    def test_a_failure_that_callers_know_passes_with_its_words(self, obsidian: Obsidian, code: str) -> None:
        engine = self.bridge.connect(obsidian.settings())
        for ask in self.asks:
            obsidian.says(ask.route, failed(code, "no such thing", path="a.md"))
            error = refusal(ask, engine)
            assert (error.code, error.message) == (code, "no such thing")
            assert error.details == {"plugin": self.key, "path": "a.md"}

    def test_a_failure_that_nobody_knows_is_unreachable_and_named(self, obsidian: Obsidian) -> None:
        engine = self.bridge.connect(obsidian.settings())
        for ask in self.asks:
            obsidian.says(ask.route, failed("bridge_error", "x is not a function"))
            error = refusal(ask, engine)
            assert (error.code, error.message) == ("plugin_unreachable", "x is not a function")
            assert error.details["bridge_code"] == "bridge_error"

    @pytest.mark.parametrize(
        ("reply", "status"),
        [
            (Reply(b"<html>"), 200),
            (Reply({"errorCode": 40101}, status=401), 401),
            (Reply(b"", status=500), 500),
        ],
    )
    def test_an_answer_without_an_envelope_tells_only_its_status(
        self, obsidian: Obsidian, reply: Reply, status: int
    ) -> None:
        engine = self.bridge.connect(obsidian.settings())
        for ask in self.asks:
            obsidian.says(ask.route, reply)
            error = refusal(ask, engine)
            assert (error.code, error.details["http_status"]) == ("plugin_unreachable", status)

    def test_a_route_that_an_older_companion_lacks_is_unreachable(self, obsidian: Obsidian) -> None:
        engine = self.bridge.connect(obsidian.settings())
        for ask in self.asks:
            error = refusal(ask, engine)
            assert (error.code, error.details["http_status"]) == ("plugin_unreachable", 404)

    def test_it_waits_as_long_as_its_own_setting_says(self, obsidian: Obsidian) -> None:
        never = threading.Event()
        bridges = {"timeout_ms": PATIENCE, "ocr_timeout_ms": PATIENCE, "templater_timeout_ms": PATIENCE}
        engine = self.bridge.connect(obsidian.settings(bridges={**bridges, self.timeout: 40}))
        try:
            for ask in self.asks:
                obsidian.says(ask.route, Reply(hold=never))
                error = refusal(ask, engine)
                assert error.code == "plugin_unreachable"
                assert "it did not answer within 40 ms" in error.message
                assert ("hint" in error.details) is (ask.method in self.acts)
        finally:
            never.set()

    def test_a_connection_that_breaks_off_is_unreachable(self, obsidian: Obsidian) -> None:
        engine = self.bridge.connect(obsidian.settings())
        for ask in self.asks:
            obsidian.says(ask.route, Reply(hang_up=True))
            error = refusal(ask, engine)
            assert error.code == "plugin_unreachable"
            assert (error.details.get("hint") == PERHAPS) is (ask.method in self.acts)
