import threading
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing_http import Reply
from knapper_bridge_commands import knapper_bridges
from knapper_companion.link import PERHAPS
from tests.live_obsidian import Obsidian, failed

BRIDGE = knapper_bridges()


def refusal(engine: Any, method: str, *given: str) -> ToolError:
    with pytest.raises(ToolError) as raised:
        getattr(engine, method)(*given)
    return raised.value


def bare(obsidian: Obsidian, **given: Any) -> Any:
    """The engine where the Local REST API has no companion beside it."""
    obsidian.companion = False
    return BRIDGE.connect(obsidian.settings(**given))


def test_the_companion_lists_and_runs(obsidian: Obsidian) -> None:
    engine = BRIDGE.connect(obsidian.settings())
    obsidian.says("/commands/list", {"items": [{"id": "a:b", "name": "B"}], "total": 1})
    obsidian.says("/commands/execute", {"command_id": "a:b", "fired_at": "2024-03-15T10:30:00.000Z"})
    assert engine.list() == {"items": [{"id": "a:b", "name": "B"}], "total": 1}
    assert engine.execute("a:b") == {"command_id": "a:b", "fired_at": "2024-03-15T10:30:00.000Z"}
    assert obsidian.asked == [("/commands/list", {}), ("/commands/execute", {"command_id": "a:b"})]


def test_what_the_companion_refuses_passes_with_its_words(obsidian: Obsidian) -> None:
    engine = BRIDGE.connect(obsidian.settings())
    obsidian.says("/commands/execute", failed("invalid_input", "x is no command", command_id="x"))
    error = refusal(engine, "execute", "x")
    assert (error.code, error.message) == ("invalid_input", "x is no command")
    assert error.details == {"plugin": "commands", "command_id": "x"}
    obsidian.says("/commands/list", failed("bridge_error", "commands is undefined"))
    error = refusal(engine, "list")
    assert (error.code, error.details["bridge_code"]) == ("plugin_unreachable", "bridge_error")


def test_a_command_that_takes_too_long_is_not_sent_again(obsidian: Obsidian) -> None:
    never = threading.Event()
    engine = BRIDGE.connect(obsidian.settings(bridges={"timeout_ms": 40}))
    obsidian.says("/commands/execute", Reply(hold=never))
    error = refusal(engine, "execute", "a:b")
    never.set()
    assert (error.code, len(obsidian.asked)) == ("plugin_unreachable", 1)
    assert "it did not answer within 40 ms" in error.message
    assert error.details["hint"] == PERHAPS


def test_a_command_whose_answer_was_lost_may_have_run(obsidian: Obsidian) -> None:
    engine = bare(obsidian)
    for route in ("/commands/x/", "/commands/"):
        obsidian.says(route, Reply(hang_up=True))
    assert refusal(engine, "execute", "x").details == {"plugin": "commands", "hint": PERHAPS}
    assert refusal(engine, "list").details == {"plugin": "commands"}


def test_without_the_companion_the_local_rest_api_lists_and_runs(obsidian: Obsidian) -> None:
    engine = bare(obsidian)
    obsidian.says("/commands/", Reply({"commands": [{"id": "a:b", "name": "B"}]}))
    obsidian.says("/commands/a%3Ab%2Fc%20%C3%BC/", Reply(b"", status=204))
    assert engine.list() == {"items": [{"id": "a:b", "name": "B"}]}
    assert engine.execute("a:b/c ü") == {"command_id": "a:b/c ü"}
    assert obsidian.asked == [("/commands/", None), ("/commands/a%3Ab%2Fc%20%C3%BC/", None)]
    assert [asked.method for asked in obsidian.http.asked] == ["GET", "GET", "POST"]


def test_an_id_cannot_lead_to_another_route(obsidian: Obsidian) -> None:
    engine = bare(obsidian)
    for odd in ("../vault/secret.md", "a/../../x", "?x=1", "#x", "a%2Fb"):
        assert refusal(engine, "execute", odd).code == "invalid_input"
    assert [route for route, _ in obsidian.asked] == [
        "/commands/..%2Fvault%2Fsecret.md/",
        "/commands/a%2F..%2F..%2Fx/",
        "/commands/%3Fx%3D1/",
        "/commands/%23x/",
        "/commands/a%252Fb/",
    ]


def test_a_command_that_the_local_rest_api_does_not_know_is_named(obsidian: Obsidian) -> None:
    error = refusal(bare(obsidian), "execute", "no:such")
    assert (error.code, error.message) == ("invalid_input", "no:such is no command of this vault")
    assert error.details == {"plugin": "commands", "command_id": "no:such"}


@pytest.mark.parametrize("status", [302, 401, 500])
def test_other_statuses_of_the_local_rest_api_are_told_without_its_text(
    obsidian: Obsidian, status: int
) -> None:
    engine = bare(obsidian)
    obsidian.says("/commands/x/", Reply({"message": "secret"}, status=status))
    obsidian.says("/commands/", Reply({"message": "secret"}, status=status))
    for error in (refusal(engine, "execute", "x"), refusal(engine, "list")):
        assert (error.code, error.details["http_status"]) == ("plugin_unreachable", status)
        assert "secret" not in f"{error.message} {error.details}"
        assert ("hint" in error.details) is (status == 401)


@pytest.mark.parametrize("body", [b"<html>", [], {"items": []}, "commands"])
def test_a_list_of_another_shape_is_no_list(obsidian: Obsidian, body: Any) -> None:
    engine = bare(obsidian)
    obsidian.says("/commands/", Reply(body))
    error = refusal(engine, "list")
    assert (error.code, error.details["http_status"]) == ("plugin_unreachable", 200)


def test_a_companion_that_fails_its_probe_is_done_without(obsidian: Obsidian) -> None:
    obsidian.http.next = [Reply(b"", status=500), Reply(b"", status=500)]
    engine = BRIDGE.connect(obsidian.settings())
    obsidian.says("/commands/", Reply({"commands": []}))
    assert engine.list() == {"items": []}


def test_where_nobody_can_be_asked_the_error_says_why(obsidian: Obsidian) -> None:
    for given, code, why in (
        ({"rest_api_url": None}, "plugin_unreachable", "the vault has no rest_api_url"),
        ({"mode": "headless"}, "requires_live_obsidian", "the mode of the vault 'main' is headless"),
    ):
        with pytest.raises(ToolError, match=why) as raised:
            BRIDGE.connect(obsidian.settings(**given))
        assert raised.value.code == code
    away = BRIDGE.connect(obsidian.settings(rest_api_url="http://127.0.0.1:9"))
    for error in (refusal(away, "list"), refusal(away, "execute", "x")):
        assert (error.code, error.details) == ("plugin_unreachable", {"plugin": "commands"})
        assert "nothing listens at rest_api_url" in error.message


def test_a_companion_of_another_version_is_not_got_round(obsidian: Obsidian) -> None:
    obsidian.http.next = [Reply({"ok": True, "result": {"obsidianTcApiVersion": "2"}})]
    with pytest.raises(ToolError) as raised:
        BRIDGE.connect(obsidian.settings())
    assert raised.value.code == "plugin_incompatible"
