"""What becomes of a result or a failure: checked, measured, bounded, and without a word about the inside."""

from __future__ import annotations

import gc
import logging
import threading
import weakref

import pytest

from knapper import Context, Domain, ReadPath
from knapper.caller import LOCAL, Caller
from knapper.dispatch import answer
from knapper.dispatch.call import Call
from knapper.dispatch.canonical import args_hash
from knapper.dispatch.pipeline import GATES, run
from knapper.errors import ToolError
from knapper.testing import Calls, VaultFolder
from tests.core.dispatch.desk import ALICE, Desk, MakeDesk

ORDER = [
    "not_cancelled", "find", "parse", "authenticated", "scopes", "vault", "writable", "paths", "precheck",
    "claim", "not_cancelled", "throttle", "floor", "not_cancelled", "handle", "mark", "encode", "check", "govern",
]  # fmt: skip


def test_the_gates_are_in_this_order() -> None:
    assert [gate.__name__ for gate in GATES] == ORDER


def test_a_failure_inside_says_nothing_but_that(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    error = desk.error("put_and_fail", path="b.md", when="inside")
    assert error == {
        "code": "internal",
        "message": "internal error",
        "retryable": True,
        "recovery": "Try again; then tell the operator.",
    }
    assert "the secret is 42" in caplog.text


def test_a_plugin_that_exits_does_not_take_the_server_along(desk: Desk) -> None:
    assert desk.code("put_and_fail", path="b.md", when="exit") == "internal"
    assert desk.result("look", path="b.md") == "written"


def test_an_answer_over_the_limit_is_refused_whole(make_desk: MakeDesk) -> None:
    desk = make_desk(governor={"max_response_bytes": 100})
    assert desk.code("put", path="b.md", text="", pad=87) == "ok"
    outcome = desk.call("put", path="b.md", text="", pad=88)
    assert outcome.error is not None
    assert outcome.error["details"] == {"result_size": 101, "limit": 100}
    assert outcome.payload == b"null"


def test_what_is_attached_counts_too(make_desk: MakeDesk) -> None:
    desk = make_desk(governor={"max_response_bytes": 1000})
    assert desk.code("show", pictures=2) == "ok"
    assert desk.error("show", pictures=3)["details"] == {"result_size": 18 + 3 * 400, "limit": 1000}


def test_a_result_that_breaks_its_schema_is_an_error_in_strict_mode(desk: Desk) -> None:
    assert desk.error("lie")["code"] == "internal_error"


def test_a_result_that_breaks_its_schema_is_logged_once_otherwise(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("KNAPPER_STRICT_OUTPUT_SCHEMA")
    monkeypatch.setattr(answer, "_faulty", set())
    with caplog.at_level(logging.WARNING):
        assert desk.result("lie") == "no number"
        assert desk.result("lie") == "no number"
    assert [r.getMessage() for r in caplog.records] == [
        "lie breaks its output schema: Expected `int`, got `str`"
    ]


def test_an_error_is_bounded_whatever_a_tool_puts_into_it(desk: Desk) -> None:
    error = desk.error("blurt", size=1_000_000)
    assert error["message"] == "m" * 2000
    assert error["details"] == {"omitted_bytes": 1_000_000 + len('{"field":"size","all":""}')}
    assert desk.error("blurt", size=5)["details"] == {"field": "size", "all": "ddddd"}


def test_details_that_cannot_be_sent_are_left_out(desk: Desk) -> None:
    error = desk.error("garble")
    assert (error["code"], error["details"]) == ("invalid_input", {"omitted_bytes": None})


def test_a_cancelled_call_reaches_no_gate(desk: Desk) -> None:
    assert desk.error("look", path="a.md", how={"cancelled": lambda: True})["code"] == "aborted"
    assert desk.ran == []


def test_a_call_is_dispatched_once(desk: Desk) -> None:
    call = Call(desk.runtime, "look", {"path": "a.md"}, ALICE, args_hash("look", {"path": "a.md"}))
    assert run(call).error is None
    with pytest.raises(ToolError, match="once") as error:
        run(call)
    assert error.value.code == "internal"
    assert desk.ran == ["look"]


def test_calls_at_the_same_time_share_no_context(desk: Desk) -> None:
    callers = [Caller(f"caller-{number}", LOCAL, authenticated=True) for number in range(16)]
    start = threading.Barrier(16)

    def go(number: int) -> None:
        start.wait()
        for _ in range(20):
            desk.call("meet", number=number, by=callers[number])

    threads = [threading.Thread(target=go, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    met = desk.domain.met  # type: ignore[attr-defined]
    assert len({id(context) for context in met}) == 320
    names = [context.caller.name for context in met]
    assert all(names.count(caller.name) == 20 for caller in callers)


def test_what_was_read_for_a_call_is_freed_with_it(call: Calls, vault: VaultFolder) -> None:
    seen: list[weakref.ref[Context]] = []
    reader = Domain("reader", summary="Read a note.")

    @reader.tool("read:notes")
    def peek(ctx: Context, path: ReadPath) -> str:
        """Read a note."""
        seen.append(weakref.ref(ctx))
        return ctx.vault.read(path).text

    vault["a.md"] = "text"
    gc.disable()  # what is freed only when Python looks for circles stays a while, and then costs a pause
    try:
        assert call(reader, "peek", path="a.md") == "text"
        assert [one() for one in seen] == [None]
    finally:
        gc.enable()
