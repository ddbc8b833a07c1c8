"""`knapper elicit`: a single-use token that confirms one call. Whoever can open the state may confirm."""

from __future__ import annotations

import re
import time

import click

from knapper.cli._names import check
from knapper.cli._options import as_json, source
from knapper.cli._source import STATE, opened
from knapper.cli._terminal import print_json, stamp
from knapper.config.load import load
from knapper.config.paths import cache_dir

HASH = re.compile(r"[0-9a-f]{32}")


@click.command("elicit")
@source
@click.option("--hash", "args_hash", required=True, help="The args_hash of the elicit_required error.")
@click.option("--tool", required=True, help="The tool that was called.")
@click.option("--vault", help="The vault of the call; needed where there are several.")
@click.option("--caller", default="stdio", show_default=True, help="Who called.")
@as_json
def command(
    path: str | None, args_hash: str, tool: str, vault: str | None, caller: str, as_json: bool
) -> None:
    """Mint the token that lets exactly one call through once; the token goes to stdout."""
    from knapper.store.audit import Audit, AuditRow
    from knapper.store.confirmations import Approvals

    settings = load(path).settings
    if not HASH.fullmatch(args_hash):
        raise click.UsageError("--hash takes the 32 hex digits of args_hash in the error's details")
    ids = [one.id for one in settings.vaults]
    if vault is None and len(ids) > 1:
        raise click.UsageError(f"--vault is needed: one of {', '.join(ids)}")
    chosen = vault or ids[0]
    check("vault", chosen, ids)
    with opened(cache_dir(settings) / STATE) as state:
        token = Approvals(state, settings.elicit_ttl_seconds).mint(chosen, tool, args_hash, caller)
        now = time.time()
        row = AuditRow(
            ts=now,
            status="ok",
            vault_id=chosen,
            tool=tool,
            caller=caller,
            args_hash=args_hash,
            event_type="elicit_minted",
        )
        with state.write() as conn:
            Audit(state).write(conn, row)
    expires = now + settings.elicit_ttl_seconds
    if as_json:
        print_json(
            {"token": token, "vault": chosen, "tool": tool, "caller": caller, "expires_at": int(expires)}
        )
    else:
        click.echo(token)
        click.echo(f"Send it as elicit_token with the same call, before {stamp(expires)}.", err=True)
