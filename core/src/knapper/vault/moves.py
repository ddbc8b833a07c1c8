"""Moving files so that every link to them, and every link in them, still leads where it led."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from knapper.errors import ToolError
from knapper.index.rows import is_note
from knapper.vault.markdown import Link, parse
from knapper.vault.relink import Moves, Relinked, relink, relink_canvas
from knapper.vault.relink.notes import changed_links
from knapper.vault.resolve import LinkFormat, Resolver, file_keys, link_key

if TYPE_CHECKING:
    from knapper.index.view import IndexView
    from knapper.vault.door import Door


@dataclass
class Rewritten:
    """What a move changed beside the files themselves."""

    links: int = 0
    files: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)


def move_files(
    door: Door,
    index: IndexView,
    moves: Mapping[str, str],
    *,
    update_links: bool = True,
    overwrite: bool = False,
) -> Rewritten:
    """Move files, swaps and chains included, and rewrite links in notes and canvases: one change, all or none.

    Every file that is rewritten is checked against the folder rules like any other write. Links in notes that this
    caller may not write are a refusal of the whole move, never a silently broken link.
    """
    done = Rewritten()
    with door.transaction():
        rewrites = _rewrites(door, index, moves, done) if update_links else {}
        _move_all(door, moves, overwrite, done)
        for path, rewrite in rewrites.items():
            place = moves.get(path, path)
            done.hashes[place] = door.edit(place, rewrite).hash
            done.files.append(place)
    return done


Rewrite = Callable[[str], str]


class _Survey(NamedTuple):
    """Everything a move has to look at: the plan, and the notes and canvases that may have to change."""

    plan: Moves
    links: dict[str, list[Link]]
    texts: dict[str, str]
    canvases: dict[str, str]


def _survey(door: Door, index: IndexView, moves: Mapping[str, str]) -> _Survey:
    """What a link means depends on the files of its own name alone, so only those are asked for."""
    index.level()
    names = {key for pair in moves.items() for path in pair for key in file_keys(path)}
    notes = {*index.linking(names), *(path for path in moves if is_note(path))}
    texts = {path: _read(door, path) for path in sorted(notes)}
    links = {path: parse(text).links for path, text in texts.items()}
    canvases = _canvases(door, index, moves)
    keys = names | {link_key(link.path) for found in links.values() for link in found}
    for text in canvases.values():
        keys |= {link_key(link.path) for card in _cards(text) for link in parse(card).links}
    return _Survey(_plan(index, moves, keys, link_format(door)), links, texts, canvases)


def _rewrites(door: Door, index: IndexView, moves: Mapping[str, str], done: Rewritten) -> dict[str, Rewrite]:
    """For each file whose links must change, how its text changes."""
    plan, links, texts, canvases = _survey(door, index, moves)
    changed: dict[str, Rewrite] = {}
    for path, text in texts.items():
        if _counted(done, path, relink(text, links[path], path, plan)):
            changed[path] = partial(_relink_note, path=path, plan=plan)
    for path, text in canvases.items():
        if _counted(done, path, relink_canvas(text, path, plan)):
            changed[path] = partial(_relink_canvas, path=path, plan=plan)
    return changed


def planned_links(door: Door, index: IndexView, moves: Mapping[str, str]) -> dict[str, int]:
    """How many links a move would rewrite, by the file they lead to; those in canvases stand under no name."""
    plan, links, _, canvases = _survey(door, index, moves)
    counts: Counter[str] = Counter()
    for path, found in links.items():
        changes, broken = changed_links(found, path, plan)
        _counted(Rewritten(), path, Relinked("", 0, broken))
        counts.update(plan.before.resolve(link.path, path) or "" for link, _ in changes)
    for path, text in canvases.items():
        counts[""] += relink_canvas(text, path, plan).count
    return dict(counts)


def _relink_note(text: str, path: str, plan: Moves) -> str:
    return relink(text, parse(text).links, path, plan).text


def _relink_canvas(text: str, path: str, plan: Moves) -> str:
    return relink_canvas(text, path, plan).text


def _counted(done: Rewritten, path: str, result: Relinked) -> bool:
    if result.broken:
        raise ToolError(
            "invalid_input", f"a link in {path!r} cannot be written for its new target", path=path
        )
    done.links += result.count
    return result.count > 0


def _plan(index: IndexView, moves: Mapping[str, str], keys: set[str], format: LinkFormat) -> Moves:
    before = Resolver(index.named(keys))
    after = Resolver(path for path in before if path not in moves)
    for target in moves.values():
        after.add(target)
    return Moves(moves, before, after, format)


def _canvases(door: Door, index: IndexView, moves: Mapping[str, str]) -> dict[str, str]:
    """The canvases that may name a moved file, by a look for its name alone."""
    names = {path.rpartition("/")[2].removesuffix(".md") for path in moves}
    found = {}
    for path in index.canvases():
        text = _read(door, path)
        if any(name in text for name in names) or "\\u" in text:  # a name may be written in escapes
            try:
                json.loads(text or "{}")
            except ValueError:
                continue  # not a canvas any program could open, so nothing in it names a file
            found[path] = text
    return found


def _cards(text: str) -> list[str]:
    canvas = json.loads(text or "{}")
    nodes = canvas.get("nodes", []) if isinstance(canvas, dict) else []
    return [node["text"] for node in nodes if isinstance(node, dict) and isinstance(node.get("text"), str)]


def link_format(door: Door) -> LinkFormat:
    """How Obsidian is set to write the paths of new links."""
    chosen = door.settings("app").get("newLinkFormat")
    return chosen if chosen in ("shortest", "relative", "absolute") else "shortest"


def _read(door: Door, path: str) -> str:
    """A file that links to a moved one; where the caller may not read it, it is not named either."""
    try:
        return door.read(path).text
    except ToolError as error:
        if error.code != "acl_denied":
            raise
    raise ToolError(
        "acl_denied", "a link to it stands in a note you have no access to, and would break", op="write"
    )


def _move_all(door: Door, moves: Mapping[str, str], overwrite: bool, done: Rewritten) -> None:
    """Order the moves so that none lands on a file that has yet to move; a ring goes round through a free name."""
    todo = {source: target for source, target in moves.items() if source != target}
    while todo:
        free = [source for source, target in todo.items() if target not in todo]
        if not free:
            first = next(iter(todo))
            aside = f"{todo[first]}.moving"
            door.move(first, aside)
            todo[aside] = todo.pop(first)
            continue
        for source in free:
            target = todo.pop(source)
            done.hashes[target] = door.move(source, target, overwrite=overwrite).hash


def rehomed(index: IndexView, text: str, links: list[Link], source: str, target: str) -> tuple[str, int]:
    """A copy's text with its links meaning at the new place what they mean at the old one, and how many changed."""
    keys = {link_key(link.path) for link in links} | set(file_keys(source)) | set(file_keys(target))
    resolver = Resolver(index.named(keys))
    with_copy = Resolver([*resolver, target])
    found = relink(text, links, source, Moves({source: target}, resolver, with_copy))
    return found.text, found.count
