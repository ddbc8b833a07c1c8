"""What authors of plugins test with is itself held to what it promises."""

from __future__ import annotations

import pytest

from knapper import Caller, Context, Domain, ReadPath, ToolError, hookimpl
from knapper.sinks import CallRecord, Event, Sink
from knapper.testing import Calls, VaultFolder

kit = Domain("kit", summary="Tools to test the test kit with.")


@kit.tool("read:notes")
def read_all(ctx: Context, path: ReadPath) -> str:
    """Read a note."""
    return ctx.vault.read(path).text


@kit.tool("write:kit", destructive=True, reach="nothing")
def burn(ctx: Context, what: str) -> dict[str, str]:
    """Burn something."""
    return {"burnt": what}


@kit.tool(vault=False)
def lie(ctx: Context) -> int:
    """Return something else than it says."""
    return "not a number"  # type: ignore[return-value]


@kit.tool(vault=False)
def from_and_to(ctx: Context, from_: int, to: int) -> list[int]:
    """Count up."""
    return list(range(from_, to))


def test_the_vault_is_a_real_folder_that_reads_and_writes_like_a_dict(vault: VaultFolder) -> None:
    vault["Folder/a.md"] = "text"
    vault["b.bin"] = b"\x00\xff"
    assert (vault.path / "Folder" / "a.md").read_text() == "text"
    assert (vault["Folder/a.md"], vault.bytes("b.bin")) == ("text", b"\x00\xff")
    assert list(vault) == ["Folder/a.md", "b.bin"]
    assert len(vault) == 2
    del vault["b.bin"]
    assert "b.bin" not in vault
    with pytest.raises(KeyError, match=r"b\.bin"):
        vault["b.bin"]


def test_line_endings_are_written_as_they_are_given(vault: VaultFolder) -> None:
    vault["a.md"] = "one\r\ntwo\n"
    assert vault.bytes("a.md") == b"one\r\ntwo\n"


def test_what_is_written_between_two_calls_is_seen_by_the_second(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "first"
    assert call(kit, "read_all", path="a.md") == "first"
    vault["a.md"] = "second"
    assert call(kit, "read_all", path="a.md") == "second"


def test_an_error_is_raised_with_its_code_message_and_details(call: Calls) -> None:
    with pytest.raises(ToolError) as raised:
        call(kit, "read_all", path="gone.md")
    assert raised.value.code == "note_not_found"
    assert raised.value.details["path"] == "gone.md"


def test_the_caller_can_be_another(call: Calls) -> None:
    call.caller = Caller("ann", frozenset({"write"}), authenticated=True)
    with pytest.raises(ToolError) as raised:
        call(kit, "read_all", path="a.md")
    assert (raised.value.code, raised.value.details) == ("forbidden", {"required": ["read:notes"]})


def test_confirmed_gives_a_persons_word_and_only_where_it_is_asked_for(
    call: Calls, vault: VaultFolder
) -> None:
    with pytest.raises(ToolError) as raised:
        call(kit, "burn", what="straw")
    assert raised.value.code == "elicit_required"
    assert call.confirmed(kit, "burn", what="straw") == {"burnt": "straw"}
    with pytest.raises(ToolError) as raised:
        call.confirmed(kit, "read_all", path="gone.md")
    assert raised.value.code == "note_not_found"


def test_a_result_that_breaks_its_own_schema_fails_the_test(call: Calls) -> None:
    with pytest.raises(ToolError) as raised:
        call(kit, "lie")
    assert raised.value.code == "internal_error"
    assert "lie broke its output schema" in raised.value.message


def test_a_name_that_is_a_keyword_of_python_is_passed_with_an_underscore(call: Calls) -> None:
    assert call(kit, "from_and_to", from_=1, to=3) == [1, 2]


def test_only_the_given_domain_is_loaded(call: Calls) -> None:
    assert set(call.runtime(kit).tools) == {"read_all", "burn", "lie", "from_and_to"}


def test_other_plugins_can_be_loaded_beside_it(call: Calls) -> None:
    seen: list[str] = []

    class Observer:
        def call(self, record: CallRecord) -> None:
            seen.append(record.tool)

        def event(self, event: Event) -> None:
            seen.append(event.type)

        def close(self) -> None:
            seen.append("closed")

    class Watching:
        @hookimpl
        def knapper_sinks(self) -> Sink:
            return Sink("watching", lambda server: Observer())

    call.plugins = [Watching()]
    call(kit, "from_and_to", from_=1, to=2)
    call.close()
    assert seen == ["from_and_to", "closed"]


def test_the_whole_outcome_can_be_looked_at(call: Calls) -> None:
    outcome = call.outcome(kit, "from_and_to", from_=1, to=3)
    assert (outcome.payload, outcome.error, outcome.replayed) == (b'{"result":[1,2]}', None, False)
    assert outcome.result_size == len(outcome.payload)
