"""The note of an entity: a part that is kept up to date, and everything else, which belongs to people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from knapper import Context, Page, ToolError
from knapper.index.queries.properties import PropertyFilter
from knapper.vault import frontmatter
from knapper_memory.rows import Entity, Relation

BEGIN, END = "%% memory: kept up to date; write outside of it %%", "%% end of memory %%"
# From the last beginning before an end: where a person has removed the end, what follows is not ours.
PART = re.compile(f"{re.escape(BEGIN)}((?:(?!{re.escape(BEGIN)}).)*?){re.escape(END)}", re.DOTALL)
UNSAFE = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')


class Known(NamedTuple):
    """What an entity's note is to say, and what was last written to it."""

    observations: list[str]
    relations: list[Relation]
    paths: dict[str, str]
    before: str


def path_for(ctx: Context, type: str, name: str) -> str:
    """Where a new entity's note goes, by its type and name."""
    folder = ctx.settings.folder.strip("/")
    return f"{folder}/{_safe(type)}/{_safe(name)}.md"


def moved_to(ctx: Context, entity: Entity) -> str | None:
    """Where a person has moved an entity's note to, by the id among its properties."""
    ctx.index.level()  # no second note is written because the first is not indexed yet
    same = [PropertyFilter("entity_id", "eq", entity.id)]
    found, _, _ = ctx.index.notes_by_property(Page(limit=1), same)
    return found[0][0] if found else None


def write(ctx: Context, entity: Entity, known: Callable[[], Known]) -> str | None:
    """Bring an entity's note up to date, and return the part that was written.

    What people wrote around the part stays byte for byte; what they wrote into it is put below it.
    """
    if entity.vault_path is None:
        return None
    part = ""

    def change(text: str) -> str:
        nonlocal part
        found = known()
        part = _part(found)
        return _spliced(text, part, found.before.splitlines())

    if ctx.vault.exists(entity.vault_path) is None:
        head = frontmatter.merge("", {"type": entity.type, "entity_id": entity.id})
        ctx.vault.write(entity.vault_path, change(f"{head}# {entity.name}\n"), mode="create")
    else:
        ctx.vault.edit(entity.vault_path, change)
    return part


def _spliced(text: str, part: str, before: Iterable[str]) -> str:
    found = PART.search(text)
    if found is None:
        return text + ("" if text.endswith("\n") or not text else "\n") + f"\n{part}\n"
    ours = {line.strip() for line in (*before, *part.splitlines())}
    theirs = [line for line in found[1].splitlines() if line.strip() and line.strip() not in ours]
    below = "\n\n" + "\n".join(theirs) if theirs else ""
    return text[: found.start()] + part + below + text[found.end() :]


def _part(known: Known) -> str:
    lines = [BEGIN, ""]
    lines += [f"- {' '.join(text.split())}" for text in known.observations]
    if known.relations:
        lines += ["", *(_relation(relation, known.paths) for relation in known.relations)]
    return "\n".join([*lines, "", END])


def _relation(relation: Relation, paths: dict[str, str]) -> str:
    path = paths.get(relation.other_id)
    target = f"[[{path.removesuffix('.md')}|{relation.other_name}]]" if path else relation.other_name
    return (
        f"- {relation.relation_type} {target}"
        if relation.direction == "out"
        else f"- {target} {relation.relation_type} this"
    )


def _safe(name: str) -> str:
    """A name as a file name; what a file system or a link cannot hold becomes a dash."""
    safe = UNSAFE.sub("-", name).strip(" .")
    if not safe:
        raise ToolError("invalid_input", f"{name!r} cannot be the name of a note")
    return safe[:120]
