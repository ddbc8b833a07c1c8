"""Domains that keep a contract of their own: how it names vaults, and how it publishes errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from knapper import Caller, Context, Domain, ToolError
from knapper.errors import Refusal
from knapper.server.results import of_outcome
from knapper.server.view import ServerView
from knapper.server.wire import ProtocolError
from knapper.testing import Calls, VaultFolder


def by_first_letter(server: ServerView, caller: Caller, named: str | None) -> str | None:
    """Vaults as the contract under test names them."""
    found = [one.id for one in server.visible_vaults(caller) if one.id[0] == named]
    if named is not None and not found:
        raise ToolError("vault_not_found", f"there is no vault {named!r}", vault=named)
    return found[0] if found else None


def contract() -> Domain:
    domain = Domain(
        "contract",
        summary="Keep a contract.",
        find_vault=by_first_letter,
        refusals={"vault_not_found": Refusal(-32002, "VAULT"), "*": Refusal(-32000)},
    )

    @domain.tool("read:notes")
    def where(ctx: Context) -> str:
        """Say which vault this is."""
        return ctx.vault.vault

    @domain.tool("read:notes")
    def refuse(ctx: Context) -> str:
        """Refuse."""
        raise ToolError("note_exists", "it is there", path="a.md")

    return domain


@pytest.fixture
def two(call: Calls, vault: VaultFolder, tmp_path: Path) -> Calls:
    other = tmp_path / "other"
    other.mkdir()
    vaults = [{"id": "main", "path": str(vault.path)}, {"id": "other", "path": str(other)}]
    call.settings = {"vaults": vaults}
    return call


def test_a_domain_may_name_vaults_in_its_own_way(two: Calls) -> None:
    domain = contract()
    assert two(domain, "where", vault="o") == "other"
    assert two(domain, "where") == "main"


def test_a_bound_caller_stays_in_its_vault_however_it_is_named(two: Calls) -> None:
    domain = contract()
    two.caller = Caller("bound", frozenset({"*"}), authenticated=True, vault="other")
    assert two(domain, "where") == "other"
    with pytest.raises(ToolError) as raised:
        two(domain, "where", vault="m")
    assert raised.value.code == "vault_not_found"


def test_an_error_is_published_with_the_contracts_number_and_name(two: Calls) -> None:
    with pytest.raises(ProtocolError) as raised:
        of_outcome(two.outcome(contract(), "where", vault="x"), "2025-11-25")
    assert (raised.value.code, raised.value.message) == (-32002, "there is no vault 'x'")
    assert raised.value.data == {
        "vault": "x",
        "code": "vault_not_found",
        "retryable": False,
        "recovery": "Use an id of a configured vault.",
        "errorCode": "VAULT",
    }


def test_every_other_error_has_the_number_for_the_rest(two: Calls) -> None:
    with pytest.raises(ProtocolError) as raised:
        of_outcome(two.outcome(contract(), "refuse"), "2025-11-25")
    assert (raised.value.code, raised.value.data["errorCode"]) == (-32000, "NOTE_EXISTS")
