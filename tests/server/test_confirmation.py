"""Calls that a person has to confirm, in both eras and with clients that cannot ask."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.conftest import META, Pipe, Place, envelope

Start = Callable[..., Pipe]
CAN_ASK: dict[str, Any] = {f"{META}clientCapabilities": {"elicitation": {}}}
YES = {"action": "accept", "content": {"confirm": True}}


def answer(one: Pipe, question: Any, result: dict[str, Any]) -> Any:
    one.send({"jsonrpc": "2.0", "id": question["id"], "result": result})
    return one.read()


def test_an_older_client_is_asked_and_the_call_goes_on(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize(elicitation={})
    question = one.call(1, "destroy_text", path="a.md")
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"].startswith("Allow destroy_text in the vault 'main'?")
    assert question["params"]["requestedSchema"]["properties"].keys() == {"confirm"}
    assert answer(one, question, YES)["result"]["structuredContent"] == {"result": "gone"}
    assert (place.vault / "a.md").read_text() == ""


@pytest.mark.parametrize(
    "said",
    [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept"},
        {"action": "accept", "content": {"confirm": False}},
        {"action": "accept", "content": {"confirm": "true"}},
        {},
    ],
)
def test_anything_but_a_clear_yes_changes_nothing(pipe: Start, place: Place, said: dict[str, Any]) -> None:
    one = pipe()
    one.initialize(elicitation={})
    refused = answer(one, one.call(1, "destroy_text", path="a.md"), said)["result"]
    assert refused["structuredContent"]["code"] == "elicit_required"
    assert (place.vault / "a.md").read_text() == "Alpha *text*.\n"


@pytest.mark.parametrize(
    ("version", "capabilities"),
    [("2025-11-25", {}), ("2025-11-25", {"elicitation": {"url": {}}}), ("2025-03-26", {"elicitation": {}})],
)
def test_a_client_that_cannot_ask_is_told_how_a_person_approves(
    pipe: Start, version: str, capabilities: dict[str, Any]
) -> None:
    one = pipe()
    one.initialize(version, **capabilities)
    refused = one.call(1, "destroy_text", path="a.md")["result"]["structuredContent"]
    assert refused["code"] == "elicit_required"
    assert "knapper approvals approve" in refused["message"]


def test_a_cancelled_question_ends_its_call(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize(elicitation={})
    assert one.call(1, "destroy_text", path="a.md")["method"] == "elicitation/create"
    one.notify("notifications/cancelled", requestId=1)
    assert one.leave() == 0
    assert (place.vault / "a.md").read_text() == "Alpha *text*.\n"


def test_a_client_that_leaves_is_not_waited_for(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize(elicitation={})
    assert one.call(1, "destroy_text", path="a.md")["method"] == "elicitation/create"
    assert one.leave() == 0
    assert [answer["result"]["isError"] for answer in one.rest()] == [True]
    assert (place.vault / "a.md").read_text() == "Alpha *text*.\n"


def test_open_questions_keep_no_other_call_waiting(pipe: Start) -> None:
    one = pipe()
    one.initialize(elicitation={})
    for n in range(40):  # more than there are threads
        assert one.call(n + 1, "destroy_text", path="a.md")["method"] == "elicitation/create"
    assert one.call("sum", "add_numbers", a=1, b=2)["result"]["structuredContent"] == {"result": 3}


def ask(one: Pipe, **more: Any) -> Any:
    call = {"name": "destroy_text", "arguments": {"path": "a.md"}, "_meta": envelope(**CAN_ASK)}
    return one.ask(1, "tools/call", **(call | more))


def test_a_modern_client_is_answered_with_the_question_and_sends_the_call_again(
    pipe: Start, place: Place
) -> None:
    one = pipe()
    asked = ask(one)["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["confirm"]["method"] == "elicitation/create"
    assert asked["inputRequests"]["confirm"]["params"]["mode"] == "form"
    assert (place.vault / "a.md").read_text() == "Alpha *text*.\n"
    done = ask(one, requestState=asked["requestState"], inputResponses={"confirm": YES, "more": 1})["result"]
    assert (done["resultType"], done["structuredContent"]) == ("complete", {"result": "gone"})


def test_one_answer_lets_one_call_through_once(pipe: Start, place: Place) -> None:
    one = pipe()
    again = {"requestState": ask(one)["result"]["requestState"], "inputResponses": {"confirm": YES}}
    assert ask(one, **again)["result"]["resultType"] == "complete"
    (place.vault / "a.md").write_text("New text.")
    assert ask(one, **again)["result"]["resultType"] == "input_required"
    assert (place.vault / "a.md").read_text() == "New text."


def test_an_answer_that_is_missing_is_asked_for_again(pipe: Start) -> None:
    one = pipe()
    state = ask(one)["result"]["requestState"]
    assert ask(one, requestState=state)["result"]["resultType"] == "input_required"
    assert (
        ask(one, requestState=state, inputResponses={"other": YES})["result"]["resultType"]
        == "input_required"
    )
    assert ask(one, inputResponses={"confirm": YES})["result"]["resultType"] == "input_required"


def test_a_decline_ends_the_call(pipe: Start) -> None:
    one = pipe()
    state = ask(one)["result"]["requestState"]
    refused = ask(one, requestState=state, inputResponses={"confirm": {"action": "decline"}})["result"]
    assert refused["structuredContent"]["code"] == "elicit_required"


def test_a_state_that_is_not_ours_or_not_this_calls_is_refused(pipe: Start, place: Place) -> None:
    (place.vault / "b.md").write_text("B")
    one = pipe()
    state = ask(one)["result"]["requestState"]
    raw = bytearray(base64.urlsafe_b64decode(state + "=" * (-len(state) % 4)))
    raw[40] ^= 1
    yes = {"inputResponses": {"confirm": YES}}
    tampered = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    for wrong in (tampered, "", "x", "!!", state[:-8]):
        assert ask(one, requestState=wrong, **yes)["error"]["code"] == -32602
    other = ask(one, requestState=state, arguments={"path": "b.md"}, **yes)
    assert other["error"]["code"] == -32602
    assert (place.vault / "b.md").read_text() == "B"


def test_a_question_asked_through_the_facade_is_about_the_tool_inside(pipe: Start, place: Place) -> None:
    one = pipe("--facade", "triad")
    inner = {"name": "destroy_text", "args": {"path": "a.md"}}
    asked = ask(one, name="call_capability", arguments=inner)["result"]
    assert "Allow destroy_text" in asked["inputRequests"]["confirm"]["params"]["message"]
    yes = {"requestState": asked["requestState"], "inputResponses": {"confirm": YES}}
    done = ask(one, name="call_capability", arguments=inner, **yes)["result"]
    assert done["structuredContent"] == {"result": "gone"}


def test_a_modern_answer_is_for_the_content_that_was_shown(pipe: Start, place: Place) -> None:
    one = pipe()
    again = {"requestState": ask(one)["result"]["requestState"], "inputResponses": {"confirm": YES}}
    (place.vault / "a.md").write_text("New text.")
    ask(one)  # refreshes the open request, which must not turn the old answer into one for the new text
    anew = ask(one, **again)["result"]
    assert anew["resultType"] == "input_required"
    unanswered = ask(one, requestState=anew["requestState"])["result"]
    assert unanswered["resultType"] == "input_required"
    assert (place.vault / "a.md").read_text() == "New text."


def test_an_older_clients_answer_is_for_the_content_that_was_shown(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize(elicitation={})
    question = one.call(1, "destroy_text", path="a.md")
    (place.vault / "a.md").write_text("New text.")
    assert answer(one, question, YES)["result"]["structuredContent"]["code"] == "elicit_required"
    assert (place.vault / "a.md").read_text() == "New text."
