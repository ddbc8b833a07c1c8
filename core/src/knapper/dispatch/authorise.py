"""Who may call what, in which vault, and on which paths. Nothing is spent before these have passed."""

from __future__ import annotations

from knapper.dispatch.call import Call
from knapper.errors import ToolError
from knapper.index.rows import is_note
from knapper.touches import Access


def authenticated(call: Call) -> None:
    if call.tool.scopes and not call.caller.authenticated:
        raise ToolError("unauthorized", f"{call.name} needs an authenticated caller")


def scopes(call: Call) -> None:
    missing = [scope for scope in call.tool.scopes if not call.caller.may(scope)]
    if missing:
        raise ToolError(
            "forbidden", f"{call.name} needs the scope {missing[0]!r}", required=list(call.tool.scopes)
        )


def vault(call: Call) -> None:
    """The vault the call names, else the caller's, else the default; a bound caller has only its own."""
    named = getattr(call.args, "vault", None) or call.tool.home or None
    bound = call.caller.vault
    if call.tool.domain.find_vault is not None:
        named = call.tool.domain.find_vault(call.runtime.view, call.caller, named)
    if named and bound and named != bound:
        raise ToolError(
            "forbidden", f"this caller is bound to the vault {bound!r}", vault=named, bound_vault=bound
        )
    call.vault = call.runtime.vaults.get(named or bound)


def writable(call: Call) -> None:
    """The read-only switch stops every tool that changes something, whatever its paths."""
    if not call.tool.mutating:
        return
    if call.vault.acl.read_only:
        raise ToolError("forbidden", f"the vault {call.vault.id!r} is read-only", vault=call.vault.id)
    if call.vault.kind in ("docs", "system"):
        raise ToolError(
            "forbidden",
            f"the vault {call.vault.id!r} holds {call.vault.kind} notes",
            vault=call.vault.id,
            kind=call.vault.kind,
        )


def paths(call: Call) -> None:
    """Every path among the arguments is resolved and checked against the folder rules, from the parameter types alone."""
    call.tool.signature.visit(call.args, lambda access, path: _checked(call, access, path))


def _checked(call: Call, access: Access, given: str) -> str:
    door = call.context().vault
    path = call.vault.find_note(given, call.caller, door) if access.by_name else given
    path = door.authorise(access.op, path)
    if access.note and not is_note(path):
        raise ToolError("invalid_input", f"{path!r} is not a note: notes end in .md", path=path)
    return path


def precheck(call: Call) -> None:
    """The tool's own reasons to refuse, before a key, a token or a confirmation is used up."""
    if call.tool.precheck is not None:
        call.tool.precheck(call.context(), call.args)
