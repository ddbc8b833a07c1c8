"""Links made to name another target: those that say the old one, and those that lead to its file."""

from collections.abc import Iterator

from knapper.vault.markdown import Link
from knapper.vault.relink.notes import Moves, Relinked, apply, is_relative, spellings
from knapper.vault.relink.spelling import Spelled, spell
from knapper.vault.resolve import LinkFormat, Resolver, normal

# The endings that say a target is not a note whose `.md` was left out.
_ENDINGS = frozenset(
    [
        *("md", "base", "canvas", "pdf"),
        *("avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp"),
        *("flac", "m4a", "mp3", "ogg", "wav", "webm", "3gp"),
        *("mkv", "mov", "mp4", "ogv"),
    ]
)


class Retarget:
    """From one target to another, each a name or path with or without a heading or block; `files` holds their namesakes.

    A link keeps its own heading or block part where neither target has one, and its own manner: relative stays relative.
    """

    def __init__(
        self, old: str, new: str, files: Resolver | None = None, format: LinkFormat = "shortest"
    ) -> None:
        self.old = old
        self.new = new
        self._files = files or Resolver()
        self._old, mark, rest = old.strip().partition("#")
        self._old_part = mark + rest
        self._new, mark, rest = new.strip().partition("#")
        self._new_part = mark + rest if mark else "" if self._old_part else None
        self._old_file = self._files.resolve(self._old, "") if self._old else None
        self._new_file = self._files.resolve(self._new, "") if self._new else None
        self._moves = Moves({}, self._files, self._files, format)

    def changes(self, links: list[Link], source: str) -> tuple[list[tuple[Link, Spelled]], list[Link]]:
        """The links that have to change, each with its change, and those that cannot."""
        changes: list[tuple[Link, Spelled]] = []
        broken: list[Link] = []
        for link in links:
            if not self._is_meant(link, source):
                continue
            change = next(self._changes(link, source), None)
            if change is None:
                broken.append(link)
            elif link.original[change.start : change.end] != change.new:
                changes.append((link, change))
        return changes, broken

    def path(self, value: str) -> str | None:
        """What a canvas node that names this file shall name."""
        if self._old_part or (value != self._old_file and _name(value) != _name(self._old)):
            return None
        new = self._new_file or _with_md(self._new)
        return new if new != value else None

    def _is_meant(self, link: Link, source: str) -> bool:
        if not link.path or (self._old_part and normal(link.subpath) != normal(self._old_part)):
            return False
        file = self._files.resolve(link.path, source)
        if self._old_file is not None and file == self._old_file:
            return True
        bare = "/" not in self._old and not self._old.lower().endswith(".md")
        return _name(link.path) == _name(self._old) and (bare or file is None)

    def _changes(self, link: Link, source: str) -> Iterator[Spelled]:
        for path in self._paths(link, source):
            leads = self._files.resolve(path, source)
            if self._new_file is None or leads == self._new_file:
                change = spell(link, path, self._new_part)
                if change is not None:
                    yield change

    def _paths(self, link: Link, source: str) -> Iterator[str]:
        omit_md = not link.path.lower().endswith(".md")
        if omit_md:
            given = self._new[:-3] if self._new.lower().endswith(".md") else self._new
        else:
            given = _with_md(self._new)
        target = self._files.resolve(link.path, source) or ""
        plain = not link.path.startswith("/") and not is_relative(link.path, source, target)
        if plain or self._new_file is None:
            yield given
        if self._new_file is not None:
            yield from spellings(link.path, source, source, target, self._new_file, omit_md, self._moves)


def retarget(text: str, links: list[Link], source: str, plan: Retarget) -> Relinked:
    """The text of the note at `source` with its links from one target to another changed."""
    return apply(text, *plan.changes(links, source))


def _name(path: str) -> str:
    return normal(path.strip()).removesuffix(".md")


def _with_md(path: str) -> str:
    return path if path.rpartition(".")[2].lower() in _ENDINGS else f"{path}.md"
