"""The note of an entity: a part that is kept up to date, and everything else, which belongs to people."""

from __future__ import annotations

import re

from knapper import Context, ToolError
from knapper.vault import frontmatter
from knapper_memory.rows import Entity, Relation

BEGIN, END = "%% memory: kept up to date; write outside of it %%", "%% end of memory %%"
PART = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)
UNSAFE = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')


def path_for(ctx: Context, type: str, name: str) -> str:
    """Where a new entity's note goes, by its type and name."""
    folder = ctx.settings.folder.strip("/")
    return f"{folder}/{_safe(type)}/{_safe(name)}.md"


def write(
    ctx: Context, entity: Entity, observations: list[str], relations: list[Relation], paths: dict[str, str]
) -> None:
    """Bring an entity's note up to date; what people wrote around our part stays byte for byte."""
    if entity.vault_path is None:
        return
    part = _part(observations, relations, paths)
    if ctx.vault.exists(entity.vault_path) is None:
        head = frontmatter.merge("", {"type": entity.type, "entity_id": entity.id})
        ctx.vault.write(entity.vault_path, f"{head}# {entity.name}\n\n{part}\n", mode="create")
    else:
        ctx.vault.edit(entity.vault_path, lambda text: _spliced(text, part))


def _spliced(text: str, part: str) -> str:
    if PART.search(text):
        return PART.sub(lambda _: part, text, count=1)
    return text + ("" if text.endswith("\n") or not text else "\n") + f"\n{part}\n"


def _part(observations: list[str], relations: list[Relation], paths: dict[str, str]) -> str:
    lines = [BEGIN, ""]
    lines += [f"- {' '.join(text.split())}" for text in observations]
    if relations:
        lines += ["", *(_relation(relation, paths) for relation in relations)]
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
