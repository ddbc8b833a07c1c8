"""Entities and relations in their tables, always of one vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from knapper import Context, ToolError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

FIELDS = "id, type, name, status, vault_path, created_at, updated_at"


class Entity(NamedTuple):
    """One entity as it is stored."""

    id: str
    type: str
    name: str
    status: str
    vault_path: str | None
    created_at: float
    updated_at: float


class Relation(NamedTuple):
    """One relation as seen from one of its ends."""

    other_id: str
    other_name: str
    other_type: str
    relation_type: str
    direction: str
    other_status: str


def by_id(conn: Connection, vault: str, number: str) -> Entity:
    row = conn.exec_driver_sql(
        f"SELECT {FIELDS} FROM memory_entities WHERE vault_id = ? AND id = ?", (vault, number)
    ).one_or_none()
    if row is None:
        raise ToolError("invalid_input", f"there is no entity {number!r}", entity_id=number)
    return Entity(*row)


def by_name(conn: Connection, vault: str, type: str, name: str) -> Entity | None:
    sql = f"SELECT {FIELDS} FROM memory_entities WHERE vault_id = ? AND type = ? AND name = ?"
    row = conn.exec_driver_sql(sql, (vault, type, name)).one_or_none()
    return None if row is None else Entity(*row)


def has_path(conn: Connection, vault: str, path: str) -> bool:
    """Whether an entity has this note, on a file system that may not tell cases apart."""
    sql = "SELECT vault_path FROM memory_entities WHERE vault_id = ? AND vault_path IS NOT NULL"
    wanted = path.casefold()
    return any(taken.casefold() == wanted for taken in conn.exec_driver_sql(sql, (vault,)).scalars())


def part(conn: Connection, vault: str, number: str) -> str:
    """What was last written to an entity's note."""
    sql = "SELECT part FROM memory_parts WHERE vault_id = ? AND entity_id = ?"
    return str(conn.exec_driver_sql(sql, (vault, number)).scalar() or "")


def observations(conn: Connection, vault: str, number: str) -> list[str]:
    sql = "SELECT text FROM memory_observations WHERE vault_id = ? AND entity_id = ? ORDER BY ord"
    return list(conn.exec_driver_sql(sql, (vault, number)).scalars())


def relations(conn: Connection, vault: str, number: str) -> list[Relation]:
    """Relations in both directions, in a fixed order."""
    sql = (
        "SELECT e.id, e.name, e.type, r.relation_type, ?, e.status FROM memory_relations r "
        "JOIN memory_entities e ON e.vault_id = r.vault_id AND e.id = r.{other}_id "
        "WHERE r.vault_id = ? AND r.{own}_id = ? ORDER BY r.relation_type, e.name, e.id"
    )
    found: list[Relation] = []
    for direction, own, other in (("out", "source", "target"), ("in", "target", "source")):
        rows = conn.exec_driver_sql(sql.format(own=own, other=other), (direction, vault, number))
        found += [Relation(*row) for row in rows]
    return found


def touch(conn: Connection, ctx: Context, number: str, **values: Any) -> None:
    """Set columns of an entity, and when it was last changed."""
    columns = {**values, "updated_at": ctx.now()}
    assignments = ", ".join(f"{name} = ?" for name in columns)
    sql = f"UPDATE memory_entities SET {assignments} WHERE vault_id = ? AND id = ?"
    conn.exec_driver_sql(sql, (*columns.values(), ctx.vault.vault, number))
