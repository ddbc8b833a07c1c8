"""Edits to the section of a heading."""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

from knapper.vault.edit.errors import AnchorAmbiguous, AnchorNotFound
from knapper.vault.markdown import Heading, Parsed

_MARKED = re.compile(r"(#{1,6})\s+(.*)", re.DOTALL)
_BLOCK_ID = re.compile(r"\s\^[A-Za-z0-9-]+\s*\Z")
_SPECIAL = re.compile(r"[^\w\s]|_")
_NEAREST = 5


class Place(NamedTuple):
    """A heading and where its section's body stands: up to the next heading of its level or higher."""

    heading: Heading
    path: tuple[str, ...]
    body: int
    end: int

    @property
    def name(self) -> str:
        """The full path, as an anchor takes it."""
        return "::".join(self.path)


def find_heading(text: str, parsed: Parsed, wanted: str) -> Place:
    """The one heading that a name or path means."""
    places = _places(text, parsed)
    named = [place for place in places if place.name == wanted]
    if len(named) == 1:  # as an error spells it, whatever the headings themselves hold
        return named[0]
    for plain in (str.strip, loose):
        for parts, level in _spellings(wanted):
            found = _best([place for place in places if level in (0, place.heading.level)], parts, plain)
            if len(found) == 1:
                return found[0]
            if found:
                raise AnchorAmbiguous(_ambiguous(found), [place.name for place in found])
    problem = "no heading has this name" if places else "the note has no headings"
    raise AnchorNotFound(problem, _nearest(wanted, [place.name for place in places]))


def loose(text: str) -> str:
    """A heading's text as links to headings compare it: without special characters, spacing and case."""
    return " ".join(_SPECIAL.sub(" ", _BLOCK_ID.sub("", text)).lower().split())


def _places(text: str, parsed: Parsed) -> list[Place]:
    places: list[Place] = []
    above: list[Heading] = []
    headings = parsed.headings
    for index, heading in enumerate(headings):
        above = [*(other for other in above if other.level < heading.level), heading]
        following = next((other for other in headings[index + 1 :] if other.level <= heading.level), None)
        newline = text.find("\n", heading.end)
        body = len(text) if newline < 0 else newline + 1
        end = len(text) if following is None else parsed.line_starts[following.line]
        places.append(Place(heading, tuple(other.text for other in above), body, end))
    return places


def _spellings(wanted: str) -> Iterator[tuple[list[str], int]]:
    """The paths that an anchor may spell, each with the level it asks for: a heading may itself hold `::`."""
    yield [wanted], 0
    marked = _MARKED.match(wanted.strip())
    if marked:
        yield [marked[2]], len(marked[1])
    if "::" in wanted:
        parts = [part.strip() for part in wanted.split("::")]
        yield [found[2] if (found := _MARKED.match(part)) else part for part in parts], 0


def _best(places: list[Place], parts: list[str], plain: Callable[[str], str]) -> list[Place]:
    """The headings that fit best: by their full path, else by its end, else by some of the headings above."""
    wanted = [plain(part) for part in parts]
    if not all(wanted):
        return []
    paths = [(place, [plain(part) for part in place.path]) for place in places]
    paths = [(place, path) for place, path in paths if path[-1] == wanted[-1]]
    full = [place for place, path in paths if path == wanted]
    ends = [place for place, path in paths if path[-len(wanted) :] == wanted]
    return full or ends or [place for place, path in paths if _in_order(wanted, path)]


def _in_order(wanted: list[str], path: list[str]) -> bool:
    rest = iter(path)
    return all(part in rest for part in wanted)


def _ambiguous(found: list[Place]) -> str:
    lines = ", ".join(str(place.heading.line + 1) for place in found)
    return f"{len(found)} headings have this name (lines {lines}): use the full path, or a line"


def _nearest(wanted: str, names: list[str]) -> list[str]:
    """The headings most like what was asked for, by their last part or whole; the first ones where none is."""
    last = loose(wanted.rpartition("::")[2])
    by_last = {name: loose(name.rpartition("::")[2]) for name in names}
    close = get_close_matches(last, list(by_last.values()), n=_NEAREST, cutoff=0.5)
    return [name for near in dict.fromkeys(close) for name in names if by_last[name] == near][
        :_NEAREST
    ] or names[:_NEAREST]
