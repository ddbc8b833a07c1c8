"""Notes as resources: listed, read and watched under the rules of the vault."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.conftest import Pipe, Place, envelope

Start = Callable[..., Pipe]


def listed(one: Pipe, **params: Any) -> list[str]:
    return [r["uri"] for r in one.ask("list", "resources/list", **params)["result"]["resources"]]


def until_listed(one: Pipe, uri: str) -> list[str]:
    """The index fills by itself after the start; nothing waits for it, but a test may ask again."""
    while uri not in (found := listed(one)):
        pass
    return found


def test_notes_are_listed_with_escaped_addresses_and_read_back(pipe: Start, place: Place) -> None:
    (place.vault / "Ünï & co").mkdir()
    (place.vault / "Ünï & co" / "50% #1.md").write_text("Half.\n")
    (place.vault / "picture.png").write_bytes(b"\x89PNG")
    one = pipe()
    one.initialize()
    uri = "knapper://main/%C3%9Cn%C3%AF%20%26%20co/50%25%20%231.md"
    assert until_listed(one, uri) == ["knapper://main/a.md", uri]
    read = one.ask(2, "resources/read", uri=uri)["result"]
    assert read == {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": "Half.\n"}]}
    picture = one.ask(3, "resources/read", uri="knapper://main/picture.png")["result"]["contents"][0]
    assert (picture["mimeType"], base64.b64decode(picture["blob"])) == ("image/png", b"\x89PNG")


def test_lists_come_in_pages_of_500(pipe: Start, place: Place) -> None:
    for n in range(501):
        (place.vault / f"{n:03}.md").write_text("x")
    one = pipe()
    one.initialize()
    while "nextCursor" not in (first := one.ask(1, "resources/list")["result"]):
        pass
    while len(listed(one, cursor="500")) < 2:
        pass
    assert (len(first["resources"]), first["nextCursor"]) == (500, "500")
    second = one.ask(2, "resources/list", cursor="500")["result"]
    assert [r["uri"] for r in second["resources"]] == ["knapper://main/500.md", "knapper://main/a.md"]
    assert "nextCursor" not in second


@pytest.mark.parametrize(
    ("uri", "code", "error"),
    [
        ("knapper://main/missing.md", -32002, "note_not_found"),
        ("knapper://main/../a.md", -32602, "path_invalid"),
        ("knapper://main/%2e%2e/a.md", -32602, "path_invalid"),
        ("knapper://main/.obsidian/app.json", -32000, "acl_denied"),
        ("knapper://main/secret/key.md", -32000, "acl_denied"),
        ("knapper://main/data.env", -32000, "acl_denied"),
        ("knapper://other/a.md", -32000, "forbidden"),
        ("knapper://main/", -32602, None),
        ("knapper:a.md", -32602, None),
        ("knapper://main/%ff.md", -32602, None),
        ("knapper://[main/a.md", -32602, None),
        ("file:///etc/passwd", -32602, None),
    ],
)
def test_what_may_not_be_read_is_refused_with_its_reason(
    pipe: Start, place: Place, uri: str, code: int, error: str | None
) -> None:
    (place.vault / "secret").mkdir()
    (place.vault / "secret" / "key.md").write_text("hidden")
    (place.vault / "data.env").write_text("TOKEN=1")
    one = pipe("--set", 'acl.read_paths=["*.md","*.env"]')
    one.initialize()
    refused = one.ask(1, "resources/read", uri=uri)["error"]
    assert refused["code"] == code
    assert refused.get("data", {}).get("errorCode") == error
    assert str(place.vault) not in str(refused)


def test_the_modern_era_has_one_code_for_what_is_missing(pipe: Start) -> None:
    one = pipe()
    missing = one.ask(1, "resources/read", uri="knapper://main/missing.md", _meta=envelope())["error"]
    assert missing["code"] == -32602


def test_unreadable_notes_are_not_listed(pipe: Start, place: Place) -> None:
    (place.vault / "secret").mkdir()
    (place.vault / "secret" / "key.md").write_text("hidden")
    (place.vault / "b.md").write_text("open")
    one = pipe("--set", 'acl.read_paths=["*.md"]')
    one.initialize()
    assert until_listed(one, "knapper://main/b.md") == ["knapper://main/a.md", "knapper://main/b.md"]


def test_a_note_over_the_limit_is_refused_before_it_is_read(pipe: Start, place: Place) -> None:
    (place.vault / "a.md").write_text("x" * 2001)
    one = pipe("--set", "governor.max_response_bytes=2000")
    one.initialize()
    refused = one.ask(1, "resources/read", uri="knapper://main/a.md")["error"]
    assert (refused["code"], refused["data"]["errorCode"]) == (-32602, "invalid_input")
    assert refused["data"]["details"] == {"path": "a.md", "size": 2001, "limit": 2000}


def test_a_watched_note_is_told_of_when_another_program_changes_it(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize()
    uri = "knapper://main/a.md"
    assert one.ask(1, "resources/subscribe", uri=uri)["result"] == {}
    (place.vault / "a.md").write_text("Changed behind our back.\n")
    assert one.read() == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": uri},
    }
    assert one.ask(2, "resources/unsubscribe", uri=uri)["result"] == {}


def test_what_is_watched_is_told_of_again_when_its_vault_was_away(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize()
    uri, away = "knapper://main/./a.md", place.vault.with_name("away")
    updated = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    assert one.ask(1, "resources/subscribe", uri=uri)["result"] == {}
    place.vault.rename(away)
    assert one.read() == updated
    away.rename(place.vault)
    assert one.read() == updated


def test_what_may_not_be_read_any_more_is_watched_no_more(pipe: Start, place: Place) -> None:
    config = place.vault.parent / "config.toml"
    text = f'[[vaults]]\nid = "main"\npath = "{place.vault}"\n'
    config.write_text(text)
    place.command_path = str(config)
    (place.vault / "b.md").write_text("Beta.\n")
    one = pipe()
    one.initialize()
    for n, uri in enumerate(("knapper://main/a.md", "knapper://main/b.md")):
        assert one.ask(n + 1, "resources/subscribe", uri=uri)["result"] == {}
    config.write_text(text + '[acl]\nread_paths = ["b.md"]\n')
    seen = [one.call(3, "reload_now")]
    while updated(seen[-1]) != "knapper://main/a.md":  # it is gone for whoever asks from now on
        seen.append(one.read())
    (place.vault / "a.md").write_text("Changed where nobody may look.\n")
    (place.vault / "b.md").write_text("Changed.\n")
    while (last := updated(one.read())) is None:
        pass
    assert last == "knapper://main/b.md"


def updated(message: Any) -> str | None:
    """The address that a message says has changed."""
    if message.get("method") != "notifications/resources/updated":
        return None
    return str(message["params"]["uri"])


def test_a_client_that_says_twice_that_it_is_ready_is_told_once(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize()
    one.notify("notifications/initialized")
    uri = "knapper://main/a.md"
    assert one.ask(1, "resources/subscribe", uri=uri)["result"] == {}
    (place.vault / "a.md").write_text("Changed behind our back.\n")
    assert one.read()["method"] == "notifications/resources/updated"
    assert one.ask(2, "ping")["id"] == 2


def test_what_may_not_be_read_may_not_be_watched(pipe: Start) -> None:
    one = pipe("--set", "acl.read_paths=[]")
    one.initialize()
    refused = one.ask(1, "resources/subscribe", uri="knapper://main/a.md")["error"]
    assert refused["data"]["errorCode"] == "acl_denied"


def test_a_modern_subscription_is_acknowledged_told_and_ended_by_cancelling(
    pipe: Start, place: Place
) -> None:
    one = pipe()
    uri, meta = "knapper://main/a.md", {"io.modelcontextprotocol/subscriptionId": "sub"}
    wanted = {"resourceSubscriptions": [uri, "knapper://main/none.md"], "toolsListChanged": True}
    acknowledged = one.ask("sub", "subscriptions/listen", _meta=envelope(), notifications=wanted)
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"] == {
        "notifications": {"toolsListChanged": True, "resourceSubscriptions": [uri]},
        "_meta": meta,
    }
    (place.vault / "a.md").write_text("Changed.\n")
    told = one.read()
    assert (told["method"], told["params"]) == (
        "notifications/resources/updated",
        {"uri": uri, "_meta": meta},
    )
    one.notify("notifications/cancelled", requestId="sub")
    assert one.leave() == 0
    assert one.rest() == []


def test_a_modern_subscription_tells_of_other_tools_and_of_nothing_else(pipe: Start) -> None:
    one = pipe()
    one.wants_lists = True
    one.ask("sub", "subscriptions/listen", _meta=envelope(), notifications={"toolsListChanged": True})
    one.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "reload_now", "arguments": {}, "_meta": envelope()},
        }
    )
    told = [one.read(), one.read()]
    assert sorted(str(m.get("method")) for m in told) == ["None", "notifications/tools/list_changed"]
    assert one.leave() == 0
    assert [m["id"] for m in one.rest()] == ["sub"]


def test_a_subscription_that_the_server_ends_gets_a_last_word(pipe: Start) -> None:
    one = pipe()
    one.ask("sub", "subscriptions/listen", _meta=envelope(), notifications={"toolsListChanged": True})
    assert one.leave() == 0
    (last,) = one.rest()
    assert last["id"] == "sub"
    assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub"


def test_clients_are_told_when_a_note_came(pipe: Start, place: Place) -> None:
    one = pipe()
    one.initialize()
    until_listed(one, "knapper://main/a.md")
    one.wants_lists = True
    (place.vault / "b.md").write_text("New.\n")
    assert one.read()["method"] == "notifications/resources/list_changed"


def test_clients_are_told_when_a_new_configuration_may_show_other_tools(pipe: Start, place: Place) -> None:
    config = place.vault.parent / "config.toml"
    text = f'[[vaults]]\nid = "main"\npath = "{place.vault}"\n'
    config.write_text(text)
    place.command_path = str(config)
    one = pipe()
    one.initialize()
    before = {t["name"] for t in one.ask(1, "tools/list")["result"]["tools"]}
    assert "shout" in before
    one.ask(2, "resources/list")  # by now the server listens to changes
    config.write_text(text + '[tool_visibility]\nhidden = ["shout"]\n')
    answers = [one.call(3, "reload_now")]
    while not {m.get("id") for m in answers} >= {3} or "notifications/tools/list_changed" not in {
        m.get("method") for m in answers
    }:
        answers.append(one.read())
    after = {t["name"] for t in one.ask(4, "tools/list")["result"]["tools"]}
    assert before - after == {"shout"}
