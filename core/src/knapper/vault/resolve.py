"""Which file a link names, as Obsidian decides it, and which text it would write for a file."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

LinkFormat: TypeAlias = Literal["shortest", "relative", "absolute"]

_FROM_SOMEWHERE = ("/", "./", "../")
# Past this many files of one name a link is looked up by folder instead of tried against each.
_CROWD = 16


def normal(text: str) -> str:
    """The form in which link paths and file paths are compared."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).replace("\xa0", " ").lower()


def link_key(linkpath: str) -> str:
    """The key under which the files a link may mean are found: one of the `file_keys` of each of them."""
    return _stem(normal(linkpath.partition("#")[0].strip()))


def file_keys(path: str) -> tuple[str, ...]:
    """The keys of the links whose meaning may change when this file appears or goes."""
    return (_stem(normal(path)),)


def _stem(path: str) -> str:
    # All of them: a link to `x.md` may also mean the file `x.md.md`.
    name = path.rpartition("/")[2]
    while name.endswith(".md"):
        name = name[:-3]
    return name


class _Crowd:
    """Many files of one name, by folder."""

    __slots__ = ("folders", "shortest")

    def __init__(self, paths: list[str]) -> None:
        self.folders: dict[str, list[str]] = {}
        for path in paths:
            self.folders.setdefault(normal(path.rpartition("/")[0]), []).append(path)
        names = {normal(path.rpartition("/")[2]): path for path in reversed(paths)}
        self.shortest = list(names.values())

    def likely(self, target: str, exact: bool, source: str) -> list[str]:
        """The few files a normalised target can mean."""
        folder, slash, _ = target.rpartition("/")
        near = self.folders.get(folder, [])
        if exact or (slash and near and len(self.shortest) == 1):
            return near
        if not slash:
            own = self.folders.get(normal(source.rpartition("/")[0]), [])
            return [*near, *own, *self.shortest]
        tail = "/" + folder
        fitting = (paths for name, paths in self.folders.items() if name == folder or name.endswith(tail))
        return [path for paths in fitting for path in paths]


class Resolver:
    """The files of a vault, ready to be linked to."""

    __slots__ = ("_by_key", "_crowds")

    def __init__(self, paths: Iterable[str] = ()) -> None:
        # One path, or several sorted by length and then alphabet; most keys have one.
        self._by_key: dict[str, str | list[str]] = {}
        self._crowds: dict[str, _Crowd] = {}
        for path in paths:
            key = file_keys(path)[0]
            found = self._by_key.setdefault(key, path)
            if isinstance(found, list):
                found.append(path)
            elif found != path:
                self._by_key[key] = [found, path]
        for key, found in self._by_key.items():
            if isinstance(found, list):
                self._by_key[key] = sorted(set(found), key=_rank)

    def __contains__(self, path: str) -> bool:
        return path in self._bucket(file_keys(path)[0])

    def __iter__(self) -> Iterator[str]:
        for found in self._by_key.values():
            yield from (found,) if isinstance(found, str) else found

    def add(self, path: str) -> None:
        """A file appeared."""
        key = file_keys(path)[0]
        found = self._bucket(key)
        if path not in found:
            self._crowds.pop(key, None)
            self._by_key[key] = sorted([*found, path], key=_rank) if found else path

    def remove(self, path: str) -> None:
        """A file is gone."""
        key = file_keys(path)[0]
        left = [other for other in self._bucket(key) if other != path]
        self._crowds.pop(key, None)
        if left:
            self._by_key[key] = left if len(left) > 1 else left[0]
        else:
            self._by_key.pop(key, None)

    def resolve(self, linkpath: str, source: str) -> str | None:
        """The file a link in `source` leads to; None where it leads nowhere."""
        written = linkpath.partition("#")[0].strip()
        if not written:
            return source
        exact = written.startswith(_FROM_SOMEWHERE)
        target = normal(_rooted(written, source) if exact else written)
        found = self._by_key.get(_stem(target))
        if found is None:
            return None
        if isinstance(found, str):
            found = [found]
        elif len(found) > _CROWD:
            found = self._crowd(found, target).likely(target, exact, source)
        matching = _matching(found, target, exact)
        if len(matching) < 2:
            return matching[0] if matching else None
        return min(matching, key=_preference(written, target, source))

    def candidates(self, linkpath: str, source: str) -> list[str]:
        """All files a link may mean, the one it does mean first."""
        written = linkpath.partition("#")[0].strip()
        if not written:
            return [source]
        exact = written.startswith(_FROM_SOMEWHERE)
        target = normal(_rooted(written, source) if exact else written)
        matching = _matching(self._bucket(_stem(target)), target, exact)
        return sorted(matching, key=_preference(written, target, source))

    def shortest(
        self, target: str, source: str, format: LinkFormat = "shortest", *, omit_md: bool = True
    ) -> str:
        """The path Obsidian would write in `source` to link to a file; Markdown links keep the `.md`."""
        full = target[:-3] if omit_md and target.lower().endswith(".md") else target
        for text in self._spellings(full, target, source, format):
            if self.resolve(text, source) == target:
                return text
        return full

    def _spellings(self, full: str, target: str, source: str, format: LinkFormat) -> Iterator[str]:
        if format == "relative":
            for near in (relative(full, source), relative(target, source)):
                yield near
                if not near.startswith("../"):
                    yield "./" + near
        elif format == "shortest":
            bare = full.rpartition("/")[2]
            if self.candidates(bare, source) == [target]:
                yield bare
        yield from (full, target, "/" + full, "/" + target)

    def _bucket(self, key: str) -> list[str]:
        found = self._by_key.get(key, [])
        return [found] if isinstance(found, str) else found

    def _crowd(self, paths: list[str], target: str) -> _Crowd:
        key = _stem(target)
        crowd = self._crowds.get(key)
        if crowd is None:
            crowd = self._crowds[key] = _Crowd(paths)
        return crowd


def relative(path: str, source: str) -> str:
    """A vault path as seen from the folder of a note."""
    ours = source.split("/")[:-1]
    theirs = path.split("/")
    shared = 0
    while shared < min(len(ours), len(theirs) - 1) and ours[shared] == theirs[shared]:
        shared += 1
    return "/".join([*[".."] * (len(ours) - shared), *theirs[shared:]])


def _rank(path: str) -> tuple[int, str]:
    return len(path), path


def _matching(paths: Iterable[str], target: str, exact: bool) -> list[str]:
    """The paths that a normalised target fits: those that carry its extension, else those that add `.md`."""
    own: list[str] = []
    implied: list[str] = []
    tail = "/" + target
    for path in paths:
        spelled = normal(path)
        if spelled == target or (not exact and spelled.endswith(tail)):
            own.append(path)
        elif spelled.endswith(".md"):
            spelled = spelled[:-3]
            if spelled == target or (not exact and spelled.endswith(tail)):
                implied.append(path)
    return own or implied


def _rooted(written: str, source: str) -> str:
    """The vault path that an absolute or relative link spells; one that no file has where it leads out of the vault."""
    if written.startswith("/"):
        return written.lstrip("/")
    parts = source.split("/")[:-1]
    if written.endswith(("/", "/.", "/..")):
        return ".."
    for part in written.split("/"):
        if part == "..":
            if not parts:
                return ".."
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def _preference(written: str, target: str, source: str) -> Callable[[str], tuple[bool, bool, bool, int, str]]:
    """The order among files that all fit: the exact path, the source's own folder, the shortest, the first."""
    folder = source.rpartition("/")[0]
    if written.startswith(_FROM_SOMEWHERE):
        written = _rooted(written, source)

    def order(path: str) -> tuple[bool, bool, bool, int, str]:
        inexact = normal(path) not in (target, target + ".md")
        other_case = path not in (written, written + ".md")
        return inexact, other_case, path.rpartition("/")[0] != folder, len(path), path

    return order
