from typing import Any

import pytest

from knapper import Bridge, Caller, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_commands import commands

PALETTE = [
    {"id": "workspace:split", "name": "Split"},
    {"id": "daily-notes", "name": "Open today's note"},
    {"id": "editor:save-file", "name": "Save current file", "hotkey": "Mod+S"},
]


class LivePalette:
    """Stands for the palette of a running Obsidian."""

    def __init__(self, listed: Any = None, done: Any = None) -> None:
        self.listed = {"items": PALETTE} if listed is None else listed
        self.done = (
            {"command_id": "daily-notes", "fired_at": "2024-03-15T10:30:00Z"} if done is None else done
        )
        self.fired: list[str] = []

    def list(self) -> Any:
        return self.listed

    def execute(self, command_id: str) -> Any:
        self.fired.append(command_id)
        return self.done

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("commands", "commands", lambda settings: self)


def allow(call: Calls, vault: VaultFolder, *ids: str, enabled: bool = True, **more: Any) -> None:
    allowed = {"enabled": enabled, "allowlist": [*ids]}
    call.settings["vaults"] = [{"id": "main", "path": str(vault.path), "commands": allowed, **more}]


@pytest.fixture
def palette(call: Calls) -> LivePalette:
    found = LivePalette()
    call.plugins.append(found)
    return found


def test_commands_are_listed_by_their_ids(call: Calls, palette: LivePalette) -> None:
    assert call(commands, "list_commands")["items"] == [
        {"id": "daily-notes", "name": "Open today's note"},
        {"id": "editor:save-file", "name": "Save current file", "plugin": "editor", "hotkey": "Mod+S"},
        {"id": "workspace:split", "name": "Split", "plugin": "workspace"},
    ]


def test_a_filter_looks_at_ids_and_names_whatever_their_case(call: Calls, palette: LivePalette) -> None:
    for filter, ids in (("EDITOR:", ["editor:save-file"]), ("open TODAY", ["daily-notes"]), ("nothing", [])):
        found = call(commands, "list_commands", filter=filter)
        assert ([item["id"] for item in found["items"]], found["total_count"]) == (ids, len(ids))


def test_the_list_comes_in_pages(call: Calls, palette: LivePalette) -> None:
    first = call(commands, "list_commands", limit=2)
    rest = call(commands, "list_commands", limit=2, cursor=first["cursor"])
    assert [item["id"] for item in rest["items"]] == ["workspace:split"]
    assert (rest["total_count"], "cursor" in rest) == (3, False)


def test_commands_are_listed_though_none_may_run(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, enabled=False)
    assert call(commands, "list_commands")["total_count"] == 3


def test_without_a_bridge_the_error_says_what_to_install(call: Calls) -> None:
    with pytest.raises(ToolError, match="no bridge to 'commands' is installed") as refused:
        call(commands, "list_commands")
    assert refused.value.code == "plugin_missing"
    assert refused.value.details["hint"] == "pip install knapper-bridge-commands"


@pytest.mark.parametrize("answer", [[], {"items": [{"id": "x"}]}, {"items": [{"id": 1, "name": "x"}]}, "?"])
def test_a_list_of_another_shape_is_no_answer(call: Calls, answer: Any) -> None:
    call.plugins.append(LivePalette(listed=answer))
    with pytest.raises(ToolError, match="gave an answer of another shape") as refused:
        call(commands, "list_commands")
    assert refused.value.code == "plugin_unreachable"


def test_commands_are_off_until_the_operator_enables_them(call: Calls, palette: LivePalette) -> None:
    with pytest.raises(ToolError, match="commands are off for the vault 'main'") as refused:
        call(commands, "execute_command", command_id="daily-notes")
    assert (refused.value.code, refused.value.details) == ("execute_command_disabled", {"vault": "main"})


def test_an_allow_list_does_not_enable_commands(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, "daily-notes", enabled=False)
    with pytest.raises(ToolError) as refused:
        call(commands, "execute_command", command_id="daily-notes")
    assert refused.value.code == "execute_command_disabled"


@pytest.mark.parametrize("asked", ["daily-note", "Daily-Notes", "daily-notes ", "editor:save-file", "*"])
def test_only_exact_ids_may_run(call: Calls, vault: VaultFolder, palette: LivePalette, asked: str) -> None:
    allow(call, vault, "daily-notes", "editor:*", "daily-*")
    with pytest.raises(ToolError, match=r"is not in commands\.allowlist of the vault 'main'") as refused:
        call.confirmed(commands, "execute_command", command_id=asked)
    assert (refused.value.code, refused.value.details) == ("command_not_allowlisted", {"command_id": asked})
    assert palette.fired == []


def test_what_is_refused_asks_nobody(call: Calls, vault: VaultFolder, palette: LivePalette) -> None:
    allow(call, vault, "daily-notes")
    for arguments in ({"command_id": "app:reload"}, {"command_id": "daily-notes", "args": {"a": 1}}):
        with pytest.raises(ToolError):
            call(commands, "execute_command", **arguments)
    with call.runtime(commands).state.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM confirmations").scalar() == 0


def test_each_run_needs_a_persons_word_of_its_own(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, "daily-notes")
    with pytest.raises(ToolError) as asked:
        call(commands, "execute_command", command_id="daily-notes")
    assert (asked.value.code, palette.fired) == ("elicit_required", [])
    done = call.confirmed(commands, "execute_command", command_id="daily-notes")
    assert done == {"command_id": "daily-notes", "fired_at": "2024-03-15T10:30:00Z"}
    with pytest.raises(ToolError) as again:
        call(commands, "execute_command", command_id="daily-notes")
    assert (again.value.code, palette.fired) == ("elicit_required", ["daily-notes"])


def test_where_nobody_says_when_it_ran_the_server_does(call: Calls, vault: VaultFolder) -> None:
    allow(call, vault, "daily-notes")
    call.plugins.append(LivePalette(done={"plugin_response": {"opened": True}}))
    call.runtime(commands).clock = lambda: 1710498600.0
    assert call.confirmed(commands, "execute_command", command_id="daily-notes") == {
        "command_id": "daily-notes",
        "fired_at": "2024-03-15T10:30:00Z",
        "plugin_response": {"opened": True},
    }


def test_an_answer_of_another_shape_to_a_run_is_no_answer(call: Calls, vault: VaultFolder) -> None:
    allow(call, vault, "daily-notes")
    call.plugins.append(LivePalette(done={"fired_at": 7}))
    with pytest.raises(ToolError, match="gave an answer of another shape") as refused:
        call.confirmed(commands, "execute_command", command_id="daily-notes")
    assert refused.value.code == "plugin_unreachable"


def test_arguments_are_refused_for_commands_take_none(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, "daily-notes")
    with pytest.raises(ToolError, match="commands take no arguments") as refused:
        call.confirmed(commands, "execute_command", command_id="daily-notes", args={"date": "today"})
    assert (refused.value.code, palette.fired) == ("invalid_input", [])
    call.confirmed(commands, "execute_command", command_id="daily-notes", args={})
    assert palette.fired == ["daily-notes"]


def test_the_right_to_list_is_not_the_right_to_run(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, "daily-notes")
    call.caller = Caller("reader", frozenset({"read:command"}), authenticated=True)
    assert call(commands, "list_commands")["total_count"] == 3
    with pytest.raises(ToolError) as refused:
        call(commands, "execute_command", command_id="daily-notes")
    assert (refused.value.code, refused.value.details) == ("forbidden", {"required": ["execute:command"]})


def test_a_vault_that_takes_no_writes_runs_no_commands(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, "daily-notes", acl={"read_only": True})
    with pytest.raises(ToolError) as refused:
        call.confirmed(commands, "execute_command", command_id="daily-notes")
    assert (refused.value.code, palette.fired) == ("forbidden", [])


def test_what_another_vault_allows_does_not_count(
    call: Calls, vault: VaultFolder, palette: LivePalette
) -> None:
    allow(call, vault, "daily-notes")
    other = {"id": "other", "path": str(vault.path.parent / "other")}
    vault.path.parent.joinpath("other").mkdir()
    call.settings["vaults"].append(other)
    with pytest.raises(ToolError) as refused:
        call(commands, "execute_command", command_id="daily-notes", vault="other")
    assert (refused.value.code, refused.value.details) == ("execute_command_disabled", {"vault": "other"})


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(commands)
