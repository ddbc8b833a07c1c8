"""Every failure a caller can see, in one tree and one table.

    KnapperError
    ├── ConfigError          the configuration is wrong; the command line exits 2
    ├── PluginError          a plugin cannot be used; it costs only itself
    └── ToolError            a call failed; carries a code of the table below

A message says what failed, whose it is and what to do. It never holds a note's text, an absolute path or a secret.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class KnapperError(Exception):
    """Root of what knapper raises on purpose."""


class ConfigError(KnapperError):
    """The configuration cannot be used; each issue names its key."""

    def __init__(self, *issues: str) -> None:
        super().__init__("; ".join(issues))
        self.issues = list(issues)


class PluginError(KnapperError):
    """A distribution cannot be used as a plugin, and why."""


class ToolError(KnapperError):
    """A call failed in a way its caller can understand: a code, a sentence, and details as JSON."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    def envelope(self) -> dict[str, Any]:
        """The error as clients receive it."""
        known = CODES.get(self.code, CODES["internal"])
        body: dict[str, Any] = {"code": self.code, "message": self.message, "retryable": known.retryable}
        if self.details:
            body["details"] = self.details
        if known.recovery:
            body["recovery"] = known.recovery
        return body


class Code(NamedTuple):
    """What an error code means, whether the same call may work later, and what the caller can do."""

    meaning: str
    retryable: bool = False
    recovery: str = ""
    number: int | None = None  # the JSON-RPC number, for contracts that publish one


class Refusal(NamedTuple):
    """How one contract of its own publishes a code: as a JSON-RPC error with this number, under this name."""

    number: int
    name: str = ""


def define(
    code: str, meaning: str, *, retryable: bool = False, recovery: str = "", number: int | None = None
) -> str:
    """Add a domain's own code to the table; the same code twice must mean the same."""
    entry = Code(meaning, retryable, recovery, number)
    if CODES.setdefault(code, entry) != entry:
        raise PluginError(f"error code {code!r} is already defined with another meaning")
    return code


CODES: dict[str, Code] = {
    "unauthorized": Code("The tool needs an authenticated caller.", recovery="Send a bearer token."),
    "forbidden": Code(
        "A scope is missing, the vault is not the caller's, or the vault is read-only.",
        recovery="Ask the operator for the scopes named in details, or use a vault you may write.",
    ),
    "validation_error": Code(
        "The arguments do not fit the tool's schema.", recovery="Correct the fields named in details.issues."
    ),
    "not_found": Code(
        "There is no such tool for this caller.", recovery="Look the name up with find_capability."
    ),
    "vault_not_found": Code(
        "No vault has this id, or its folder is gone.", recovery="Use an id of a configured vault."
    ),
    "conflict": Code(
        "Stored state does not fit this version.",
        recovery="Restore a backup, or use the version that wrote it.",
    ),
    "idempotency_key_mismatch": Code(
        "The key was used before with another tool or other arguments.",
        recovery="Use a new key for a new call.",
    ),
    "idempotency_in_flight": Code(
        "A call with this key is still running.",
        retryable=True,
        recovery="Wait, then send the same call again.",
    ),
    "indeterminate_outcome": Code(
        "An earlier attempt may have taken effect.",
        recovery="Check the state first; then use a new key if it is still needed.",
    ),
    "elicit_required": Code(
        "A person has to confirm this call.",
        recovery="Ask the user to run `knapper approvals`, then send the same call again.",
    ),
    "elicit_invalid": Code(
        "The confirmation does not fit this call.", recovery="Ask for a new confirmation."
    ),
    "overflow": Code(
        "The answer is larger than the byte limit.",
        recovery="Ask for less: a smaller limit, a page, fewer fields.",
    ),
    "throttled": Code(
        "Too many calls of this class.", retryable=True, recovery="Wait for details.retry_after_seconds."
    ),
    "read_only": Code("The server does not write.", recovery="Run it on a server that may write."),
    "read_only_mode": Code("The vault does not take writes.", recovery="Use a vault you may write."),
    "acl_denied": Code("The folder rules do not allow this path.", recovery="Use a path you have access to."),
    "plugin_missing": Code(
        "This needs an Obsidian plugin or engine that is not there.",
        recovery="Install what details.plugin names.",
    ),
    "plugin_unreachable": Code(
        "Obsidian did not answer.", retryable=True, recovery="Start Obsidian, then try again."
    ),
    "plugin_incompatible": Code(
        "The companion speaks another version.", recovery="Update the companion plugin."
    ),
    "requires_live_obsidian": Code(
        "This vault is configured to work without Obsidian.", recovery="Use a native tool."
    ),
    "note_not_found": Code(
        "There is no file at this path.", recovery="Use one of details.suggestions, or list the folder."
    ),
    "note_exists": Code(
        "The target is taken.", recovery="Choose another path, or overwrite: describe_capability shows how."
    ),
    "path_invalid": Code(
        "The path cannot be used.", recovery="Use a path relative to the vault, with forward slashes."
    ),
    "path_ambiguous": Code("The name fits several notes.", recovery="Use one of details.candidates."),
    "concurrent_modification": Code(
        "The file has changed since it was read.",
        retryable=True,
        recovery="Read it again and repeat the change on what is there.",
    ),
    "invalid_input": Code(
        "The arguments are well-formed but make no sense here.", recovery="Correct what the message names."
    ),
    "content_rejected": Code(
        "The text looks like an injected instruction.", recovery="Remove what details.signals names."
    ),
    "index_unavailable": Code(
        "The index of the vault is damaged and is being built anew from the files.",
        retryable=True,
        recovery="Try again in a moment; server_health says how far it is.",
    ),
    "embedding_provider_error": Code(
        "The embedding model failed.", retryable=True, recovery="Try again, or use text search."
    ),
    "operation_timeout": Code("Another service took too long.", retryable=True, recovery="Try again later."),
    "dql_error": Code("The Dataview query is wrong.", recovery="Correct it at the line and column named."),
    "jsonlogic_error": Code(
        "The JsonLogic rule is wrong or too large.", recovery="Correct the operator named in details."
    ),
    "bases_syntax_error": Code("The base is not valid.", recovery="Correct what details.issues names."),
    "unsupported_base_filter": Code(
        "The base uses something this engine does not know.", recovery="Rewrite the expression."
    ),
    "execute_command_disabled": Code(
        "Commands are off for this vault.", recovery="The operator can enable them."
    ),
    "command_not_allowlisted": Code(
        "The command is not on the allow-list.", recovery="The operator can add its exact id."
    ),
    "compute_budget_exceeded": Code(
        "The work was stopped at its budget.", recovery="Ask for something simpler or narrower."
    ),
    "aborted": Code(
        "The caller cancelled.", retryable=True, recovery="Send the call again if it is still wanted."
    ),
    "bulk_partial": Code("Some items failed.", recovery="Repeat the items that details names."),
    "internal": Code(
        "Something failed inside; the operator's log has it.",
        retryable=True,
        recovery="Try again; then tell the operator.",
    ),
    "internal_error": Code(
        "A tool broke its own contract.", retryable=True, recovery="Try again; then tell the operator."
    ),
}
