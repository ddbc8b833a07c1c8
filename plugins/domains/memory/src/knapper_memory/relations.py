"""Tools for how entities relate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from knapper import Context, Doc, Page, Record, ToolError
from knapper_memory import rows
from knapper_memory.domain import memory
from knapper_memory.entities import refresh

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

Kind = Annotated[str, Doc("Such as works_at or knows.", min_length=1, max_length=60)]
MOST = 10_000


class Linked(Record):
    source_id: str
    target_id: str
    relation_type: str
    created_at: str
    existed_already: bool


@memory.tool(
    "write:memory",
    reach="the notes of the entities in the memory folder",
    words="connect relationship relation knows works married",
)
def link_entities(ctx: Context, source_id: str, target_id: str, relation_type: Kind) -> Linked:
    """Relate two entities."""
    if source_id == target_id:
        raise ToolError("invalid_input", "an entity cannot relate to itself", entity_id=source_id)
    vault, now = ctx.vault.vault, ctx.now()
    with ctx.store.write() as conn:
        for number in (source_id, target_id):
            rows.by_id(conn, vault, number)
        added = conn.exec_driver_sql(
            "INSERT OR IGNORE INTO memory_relations VALUES (?, ?, ?, ?, ?)",
            (vault, source_id, target_id, relation_type, now),
        ).rowcount
        since = conn.exec_driver_sql(
            "SELECT created_at FROM memory_relations"
            " WHERE vault_id = ? AND source_id = ? AND target_id = ? AND relation_type = ?",
            (vault, source_id, target_id, relation_type),
        ).scalar_one()
    if added:
        relation = (vault, source_id, target_id, relation_type, now)
        refresh(ctx, [source_id, target_id], undo=lambda conn: _remove(conn, relation[:4]))
    return Linked(
        source_id=source_id,
        target_id=target_id,
        relation_type=relation_type,
        created_at=ctx.stamp(since),
        existed_already=not added,
    )


class Unlinked(Record):
    source_id: str
    target_id: str
    removed: int


@memory.tool(
    "write:memory",
    reach="the notes of the entities in the memory folder",
    words="disconnect relationship remove",
)
def unlink_entities(
    ctx: Context,
    source_id: str,
    target_id: str,
    relation_type: Annotated[str | None, Doc("Only this relation; all between the two if absent.")] = None,
) -> Unlinked:
    """Take back a relation between two entities."""
    vault = ctx.vault.vault
    with ctx.store.write() as conn:
        gone = [
            row
            for row in _between(conn, vault, source_id, target_id)
            if relation_type is None or row[3] == relation_type
        ]
        for row in gone:
            _remove(conn, row[:4])
    if gone:
        refresh(ctx, [source_id, target_id], undo=lambda conn: _put_back(conn, gone))
    return Unlinked(source_id=source_id, target_id=target_id, removed=len(gone))


def _between(conn: Connection, vault: str, source_id: str, target_id: str) -> list[tuple[Any, ...]]:
    sql = "SELECT * FROM memory_relations WHERE vault_id = ? AND source_id = ? AND target_id = ?"
    return [tuple(row) for row in conn.exec_driver_sql(sql, (vault, source_id, target_id))]


def _remove(conn: Connection, relation: tuple[Any, ...]) -> None:
    same = "vault_id = ? AND source_id = ? AND target_id = ? AND relation_type = ?"
    conn.exec_driver_sql(f"DELETE FROM memory_relations WHERE {same}", relation)


def _put_back(conn: Connection, relations: list[tuple[Any, ...]]) -> None:
    for row in relations:
        conn.exec_driver_sql("INSERT OR IGNORE INTO memory_relations VALUES (?, ?, ?, ?, ?)", row)


class Step(Record):
    via_entity_id: str
    via_relation: str


class Reached(Record):
    entity_id: str
    type: str
    name: str
    distance: int
    path: list[Step]


@memory.tool("read:memory", words="related relationship connected knows people around")
def query_entity_graph(
    ctx: Context,
    seed_entity_id: str,
    depth: Annotated[int, Doc("How many relations away.", ge=1, le=5)] = 2,
    relation_types: list[str] | None = None,
    entity_types: list[str] | None = None,
    direction: Literal["out", "in", "both"] = "both",
    include_retired: bool = False,
    page: Page = Page(),
) -> Page.Of[Reached]:
    """Find the entities around one, nearest first, each with the way to it."""
    vault = ctx.vault.vault
    found: dict[str, Reached] = {}
    with ctx.store.read() as conn:
        rows.by_id(conn, vault, seed_entity_id)
        frontier: list[tuple[str, list[Step]]] = [(seed_entity_id, [])]
        for distance in range(1, depth + 1):
            following: list[tuple[str, list[Step]]] = []
            for number, way in frontier:
                ctx.check_cancelled()
                for one in rows.relations(conn, vault, number):
                    wanted = direction in ("both", one.direction) and (
                        not relation_types or one.relation_type in relation_types
                    )
                    shown = include_retired or one.other_status == "active"
                    if not wanted or not shown or one.other_id in found or one.other_id == seed_entity_id:
                        continue
                    path = [*way, Step(via_entity_id=number, via_relation=one.relation_type)]
                    found[one.other_id] = Reached(
                        entity_id=one.other_id,
                        type=one.other_type,
                        name=one.other_name,
                        distance=distance,
                        path=path,
                    )
                    following.append((one.other_id, path))
            frontier = following if len(found) < MOST else []
    items = [one for one in found.values() if not entity_types or one.type in entity_types]
    items.sort(key=lambda one: (one.distance, one.name, one.entity_id))
    return page.cut(items, key=lambda one: (one.distance, one.name, one.entity_id))


__all__ = ["link_entities", "query_entity_graph", "unlink_entities"]
