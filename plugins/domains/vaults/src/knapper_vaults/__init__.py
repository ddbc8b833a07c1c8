"""Vaults: which there are, what may be done in them, and how their caches are renewed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

from knapper import Context, Doc, Domain, Record, hookimpl
from knapper.bridge import BridgeState
from knapper.vaults import Vault

vaults = Domain("vaults", summary="List the vaults, look at one, reload and reset.", group="vault")


class VaultSummary(Record):
    id: str
    name: str
    path_name: str
    read_only: bool
    embeddings_provider: str | None
    note_count: int
    chunk_count: int
    last_synced_at: str | None
    incomplete: str | None = None


class VaultList(Record):
    vaults: list[VaultSummary]


@vaults.tool("read:vault", vault=False)
def list_vaults(ctx: Context) -> VaultList:
    """List the vaults of this server that you may use."""
    return VaultList(vaults=[_summary(ctx, vault) for vault in ctx.server.visible_vaults(ctx.caller)])


class AclLists(Record):
    read_paths: list[str] | None
    write_paths: list[str] | None
    delete_paths: list[str] | None


class Embeddings(Record):
    provider: str
    model: str
    dimensions: int | None


class Cache(Record):
    note_count: int
    chunk_count: int
    last_synced_at: str | None
    db_size_bytes: int


class VaultDetails(Record):
    id: str
    name: str
    read_only: bool
    acl: AclLists
    embeddings: Embeddings
    cache: Cache
    capabilities: list[str]
    bridge: BridgeState | None = None
    incomplete: str | None = None


@vaults.tool("read:vault", words="details information about")
def get_vault(ctx: Context) -> VaultDetails:
    """Show a vault: its folder rules, its embeddings, its cache and what it can do."""
    vault = ctx.server.vault(ctx.vault.vault)
    settings, index = ctx.server.settings, ctx.server.index_of(vault, ctx.caller)
    rules = vault.settings.acl or settings.acl
    model = settings.embeddings
    return VaultDetails(
        id=vault.id,
        name=vault.name,
        read_only=vault.acl.read_only,
        acl=AclLists(
            read_paths=rules.read_paths, write_paths=rules.write_paths, delete_paths=rules.delete_paths
        ),
        embeddings=Embeddings(provider=model.provider, model=model.model, dimensions=model.dimensions),
        cache=Cache(
            note_count=index.count_files(),
            chunk_count=index.count_chunks(),
            last_synced_at=_iso(index.status().reconciled_at),
            db_size_bytes=vault.index.db.size(),
        ),
        capabilities=ctx.server.capabilities(vault),
        bridge=ctx.server.obsidian(vault),
        incomplete=index.incomplete or None,
    )


class Reloaded(Record):
    vault: str
    reloaded_at: str
    changed: list[str]
    restart_needed: list[str]


@vaults.tool("admin:vault", words="refresh settings changed")
def reload_vault(ctx: Context) -> Reloaded:
    """Read the configuration again and apply what can be applied while the server runs."""
    changed, later = ctx.server.reload()
    return Reloaded(vault=ctx.vault.vault, reloaded_at=ctx.stamp(), changed=changed, restart_needed=later)


class Include(msgspec.Struct, forbid_unknown_fields=True):
    chunks: bool = True
    embeddings: bool = True
    idempotency_keys: bool = True
    event_log: bool = False


class Reset(Record):
    vault: str
    reset_at: str
    rows_dropped: dict[str, int]


@vaults.tool(
    "admin:vault",
    destructive=True,
    reach="what the server derived from the vault, no file",
    words="clear drop wipe fresh rebuild",
)
def reset_vault_cache(
    ctx: Context,
    include: Annotated[Include | None, Doc("What to drop; notes are never touched.")] = None,
) -> Reset:
    """Drop what the server derived from a vault and build it anew. A person confirms it."""
    what = include or Include()
    vault = ctx.server.vault(ctx.vault.vault)
    dropped = ctx.server.reset_cache(
        vault, index=what.chunks, vectors=what.embeddings, keys=what.idempotency_keys, log=what.event_log
    )
    return Reset(vault=vault.id, reset_at=ctx.stamp(), rows_dropped=dropped)


def _summary(ctx: Context, vault: Vault) -> VaultSummary:
    index = ctx.server.index_of(vault, ctx.caller)
    settings: Any = ctx.server.settings
    return VaultSummary(
        id=vault.id,
        name=vault.name,
        path_name=vault.folder_name,
        read_only=vault.acl.read_only,
        embeddings_provider=settings.embeddings.provider if settings.index.vectors else None,
        note_count=index.count_files(),
        chunk_count=index.count_chunks(),
        last_synced_at=_iso(index.status().reconciled_at),
        incomplete=index.incomplete or None,
    )


def _iso(seconds: float | None) -> str | None:
    return (
        None
        if seconds is None
        else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


@hookimpl
def knapper_domains() -> Domain:
    return vaults
