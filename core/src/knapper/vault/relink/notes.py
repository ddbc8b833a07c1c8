"""Links that go on naming their files when files move."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from knapper.vault.frontmatter import FrontmatterError, replace_strings
from knapper.vault.markdown import Link
from knapper.vault.relink.spelling import Spelled, spell
from knapper.vault.resolve import LinkFormat, Resolver, file_keys, normal

_FROM_SOURCE = ("./", "../")


@dataclass(frozen=True, slots=True)
class Moves:
    """Files that move, old path to new, all at once; the vault's files before and after."""

    paths: Mapping[str, str]
    before: Resolver
    after: Resolver
    format: LinkFormat = "shortest"

    def keys(self) -> set[str]:
        """The keys of the links that may have to change, in whatever note they stand."""
        return {key for pair in self.paths.items() for path in pair for key in file_keys(path)}


@dataclass(frozen=True, slots=True)
class Relinked:
    """A text with its links changed: how many, and those that no text of their kind can express."""

    text: str
    count: int = 0
    broken: list[Link] = field(default_factory=list)


def relink(text: str, links: list[Link], source: str, moves: Moves) -> Relinked:
    """A note's text with every link naming the file it named before; `source` is the note's old path."""
    changes, broken = changed_links(links, source, moves)
    return apply(text, changes, broken)


def changed_links(
    links: list[Link], source: str, moves: Moves
) -> tuple[list[tuple[Link, Spelled]], list[Link]]:
    """The links that have to change, each with its change, and those that cannot."""
    changes: list[tuple[Link, Spelled]] = []
    broken: list[Link] = []
    new_source = moves.paths.get(source, source)
    for link in links:
        target = moves.before.resolve(link.path, source) if link.path else None
        if target is None:
            continue
        new_target = moves.paths.get(target, target)
        if moves.after.resolve(link.path, new_source) == new_target:
            continue
        change = next(_respelled(link, source, new_source, target, new_target, moves), None)
        if change is None:
            broken.append(link)
        else:
            changes.append((link, change))
    return changes, broken


def _respelled(
    link: Link, source: str, new_source: str, target: str, new_target: str, moves: Moves
) -> Iterator[Spelled]:
    """The changes that keep a link on its file, the one in its own manner first."""
    omit_md = not link.path.lower().endswith(".md")
    for path in spellings(link.path, source, new_source, target, new_target, omit_md, moves):
        change = spell(link, path) if moves.after.resolve(path, new_source) == new_target else None
        if change is not None:
            yield change


def spellings(
    old: str, source: str, new_source: str, target: str, new_target: str, omit_md: bool, moves: Moves
) -> Iterator[str]:
    """The paths that name a file from a note, the one in the manner of the old link first."""
    full = new_target[:-3] if omit_md and new_target.lower().endswith(".md") else new_target
    if old.startswith("/"):
        yield "/" + full
    elif is_relative(old, source, target):
        for bare in {omit_md: None, False: None}:
            near = moves.after.shortest(new_target, new_source, "relative", omit_md=bare)
            if old.startswith(_FROM_SOURCE) and not near.startswith((*_FROM_SOURCE, "/")):
                yield "./" + near
            yield near
    yield moves.after.shortest(new_target, new_source, moves.format, omit_md=omit_md)
    yield from (full, "/" + full, new_target, "/" + new_target)


def is_relative(old: str, source: str, target: str) -> bool:
    """Whether a link is written as seen from its note's folder: with dots, or where only that fits it."""
    if old.startswith(_FROM_SOURCE):
        return True
    spelled = normal(old).removesuffix(".md")
    folder = source.rpartition("/")[0]
    joined = normal(f"{folder}/") + spelled
    return "/" in old and bool(folder) and normal(target).removesuffix(".md") == joined


def apply(text: str, changes: list[tuple[Link, Spelled]], broken: list[Link]) -> Relinked:
    """A note's text with some of its links changed; those that YAML cannot take are broken too."""
    strings: dict[str, str] = {}
    count = 0
    for link, change in sorted(changes, key=lambda pair: pair[0].start + pair[1].start, reverse=True):
        start, end, new = change
        if link.in_frontmatter:
            strings[link.original] = link.original[:start] + new + link.original[end:]
        else:
            text = text[: link.start + start] + new + text[link.start + end :]
            count += 1
    inside = [link for link, _ in changes if link.in_frontmatter]
    try:
        return Relinked(replace_strings(text, strings) if strings else text, count + len(inside), broken)
    except FrontmatterError:
        return Relinked(text, count, broken + inside)
