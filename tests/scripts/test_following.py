"""A server that follows the scripts by itself: what its clients are told, and see."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from knapper.testing import VaultFolder
from tests.scripts.conftest import Run, saying
from tests.server.conftest import Pipe

CHANGED = "notifications/tools/list_changed"
Serve = Callable[[], Pipe]


def told(pipe: Pipe) -> None:
    """Wait until the client is told that there are other tools."""
    assert pipe.read()["method"] == CHANGED


def names(pipe: Pipe, id: int) -> list[str]:
    return [tool["name"] for tool in answer(pipe, id, "tools/list")["tools"]]


def answer(pipe: Pipe, id: int, method: str, **params: Any) -> Any:
    """The answer to a request; what is told in between is not of interest."""
    pipe.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    while (message := pipe.read()).get("id") != id:
        assert message["method"] == CHANGED
    return message["result"]


def test_each_change_of_a_script_reaches_the_clients(serve: Serve, run: Run, vault: VaultFolder) -> None:
    one = serve()
    one.initialize()
    assert names(one, 1) == []

    vault["mcp-tools/say.py"] = saying("one")
    run("trust", "say.py")
    told(one)
    assert names(one, 2) == ["say"]
    assert answer(one, 3, "tools/call", name="say", arguments={})["structuredContent"] == {"result": "one"}

    vault["mcp-tools/say.py"] = saying("two!")
    told(one)
    assert names(one, 4) == []
    run("trust", "say.py")
    told(one)
    assert answer(one, 5, "tools/call", name="say", arguments={})["structuredContent"] == {"result": "two!"}

    (vault.path / "mcp-tools/say.py").rename(vault.path / "mcp-tools/tell.py")
    told(one)
    assert names(one, 6) == []
    run("trust", "tell.py")
    told(one)
    assert names(one, 7) == ["tell"]

    vault["mcp-tools/tell.py"] = "def tool(:\n"
    told(one)
    run("trust", "tell.py")
    vault["mcp-tools/other.py"] = saying("other")
    run("trust", "other.py")
    told(one)
    assert names(one, 8) == ["other"]

    del vault["mcp-tools/other.py"]
    told(one)
    assert names(one, 9) == []
    assert one.leave() == 0
    assert "script mcp-tools/tell.py of vault main is broken: SyntaxError" in one.stderr()


def test_a_client_that_listed_before_the_scripts_were_loaded_is_told(
    serve: Serve, run: Run, vault: VaultFolder
) -> None:
    vault["mcp-tools/say.py"] = saying("one")
    run("trust", "say.py")
    for _ in range(3):  # the first start leaves a catalogue, from which the others answer at once
        one = serve()
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        assert "result" in one.ask(0, "initialize", **params)
        listed = [tool["name"] for tool in one.ask(1, "tools/list")["result"]["tools"]]
        one.notify("notifications/initialized")
        if listed == []:
            told(one)
        assert names(one, 2) == ["say"]
        assert one.leave() == 0


def test_what_a_script_prints_does_not_reach_the_protocol(serve: Serve, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/loud.py"] = "print('loading')\n" + saying("x").replace(
        "    return", "    print('calling')\n    return"
    )
    run("trust", "loud.py")
    one = serve()
    one.initialize()
    asked = count(1)
    while names(one, next(asked)) != ["loud"]:  # a client whom nothing was shown yet is told of no change
        pass
    said = answer(one, next(asked), "tools/call", name="loud", arguments={})["content"][0]["text"]
    assert json.loads(said) == {"result": "x"}
    assert one.leave() == 0
    assert [message for message in one.rest() if message.get("method") != CHANGED] == []
