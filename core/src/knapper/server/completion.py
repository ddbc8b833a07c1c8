"""Completion of what a person types into a prompt's or a template's field: paths, folders, tags, vaults."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from knapper.context import Context
from knapper.page import Page, Record
from knapper.server.exchange import Exchange
from knapper.server.surface import core, governed, through_gates
from knapper.server.wire import INVALID_PARAMS, ProtocolError

MOST = 100


class Completed(Record, rename="camel", omit_defaults=False):
    """The best values first, and how many there are."""

    values: list[str]
    total: int
    has_more: bool


class Completion(Record):
    """What completion/complete answers."""

    completion: Completed


def complete(exchange: Exchange) -> dict[str, Any]:
    reference, argument = exchange.table("ref"), exchange.table("argument")
    name, value = argument.get("name"), argument.get("value")
    if reference.get("type") not in ("ref/prompt", "ref/resource"):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: 'ref' must be a prompt or a resource template")
    if not isinstance(name, str) or not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: 'argument' needs a name and a value")
    return through_gates(
        exchange, governed(fitting_values, core), {"argument": name, "value": value}, "resource"
    )


def fitting_values(ctx: Context, argument: str, value: str) -> Completion:
    """Values that fit what was typed."""
    source = SOURCES.get(argument)
    found = _fitting(source(ctx), value) if source is not None and ctx.caller.may("read:notes") else []
    done = Completed(values=found[:MOST], total=len(found), has_more=len(found) > MOST)
    return Completion(completion=done)


def _fitting(values: Iterable[str], typed: str) -> list[str]:
    """Values that begin with what was typed, then those whose last part does, then those that hold it."""
    wanted = typed.casefold()
    ranked = []
    for value in values:
        folded = value.casefold()
        if wanted in folded:
            last = folded.rpartition("/")[2]
            ranked.append((0 if folded.startswith(wanted) else 1 if last.startswith(wanted) else 2, value))
    return [value for _, value in sorted(ranked, key=lambda r: r[0])]


def _paths(ctx: Context) -> list[str]:
    sql = f"SELECT f.path FROM files f WHERE f.note = 1 AND {ctx.index.may('f.path')} ORDER BY f.path"
    return [path for (path,) in ctx.index.rows(sql)]


def _tags(ctx: Context) -> list[str]:
    rows, _, _ = ctx.index.list_tags(Page(limit=100_000))
    return [str(row[0]) for row in rows]


def _folders(ctx: Context) -> list[str]:
    return ctx.index.folders()


def _vaults(ctx: Context) -> list[str]:
    return [vault.id for vault in ctx.server.visible_vaults(ctx.caller)]


SOURCES: dict[str, Callable[[Context], list[str]]] = {
    "path": _paths, "note": _paths, "source": _paths, "target": _paths,
    "folder": _folders, "root": _folders,
    "tag": _tags, "tags": _tags, "topic": _tags,
    "vault": _vaults,
}  # fmt: skip
