"""Confirmation: a person's word for one call by one caller in one vault, once, and only after every other gate."""

from __future__ import annotations

import threading
from hashlib import sha256
from typing import Any

import pytest

from knapper.caller import LOCAL, Caller
from knapper.dispatch.confirm import Question
from knapper.dispatch.pipeline import Suspend
from tests.core.dispatch.desk import Desk, MakeDesk

BOB = Caller("bob", LOCAL, authenticated=True)


@pytest.mark.parametrize(("tool", "arguments"), [("wipe", {"path": "a.md"}), ("press", {"command": "c"})])
def test_a_floor_asks_on_every_call(desk: Desk, tool: str, arguments: dict[str, str]) -> None:
    for _ in range(2):
        error = desk.error(tool, **arguments)
        assert (error["code"], error["retryable"]) == ("elicit_required", False)
    assert desk.ran == []


def test_the_refusal_says_how_a_person_confirms_and_holds_no_token(desk: Desk) -> None:
    error = desk.error("wipe", path="a.md")
    (request,) = desk.runtime.approvals.list()
    assert error["message"] == (
        f"a person has to confirm this: run `knapper approvals approve {request.id}`, then send the same call again"
    )
    assert error["details"] == {
        "args_hash": request.args_hash,
        "approval": request.id,
        "change": {"tool": "wipe", "arguments": {"path": "a.md"}},
    }
    assert (request.vault, request.tool, request.caller) == ("home", "wipe", "alice")


def test_an_approved_call_goes_through_once_by_being_sent_again(desk: Desk) -> None:
    desk.approve(desk.error("wipe", path="a.md"))
    assert desk.result("wipe", path="a.md") == "a.md"
    assert desk.file("home/a.md") is None
    assert desk.code("wipe", path="a.md") == "elicit_required"


def test_a_minted_token_lets_the_call_through_once(desk: Desk) -> None:
    hashed = desk.error("wipe", path="a.md")["details"]["args_hash"]
    token = desk.runtime.approvals.mint("home", "wipe", hashed, "alice")
    with_token = {"how": {"elicit_token": token}}
    assert desk.code("wipe", path="a.md", **with_token) == "ok"
    (desk.folder / "home/a.md").write_text("again")
    assert desk.code("wipe", path="a.md", **with_token) == "elicit_required"
    assert desk.file("home/a.md") == "again"


@pytest.mark.parametrize(
    "other",
    [
        {"by": BOB},
        {"vault": "work"},
        {"vault": "home"},
        {"path": "b.md"},
        {"by": Caller(None, LOCAL, authenticated=True)},
    ],
)
def test_an_approval_is_for_one_caller_one_vault_and_the_same_arguments(
    desk: Desk, other: dict[str, Any]
) -> None:
    hashed = desk.error("wipe", path="a.md")["details"]["args_hash"]
    token = desk.runtime.approvals.mint("home", "wipe", hashed, "alice")
    for how in ({}, {"elicit_token": token}):
        assert desk.code("wipe", **{"path": "a.md", "how": how, **other}) == "elicit_required"
    assert desk.ran == []
    assert desk.code("wipe", path="a.md", how={"elicit_token": token}) == "ok"


def test_another_spelling_of_the_same_arguments_is_the_same_call(desk: Desk) -> None:
    error = desk.error("scribble", path="b.md", lines=11)
    desk.approve(error)
    assert desk.result("scribble", lines=11.0, path="b.md") == 11


def test_an_approval_ends_with_its_time(desk: Desk) -> None:
    desk.approve(desk.error("wipe", path="a.md"))
    desk.clock.now += 301
    assert desk.code("wipe", path="a.md") == "elicit_required"


def test_a_condition_asks_only_where_it_holds_and_shows_the_change(desk: Desk) -> None:
    assert desk.code("scribble", path="b.md", lines=10) == "ok"
    error = desk.error("scribble", path="c.md", lines=11)
    assert error["details"]["change"] == {"lines": 11}
    assert desk.runtime.approvals.show(error["details"]["approval"]).diff == "+line\n" * 11
    assert "diff" not in error["details"]
    assert desk.file("home/c.md") is None


def test_a_call_without_a_callers_name_cannot_be_confirmed_and_is_told_so(desk: Desk) -> None:
    error = desk.error("wipe", path="a.md", by=Caller(None, LOCAL, authenticated=True))
    assert error["code"] == "elicit_required"
    assert error["message"].endswith("use a token with a subject")
    assert "approval" not in error["details"]
    assert desk.runtime.approvals.list() == []


def test_a_throttled_call_uses_up_no_approval(make_desk: MakeDesk) -> None:
    desk = make_desk(throttle={"tiers": {"delete": {"per_minute": 0.001, "burst": 2}}})
    desk.approve(desk.error("wipe", path="a.md"))
    desk.code("wipe", path="b.md")
    assert desk.code("wipe", path="a.md") == "throttled"
    desk.runtime.throttle.enabled = False
    assert desk.code("wipe", path="a.md") == "ok"


def test_arguments_that_a_person_could_not_read_are_shown_by_their_beginning(desk: Desk) -> None:
    error = desk.error("press", command="c" * 5000)
    shown = error["details"]["change"]["arguments"]["command"]
    assert shown == "c" * 1000 + "… (5000 characters)"


def test_a_client_that_can_ask_is_asked_and_its_users_word_counts(desk: Desk) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> bool:
        asked.append(question)
        return len(asked) > 1

    error = desk.error("wipe", path="a.md", how={"ask": ask})
    assert (error["code"], error["message"]) == ("elicit_required", "the user did not confirm")
    assert error["details"]["declined"] is True
    assert desk.code("wipe", path="a.md", how={"ask": ask}) == "ok"
    assert (asked[0].tool, asked[0].vault, asked[0].caller) == ("wipe", "home", "alice")


def test_whoever_was_asked_once_in_a_call_is_not_asked_twice(desk: Desk) -> None:
    asked: list[Question] = []
    desk.domain.tools["scribble"].destructive = True

    def ask(question: Question) -> bool:
        asked.append(question)
        return True

    assert desk.code("scribble", path="b.md", lines=50, how={"ask": ask}) == "ok"
    assert len(asked) == 1


def test_a_call_that_is_suspended_to_ask_gives_its_key_back_and_leaves_no_record(desk: Desk) -> None:
    def ask(question: Question) -> bool:
        raise Suspend

    with pytest.raises(Suspend):
        desk.call("scribble", path="b.md", lines=50, idempotency_key="k", how={"ask": ask})
    assert desk.keys() == []
    assert desk.audited() == []


def test_of_many_calls_with_one_token_exactly_one_goes_through(desk: Desk) -> None:
    hashed = desk.error("press", command="c")["details"]["args_hash"]
    token = desk.runtime.approvals.mint("home", "press", hashed, "alice")
    start, codes = threading.Barrier(8), []

    def go() -> None:
        start.wait()
        codes.append(desk.code("press", command="c", how={"elicit_token": token}))

    threads = [threading.Thread(target=go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == ["elicit_required"] * 7 + ["ok"]
    assert desk.ran == ["press"]


def test_a_cancelled_call_uses_up_no_approval(desk: Desk) -> None:
    desk.approve(desk.error("wipe", path="a.md"))
    answers = iter([False, True])
    assert desk.code("wipe", path="a.md", how={"cancelled": lambda: next(answers)}) == "aborted"
    assert desk.code("wipe", path="a.md") == "ok"


def test_no_tool_can_approve_or_mint() -> None:
    from knapper.plugins import Plugins
    from knapper.registry import Registry

    for name, tool in Registry(Plugins.discover()).tools.items():
        code = tool.fn.__code__
        assert not {"approve", "mint", "approvals"} & {*code.co_names, *code.co_varnames}, name


@pytest.mark.parametrize(("tool", "arguments"), [("wipe", {}), ("scribble", {"lines": 11})])
def test_an_approval_is_for_the_content_that_the_file_had_when_it_was_shown(
    desk: Desk, tool: str, arguments: dict[str, Any]
) -> None:
    first = (desk.folder / "home/a.md").read_text()
    desk.approve(desk.error(tool, path="a.md", **arguments))
    (desk.folder / "home/a.md").write_text("newer")
    anew = desk.error(tool, path="a.md", **arguments)
    assert anew["code"] == "elicit_required"
    assert desk.file("home/a.md") == "newer"
    (request,) = desk.runtime.approvals.list()
    assert request.id == anew["details"]["approval"]
    assert request.change["content_hash"] == {"a.md": sha256(b"newer").hexdigest()}
    (desk.folder / "home/a.md").write_text(first)
    assert desk.code(tool, path="a.md", **arguments) == "ok"  # the first approval was not used up


def test_a_token_is_for_the_content_that_was_shown_when_it_was_minted(desk: Desk) -> None:
    hashed = desk.error("wipe", path="a.md")["details"]["args_hash"]
    token = desk.runtime.approvals.mint("home", "wipe", hashed, "alice")
    (desk.folder / "home/a.md").write_text("newer")
    assert desk.code("wipe", path="a.md", how={"elicit_token": token}) == "elicit_required"
    assert desk.file("home/a.md") == "newer"


def test_what_changes_while_a_person_is_asked_is_not_what_they_allowed(desk: Desk) -> None:
    def ask(question: Question) -> bool:
        (desk.folder / "home/a.md").write_text("newer")
        return True

    error = desk.error("wipe", path="a.md", how={"ask": ask})
    assert error["code"] == "elicit_required"
    assert (
        error["message"] == "what was confirmed has changed meanwhile: send the call again to be asked anew"
    )
    assert desk.file("home/a.md") == "newer"
