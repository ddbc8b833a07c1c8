"""Templates that go through the real bridge and the companion's routes to an Obsidian on loopback."""

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_templater import templater
from tests.live_obsidian import Obsidian, failed, obsidian

__all__ = ["obsidian"]
SCRIPTED = "<% tp.web.daily_quote() %>"
ROUTE = "/templater/execute"


@pytest.fixture(autouse=True)
def bridged(call: Calls, vault: VaultFolder, obsidian: Obsidian) -> None:
    call.plugins.append(pytest.importorskip("knapper_bridge_templater"))
    obsidian.serve(call)
    vault["T.md"] = SCRIPTED


def run(call: Calls) -> dict[str, Any]:
    done: dict[str, Any] = call.confirmed(
        templater, "execute_template", template="T.md", target="New.md", args={"mood": "good"}
    )
    return done


def test_a_template_that_needs_the_plugin_is_run_by_it(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    def execute(body: Any) -> Any:
        vault[body["target"]] = "a quote"
        return {"template": body["template"], "target": body["target"], "created_at": "2026-03-05T14:07:09Z"}

    obsidian.routes[ROUTE] = execute
    done = run(call)
    assert (done["engine"], done["created_at"], done["expanded_size"]) == (
        "obsidian",
        "2026-03-05T14:07:09Z",
        7,
    )
    body = {"template": "T.md", "target": "New.md", "overwrite": False, "args": {"mood": "good"}}
    assert obsidian.asked == [(ROUTE, body)]


def test_what_the_plugin_refuses_is_the_answer(call: Calls, obsidian: Obsidian) -> None:
    obsidian.routes[ROUTE] = lambda _: failed("note_exists", "it is there")
    with pytest.raises(ToolError) as refused:
        run(call)
    assert refused.value.code == "note_exists"


def test_an_obsidian_without_the_plugin_is_said_with_what_needs_it(call: Calls, obsidian: Obsidian) -> None:
    obsidian.plugins["templater"] = False
    with pytest.raises(ToolError) as missing:
        run(call)
    assert (missing.value.code, missing.value.details["construct"]) == (
        "plugin_missing",
        "tp.web.daily_quote()",
    )


def test_an_obsidian_without_the_companion_is_said_with_what_needs_it(
    call: Calls, obsidian: Obsidian
) -> None:
    obsidian.companion = False
    with pytest.raises(ToolError, match=r"uses tp\.web\.daily_quote\(\) in line 1") as missing:
        run(call)
    assert missing.value.code == "plugin_missing"


def test_a_vault_that_works_without_obsidian_says_so(call: Calls, obsidian: Obsidian) -> None:
    obsidian.serve(call, mode="headless")
    with pytest.raises(ToolError, match=r"uses tp\.web\.daily_quote\(\) in line 1") as missing:
        run(call)
    assert missing.value.code == "requires_live_obsidian"
