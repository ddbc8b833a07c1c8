"""`knapper approvals`: what waits for a person's word, what it would change, and the word itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from knapper.cli._names import check
from knapper.cli._options import as_json, named_source
from knapper.cli._source import opened, state_files, usable, vault_ids
from knapper.cli._terminal import console, print_json, stamp, table
from knapper.config.model import Settings
from knapper.errors import ToolError

if TYPE_CHECKING:
    from knapper.store.confirmations import Approval, Approvals
    from knapper.store.state import State


TTL: int = Settings.model_fields["elicit_ttl_seconds"].default


@click.group("approvals", invoke_without_command=True)
@named_source
@as_json
@click.pass_context
def command(ctx: click.Context, path: str | None, as_json: bool) -> None:
    """List, show, approve or deny the calls that wait for a person.

    Without --config the requests of every vault served on this machine are found.
    """
    ctx.obj = path
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, as_json=as_json)


@command.command("list")
@as_json
@click.option("--vault", help="Only this vault's.")
@click.pass_obj
def list_(path: str | None, as_json: bool, vault: str | None = None) -> None:
    """List what waits for a decision, oldest first."""
    found: list[Approval] = []
    known: set[str] = set()
    for file in state_files(path):
        with _approvals(file, path) as (state, approvals):
            found += approvals.list(vault)
            known |= vault_ids(path, state)
    if vault is not None and not found:
        check("vault", vault, known)
    if as_json:
        print_json([approval._asdict() for approval in found])
    elif not found:
        click.echo("Nothing waits for a decision.")
    else:
        rows = [[a.id, a.vault, a.tool, a.caller, stamp(a.created_at), stamp(a.expires_at)] for a in found]
        table(["request", "vault", "tool", "caller", "asked", "until"], rows)


@command.command("show")
@click.argument("request")
@as_json
@click.pass_obj
def show(path: str | None, request: str, as_json: bool) -> None:
    """Show one request: the call, and what it would change."""
    with _holding(request, path) as (_, _, approval):
        if as_json:
            print_json(approval._asdict())
        else:
            _show(approval)


@command.command("approve")
@click.argument("request")
@click.option("--yes", is_flag=True, help="Do not ask after showing it.")
@click.pass_obj
def approve(path: str | None, request: str, yes: bool) -> None:
    """Let exactly this call through once; its caller then sends it again."""
    with _holding(request, path) as (state, approvals, approval):
        _show(approval)
        if not yes:
            click.confirm("Let this call through once?", abort=True)
        done = approvals.approve(request, seen=approval.digest)
        _record(state, "approval_approved", done)
    click.echo(f"Approved until {stamp(done.expires_at)}. The client can send the same call again now.")


@command.command("deny")
@click.argument("request")
@click.pass_obj
def deny(path: str | None, request: str) -> None:
    """Close a request without letting the call through."""
    with _holding(request, path) as (state, approvals, _):
        _record(state, "approval_denied", approvals.deny(request))
    click.echo("Denied.")


@contextmanager
def _approvals(file: Path, path: str | None) -> Iterator[tuple[State, Approvals]]:
    from knapper.store.confirmations import Approvals

    loaded = usable(path)
    seconds = loaded.settings.elicit_ttl_seconds if loaded else TTL
    with opened(file) as state:
        yield state, Approvals(state, seconds)


@contextmanager
def _holding(request: str, path: str | None) -> Iterator[tuple[State, Approvals, Approval]]:
    """The request, and the state it is in."""
    for file in state_files(path):
        with _approvals(file, path) as (state, approvals):
            try:
                approval = approvals.show(request)
            except ToolError:
                continue
            yield state, approvals, approval
            return
    raise ToolError("elicit_invalid", f"there is no request {request!r}; `knapper approvals` lists them")


def _record(state: State, event: str, approval: Approval) -> None:
    """What a person decided is in the same log as what was done with it."""
    from knapper.store.audit import Audit, AuditRow

    row = AuditRow(
        ts=time.time(),
        status="ok",
        vault_id=approval.vault,
        tool=approval.tool,
        caller=approval.caller,
        args_hash=approval.args_hash,
        event_type=event,
    )
    with state.write() as conn:
        Audit(state).write(conn, row)


def _show(approval: Approval) -> None:
    lines: list[tuple[str, Any]] = [
        ("request", approval.id),
        ("state", "used" if approval.consumed_at else approval.state),
        ("tool", approval.tool),
        ("vault", approval.vault),
        ("caller", approval.caller),
        ("asked", stamp(approval.created_at)),
        ("until", stamp(approval.expires_at)),
    ]
    for name, value in lines:
        click.echo(f"{name + ':':9}{_visible(str(value))}")
    if approval.change:
        click.echo("change:")
        click.echo(_visible(msgspec.json.format(msgspec.json.encode(approval.change), indent=2).decode()))
    if approval.diff:
        click.echo("diff:")
        _show_diff(approval.diff)


def _show_diff(diff: str) -> None:
    from rich.text import Text

    colours = {"+": "green", "-": "red", "@": "cyan"}
    shown = console()
    for line in diff.splitlines():
        shown.print(Text(_visible(line), style=colours.get(line[:1], "")), soft_wrap=True)


def _visible(text: str) -> str:
    """What an agent wrote is shown as it is, but can neither move the cursor nor hide a line from the reader."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04x}" for c in text)
