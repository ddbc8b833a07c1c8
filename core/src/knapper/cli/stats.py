"""`knapper stats`: how often each tool was called, how it ended, and how long it took."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import click

from knapper.cli._names import check
from knapper.cli._options import as_json, source
from knapper.cli._source import one_state, opened, vault_ids
from knapper.cli._terminal import print_json, table

if TYPE_CHECKING:
    from knapper.store.stats import Stats

UNITS = {"m": 60, "h": 3600, "d": 86_400}


def span(value: str) -> int:
    """Seconds of a span back from now: 30m, 24h, 7d."""
    found = re.fullmatch(r"(\d+)([mhd])", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a span such as 30m, 24h or 7d")
    return int(found[1]) * UNITS[found[2]]


@click.command("stats")
@source
@click.option("--since", type=span, help="Only calls of this span: 30m, 24h, 7d.")
@click.option("--vault", help="Only calls to this vault.")
@as_json
def command(path: str | None, since: int | None, vault: str | None, as_json: bool) -> None:
    """Show calls, errors and times a tool, the slowest tools first."""
    from knapper.store.stats import Stats

    with opened(one_state(path)) as state:
        rows = collect(Stats(state), time.time() - since if since else 0, vault)
        if vault is not None and not rows:
            check("vault", vault, vault_ids(path, state))
    if as_json:
        print_json(rows)
    elif not rows:
        click.echo("No call has been logged.")
    else:
        _show(rows)


def collect(stats: Stats, since: float, vault: str | None) -> list[dict[str, Any]]:
    """A row a tool, slowest first by the 95th percentile."""
    rows: dict[str, dict[str, Any]] = {}
    for count in stats.counts(since=since, vault=vault):
        row = rows.setdefault(
            count.tool,
            {
                "tool": count.tool,
                "calls": 0,
                "ok": 0,
                "denied": 0,
                "error": 0,
                "p50_us": None,
                "p95_us": None,
            },
        )
        row["calls"] += count.calls
        row[count.status] = row.get(count.status, 0) + count.calls
    for latency in stats.latencies(since=since, vault=vault):
        rows[latency.tool] |= {"p50_us": latency.p50_us, "p95_us": latency.p95_us}
    return sorted(rows.values(), key=lambda r: (-(r["p95_us"] or 0), r["tool"]))


def _show(rows: list[dict[str, Any]]) -> None:
    heads = ["tool", "calls", "denied", "errors", "median ms", "p95 ms"]
    table(
        heads,
        [[r["tool"], r["calls"], r["denied"], r["error"], _ms(r["p50_us"]), _ms(r["p95_us"])] for r in rows],
        numbers=heads[1:],
    )
    total, failed = sum(r["calls"] for r in rows), sum(r["error"] for r in rows)
    click.echo(f"{total} calls of {len(rows)} tools, {failed} failed")


def _ms(microseconds: int | None) -> str:
    return "" if microseconds is None else f"{microseconds / 1000:.1f}"
