"""Moving files so that every link to them, and every link in them, still leads where it led."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from knapper.errors import ToolError
from knapper.index.rows import is_note
from knapper.vault.markdown import Link, parse
from knapper.vault.relink import Moves, canvas_names, relink, relink_canvas
from knapper.vault.relink.notes import changed_links
from knapper.vault.resolve import LinkFormat, Resolver, file_keys, link_key

if TYPE_CHECKING:
    from knapper.index.view import IndexView
    from knapper.vault.door import Door


@dataclass
class Rewritten:
    """What a move changed beside the files themselves; the links by the moved or linked file, canvases under no name."""

    counts: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def links(self) -> int:
        return self.counts.total()


def move_files(
    door: Door,
    index: IndexView,
    moves: Mapping[str, str],
    *,
    update_links: bool = True,
    overwrite: bool = False,
    dry_run: bool = False,
) -> Rewritten:
    """Move files, swaps and chains included, and rewrite links in notes and canvases: one change, all or none.

    Every file that is rewritten is checked against the folder rules like any other write. Links in notes that this
    caller may not write are a refusal of the whole move, never a silently broken link. A dry run does all of it but the
    last step, so that it is refused where the real one is.
    """
    done = Rewritten()
    with door.rehearsal() if dry_run else door.transaction():
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
    canvases: dict[str, str]


def _survey(door: Door, index: IndexView, moves: Mapping[str, str]) -> _Survey:
    """What a link means depends on the files of its own name alone, so only those are asked for."""
    index.level()
    names = {key for pair in moves.items() for path in pair for key in file_keys(path)}
    notes = {*index.linking(names), *index.oversized(), *(path for path in moves if is_note(path))}
    links = {path: parse(text).links for path, text in _texts(door, sorted(notes))}
    keys = names | {link_key(link.path) for found in links.values() for link in found}
    canvases = {}
    for path, text in _texts(door, index.canvases()):
        named = {link_key(name) for name in canvas_names(text)}
        if named & names or (named and path in moves):
            canvases[path] = text
            keys |= named
    return _Survey(_plan(index, moves, keys, link_format(door)), links, canvases)


def _rewrites(door: Door, index: IndexView, moves: Mapping[str, str], done: Rewritten) -> dict[str, Rewrite]:
    """For each file whose links must change, how its text changes."""
    plan, links, canvases = _survey(door, index, moves)
    changed: dict[str, Rewrite] = {}
    for path, found in links.items():
        changes, broken = changed_links(found, path, plan)
        if _must_change(door, path, len(changes), broken):
            done.counts.update(plan.before.resolve(link.path, path) or "" for link, _ in changes)
            changed[path] = partial(_relink_note, path=path, plan=plan)
    for path, text in canvases.items():
        result = relink_canvas(text, path, plan)
        if _must_change(door, path, result.count, result.broken):
            done.counts[""] += result.count
            changed[path] = partial(_relink_canvas, path=path, plan=plan)
    return changed


def _must_change(door: Door, path: str, count: int, broken: list[Link]) -> bool:
    """Whether anything in a file changes; where the caller may not read it, it is not named in the refusal either."""
    if not count and not broken:
        return False
    try:
        door.check("read", path)
    except ToolError as error:
        if error.code != "acl_denied":
            raise
        message = "a link to it stands in a note you have no access to, and would break"
        raise ToolError("acl_denied", message, op="write") from None
    if broken:
        message = f"a link in {path!r} cannot be written for its new target"
        raise ToolError("invalid_input", message, path=path)
    return True


def _relink_note(text: str, path: str, plan: Moves) -> str:
    return relink(text, parse(text).links, path, plan).text


def _relink_canvas(text: str, path: str, plan: Moves) -> str:
    return relink_canvas(text, path, plan).text


def _plan(index: IndexView, moves: Mapping[str, str], keys: set[str], format: LinkFormat) -> Moves:
    before = Resolver(index.named(keys))
    after = Resolver(path for path in before if path not in moves)
    for target in moves.values():
        after.add(target)
    return Moves(moves, before, after, format)


def _texts(door: Door, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What stands in files, whoever may read them; one that is gone, or is no text, has no links."""
    for path in paths:
        text = door.known_text(path)
        if text is not None:
            yield path, text


def canvases_naming(door: Door, index: IndexView, path: str) -> list[str]:
    """The canvases this caller may read that name a file, in a node or in a card."""
    files = Resolver(index.named(file_keys(path)))
    readable = _readable_canvases(door, index)
    return [canvas for canvas, text in readable if path in _meant(files, canvas, canvas_names(text))]


def canvas_references(door: Door, index: IndexView) -> Counter[str]:
    """How many of the canvases this caller may read name each file, in a node or in a card."""
    named = {canvas: canvas_names(text) for canvas, text in _readable_canvases(door, index)}
    files = Resolver(index.named({link_key(name) for names in named.values() for name in names}))
    return Counter(path for canvas, names in named.items() for path in _meant(files, canvas, names))


def _readable_canvases(door: Door, index: IndexView) -> Iterator[tuple[str, str]]:
    return _texts(door, filter(index.readable, index.canvases()))


def _meant(files: Resolver, canvas: str, names: set[str]) -> set[str]:
    """A node names a path from the vault's root, a card links like a note: what can mean two files means both."""
    found = {files.resolve(name, canvas) for name in names} | {name for name in names if name in files}
    return {path for path in found if path is not None}


def link_format(door: Door) -> LinkFormat:
    """How Obsidian is set to write the paths of new links."""
    chosen = door.settings("app").get("newLinkFormat")
    return chosen if chosen in ("shortest", "relative", "absolute") else "shortest"


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
