"""The obsidian domain itself: its settings, its error numbers, and how it names vaults; the tools are beside it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import Field, PositiveFloat, field_validator

from knapper import Domain, Record, Section, Tool
from knapper.errors import Refusal
from knapper_obsidian.vaults import find_vault

T = TypeVar("T")
# Seconds; a move may rewrite links all over the vault.
TIMEOUTS = {
    "obsidian_create_note": 30.0,
    "obsidian_read_note": 10.0,
    "obsidian_append_note": 30.0,
    "obsidian_prepend_note": 30.0,
    "obsidian_delete_note": 30.0,
    "obsidian_move_note": 60.0,
    "obsidian_rename_note": 60.0,
    "obsidian_open_note": 30.0,
    "obsidian_file_info": 10.0,
}
BAD_PARAMS = Refusal(-32602)
NOT_RUNNING = Refusal(-32001, "OBSIDIAN_NOT_RUNNING")
DENIED = Refusal(-32005, "PERMISSION_DENIED")
REFUSALS = {
    "validation_error": BAD_PARAMS,
    "invalid_input": BAD_PARAMS,
    "path_invalid": BAD_PARAMS,
    "internal": Refusal(-32603),
    "internal_error": Refusal(-32603),
    "plugin_unreachable": NOT_RUNNING,
    "plugin_missing": NOT_RUNNING,
    "vault_not_found": Refusal(-32002, "VAULT_NOT_FOUND"),
    "vault_ambiguous": Refusal(-32002, "VAULT_AMBIGUOUS"),
    "note_not_found": Refusal(-32003, "FILE_NOT_FOUND"),
    "path_ambiguous": Refusal(-32004, "AMBIGUOUS_NAME"),
    "acl_denied": DENIED,
    "forbidden": DENIED,
    "read_only": DENIED,
    "read_only_mode": DENIED,
    "unauthorized": DENIED,
    "operation_timeout": Refusal(-32006, "TIMEOUT"),
    "note_exists": Refusal(-32000, "FILE_EXISTS"),
    "*": Refusal(-32000),
}


class ObsidianSettings(Section):
    """How long each tool may work, and what opens a link where Obsidian itself cannot be asked."""

    timeouts: dict[str, PositiveFloat] = Field(
        default={}, description="Seconds that a tool may work, by its name; the others keep their defaults."
    )
    opener: list[str] = Field(
        default=[],
        description="The program, and its arguments, that opens an obsidian:// link on the server's machine,"
        " such as xdg-open. Without one the link is handed back.",
    )

    @field_validator("timeouts")
    @classmethod
    def _known(cls, given: dict[str, float]) -> dict[str, float]:
        unknown = sorted(given.keys() - TIMEOUTS.keys())
        if unknown:
            raise ValueError(f"there is no tool {unknown[0]!r}; there are {', '.join(TIMEOUTS)}")
        return given


def _limit(settings: Any, tool: Tool) -> float:
    return float(settings.timeouts.get(tool.name, TIMEOUTS[tool.name]))


obsidian = Domain(
    "obsidian",
    summary="The obsidian_* tools of an existing contract: notes by name or path.",
    settings=ObsidianSettings,
    refusals=REFUSALS,
    find_vault=find_vault,
    limit=_limit,
)


class Done(Record, Generic[T]):
    """What the contract wraps every answer in."""

    success: bool
    data: T


def done(data: T) -> Done[T]:
    return Done(success=True, data=data)
