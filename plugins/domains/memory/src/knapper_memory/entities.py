"""Tools for entities and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Literal

from knapper import Context, Doc, Record, ToolError
from knapper_memory import notes, rows
from knapper_memory.domain import memory
from knapper_memory.rows import Entity

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

Name = Annotated[str, Doc("A short name.", min_length=1, max_length=200)]
Text = Annotated[str, Doc("One thing that is known.", min_length=1, max_length=20_000)]


class CreatedEntity(Record):
    entity_id: str
    type: str
    name: str
    created_at: str
    vault_path: str | None = None


@memory.tool(
    "write:memory",
    reach="the entity's note in the memory folder",
    words="person people company place thing fact store",
)
def create_entity(
    ctx: Context,
    type: Annotated[str, Doc("Such as person, project or place.", min_length=1, max_length=60)],
    name: Name,
    observations: list[Text] | None = None,
    materialize: Annotated[bool, Doc("Keep a note of it in the vault.")] = True,
) -> CreatedEntity:
    """Remember a new entity, with what is known of it."""
    vault, now = ctx.vault.vault, ctx.now()
    number = f"ent_{token_hex(12)}"
    with ctx.store.write() as conn:
        if rows.by_name(conn, vault, type, name) is not None:
            raise ToolError("invalid_input", f"the {type} {name!r} is already known", type=type, name=name)
        path = _free_path(conn, ctx, type, name, number) if materialize else None
        values = (vault, number, type, name, "active", path, now, now)
        conn.exec_driver_sql("INSERT INTO memory_entities VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        _observe(conn, ctx, number, observations or [])
    refresh(ctx, [number], undo=lambda conn: _forget(conn, vault, number))
    return CreatedEntity(entity_id=number, type=type, name=name, created_at=ctx.stamp(now), vault_path=path)


def _free_path(conn: Connection, ctx: Context, type: str, name: str, number: str) -> str:
    """A note of its own for each entity, also where two names make the same file name."""
    path = notes.path_for(ctx, type, name)
    if rows.has_path(conn, ctx.vault.vault, path):
        return f"{path.removesuffix('.md')} {number[-6:]}.md"
    return path


class RelatedEntity(Record):
    target_id: str
    target_name: str
    relation_type: str
    direction: Literal["out", "in"]


class KnownEntity(Record):
    entity_id: str
    type: str
    name: str
    status: str
    observations: list[str]
    relations: list[RelatedEntity]
    created_at: str
    updated_at: str
    vault_path: str | None = None


@memory.tool("read:memory", words="person people company know facts details about")
def get_entity(
    ctx: Context,
    entity_id: str | None = None,
    type: Annotated[str | None, Doc("With name, instead of an id.")] = None,
    name: str | None = None,
    include_retired: bool = False,
) -> KnownEntity:
    """Recall an entity by its id, or by its type and name, with all that is known of it."""
    vault = ctx.vault.vault
    with ctx.store.read() as conn:
        if entity_id is not None:
            entity: Entity | None = rows.by_id(conn, vault, entity_id)
        elif type is not None and name is not None:
            entity = rows.by_name(conn, vault, type, name)
        else:
            raise ToolError("invalid_input", "give entity_id, or type and name")
        if entity is None or (entity.status == "retired" and not include_retired):
            raise ToolError(
                "invalid_input", "there is no such entity", entity_id=entity_id, type=type, name=name
            )
        known, related = rows.observations(conn, vault, entity.id), rows.relations(conn, vault, entity.id)
    return KnownEntity(
        entity_id=entity.id,
        type=entity.type,
        name=entity.name,
        status=entity.status,
        observations=known,
        relations=[
            RelatedEntity(
                target_id=one.other_id,
                target_name=one.other_name,
                relation_type=one.relation_type,
                direction="out" if one.direction == "out" else "in",
            )
            for one in related
            if include_retired or one.other_status == "active"
        ],
        created_at=ctx.stamp(entity.created_at),
        updated_at=ctx.stamp(entity.updated_at),
        vault_path=entity.vault_path,
    )


class Observed(Record):
    entity_id: str
    observation_count: int
    added: bool
    updated_at: str


@memory.tool(
    "write:memory",
    repeat="keyed",
    reach="the entity's note in the memory folder",
    words="fact store learn note person remember",
)
def add_observation(ctx: Context, entity_id: str, observation: Text) -> Observed:
    """Add one thing that is known of an entity; what is known already is not added twice."""
    vault = ctx.vault.vault
    with ctx.store.write() as conn:
        rows.by_id(conn, vault, entity_id)
        known = rows.observations(conn, vault, entity_id)
        added = observation not in known
        if added:
            _observe(conn, ctx, entity_id, [observation])
            rows.touch(conn, ctx, entity_id)
    if added:
        refresh(ctx, [entity_id], undo=lambda conn: _unobserve(conn, vault, entity_id, observation))
    return Observed(
        entity_id=entity_id, observation_count=len(known) + added, added=added, updated_at=ctx.stamp()
    )


class RenamedEntity(Record):
    entity_id: str
    name: str
    status: str
    updated_at: str
    vault_path: str | None = None


@memory.tool("write:memory", reach="the entity's note in the memory folder", words="person merge retire")
def rename_entity(
    ctx: Context,
    entity_id: str,
    name: Name | None = None,
    status: Annotated[Literal["active", "retired"] | None, Doc("Retire it, or bring it back.")] = None,
) -> RenamedEntity:
    """Give an entity another name, or retire it; its note stays where it is."""
    vault = ctx.vault.vault
    with ctx.store.write() as conn:
        entity = rows.by_id(conn, vault, entity_id)
        if (
            name is not None
            and name != entity.name
            and rows.by_name(conn, vault, entity.type, name) is not None
        ):
            raise ToolError("invalid_input", f"the {entity.type} {name!r} is already known", name=name)
        before = {"name": entity.name, "status": entity.status}
        rows.touch(conn, ctx, entity_id, name=name or entity.name, status=status or entity.status)
        entity = rows.by_id(conn, vault, entity_id)
        neighbours = [one.other_id for one in rows.relations(conn, vault, entity_id)]
    refresh(ctx, neighbours, undo=lambda conn: rows.touch(conn, ctx, entity_id, **before))
    return RenamedEntity(
        entity_id=entity_id,
        name=entity.name,
        status=entity.status,
        updated_at=ctx.stamp(),
        vault_path=entity.vault_path,
    )


class ForgottenEntity(Record):
    entity_id: str
    deleted: bool
    relations_removed: int
    vault_path: str | None = None


@memory.tool(
    "write:memory", destructive=True, reach="the entity's note in the memory folder", words="person remove"
)
def delete_entity(
    ctx: Context,
    entity_id: str,
    cascade: Annotated[bool, Doc("Although it has relations, which go too.")] = False,
) -> ForgottenEntity:
    """Forget an entity; its note stays, with what people wrote in it. A person confirms it."""
    vault = ctx.vault.vault
    with ctx.store.write() as conn:
        entity = rows.by_id(conn, vault, entity_id)
        related = rows.relations(conn, vault, entity_id)
        if related and not cascade:
            raise ToolError(
                "invalid_input", f"{entity.name!r} has {len(related)} relations; cascade removes them too"
            )
        _forget(conn, vault, entity_id)
    refresh(ctx, sorted({one.other_id for one in related}))
    return ForgottenEntity(
        entity_id=entity_id, deleted=True, relations_removed=len(related), vault_path=entity.vault_path
    )


def refresh(ctx: Context, numbers: Iterable[str], undo: Callable[[Connection], None] | None = None) -> None:
    """Bring the notes of entities up to date, all or none; where that fails, what was stored can be taken back."""
    try:
        with ctx.vault.transaction():
            for number in numbers:
                _refresh(ctx, number)
    except Exception:
        if undo is not None:
            with ctx.store.write() as conn:
                undo(conn)
        raise


def _refresh(ctx: Context, number: str) -> None:
    """Write an entity's note, wherever a person has moved it."""
    vault = ctx.vault.vault
    with ctx.store.read() as conn:
        entity = rows.by_id(conn, vault, number)
        written = rows.part(conn, vault, number)
    if written and entity.vault_path is not None and ctx.vault.exists(entity.vault_path) is None:
        entity = entity._replace(vault_path=notes.moved_to(ctx, entity) or entity.vault_path)
    part = notes.write(ctx, entity, lambda: _known(ctx, number))
    if part is not None:
        with ctx.store.write() as conn:
            conn.exec_driver_sql(
                "UPDATE memory_entities SET vault_path = ? WHERE vault_id = ? AND id = ?",
                (entity.vault_path, vault, number),
            )
            conn.exec_driver_sql(
                "INSERT OR REPLACE INTO memory_parts (vault_id, entity_id, part) VALUES (?, ?, ?)",
                (vault, number, part),
            )


def _known(ctx: Context, number: str) -> notes.Known:
    """What is stored now, which may be more than when the call began."""
    vault = ctx.vault.vault
    with ctx.store.read() as conn:
        related = rows.relations(conn, vault, number)
        paths = {
            one.other_id: path
            for one in related
            if (path := rows.by_id(conn, vault, one.other_id).vault_path)
        }
        known = rows.observations(conn, vault, number)
        return notes.Known(known, related, paths, rows.part(conn, vault, number))


def _unobserve(conn: Connection, vault: str, number: str, text: str) -> None:
    sql = "DELETE FROM memory_observations WHERE vault_id = ? AND entity_id = ? AND text = ?"
    conn.exec_driver_sql(sql, (vault, number, text))


def _forget(conn: Connection, vault: str, number: str) -> None:
    conn.exec_driver_sql(
        "DELETE FROM memory_relations WHERE vault_id = ? AND (source_id = ? OR target_id = ?)",
        (vault, number, number),
    )
    for table, column in (
        ("memory_observations", "entity_id"),
        ("memory_parts", "entity_id"),
        ("memory_entities", "id"),
    ):
        conn.exec_driver_sql(f"DELETE FROM {table} WHERE vault_id = ? AND {column} = ?", (vault, number))


def _observe(conn: Connection, ctx: Context, number: str, texts: list[str]) -> None:
    vault = ctx.vault.vault
    sql = "SELECT coalesce(max(ord), -1) FROM memory_observations WHERE vault_id = ? AND entity_id = ?"
    last = conn.exec_driver_sql(sql, (vault, number)).scalar_one()
    for place, text in enumerate(dict.fromkeys(texts), last + 1):
        conn.exec_driver_sql(
            "INSERT INTO memory_observations VALUES (?, ?, ?, ?, ?)", (vault, number, place, text, ctx.now())
        )
