"""Bringing the index level with the files, on request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from knapper import Context, Doc, Record, ToolError
from knapper_search.domain import search

if TYPE_CHECKING:
    from knapper.vaults import Vault

LOOK_SECONDS = 0.2


class Indexed(Record):
    vault: str
    upserted: int
    deleted: int
    unchanged: int
    duration_ms: int
    vectors_ready: bool
    vectors_refused: int = 0


@search.tool(
    "admin:vault",
    rate="bulk",
    repeat="natural",
    reach="the index of the folder, or of the whole vault",
    words="rebuild reindex refresh synchronise",
)
def index_vault(
    ctx: Context,
    folder: Annotated[str, Doc("Only files below this folder.")] = "",
    force: Annotated[bool, Doc("Read every file again, changed or not.")] = False,
    vectors: Annotated[bool, Doc("Also wait until every passage has its vector.")] = False,
) -> Indexed:
    """Bring the index level with the files now, and say what changed; a call while one runs joins it."""
    vault = ctx.server.vault(ctx.vault_settings.id)  # type: ignore[attr-defined]
    if vault.acl.read_only:
        raise ToolError("read_only", "the vault is read-only and its index is not rebuilt by callers")
    started = time.monotonic()
    below = ctx.vault.authorise("read", folder) if folder.strip("/") else ""
    result = vault.index.reconcile(
        below, force=force, progress=lambda done, total: ctx.progress(done, total, "notes")
    )
    if vectors:
        _wait_for_vectors(ctx, vault)
    return Indexed(
        vault=vault.id,
        upserted=result.upserted,
        deleted=result.deleted,
        unchanged=result.unchanged,
        duration_ms=int((time.monotonic() - started) * 1000),
        vectors_ready=ctx.index.vectors_ready,
        vectors_refused=vault.index.vectors.refused(),
    )


def _wait_for_vectors(ctx: Context, vault: Vault) -> None:
    """Go on when every passage has its vector, or when the model has failed; raises what it failed with."""
    vectors = vault.index.vectors
    if not vectors.available:
        raise ToolError("embedding_provider_error", "no embedding model is installed or enabled")
    total = ctx.index.count_chunks()
    vectors.embed_now(lambda missing: ctx.progress(max(0, total - missing), total, "vectors"))
