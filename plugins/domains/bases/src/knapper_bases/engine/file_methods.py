"""Functions and fields of files and links."""

from collections.abc import Callable, Sequence

from knapper_bases.engine.arguments import MANY, Method, flattened, string
from knapper_bases.engine.compare import tag_matches
from knapper_bases.engine.convert import MISSING, convert_all, converter, lookup, read_link
from knapper_bases.engine.run import Run
from knapper_bases.engine.source import LinkRef
from knapper_bases.engine.values import Date, File, Link, Tag, This


def note_property(run: Run, file: File, name: str) -> object:
    """Give a property of a file by name, or MISSING."""
    folded = name.casefold()
    raw = lookup(file.entry.properties, name, folded)
    return raw if raw is MISSING else converter(folded, run.types)(raw, file.path, run)


def as_file(run: Run, value: object, source_path: str) -> File | None:
    """Find the file that a path, link or file stands for."""
    if isinstance(value, File):
        return value
    path = run.resolve(value) if isinstance(value, Link) else _path_of(run, value, source_path)
    return run.file(path) if path else None


def _path_of(run: Run, value: object, source_path: str) -> str | None:
    if not isinstance(value, str):
        return None
    link = read_link(value, source_path)
    return run.resolve(link) if link else run.destination(value, source_path)


def _links(run: Run, file: File, found: Sequence[LinkRef]) -> list[object]:
    run.budget.spend(len(found) + 1)
    return [Link(link.target, link.display, file.path, link.resolved) for link in found]


def _backlinks(run: Run, file: File) -> list[object]:
    paths = file.entry.backlinks
    run.budget.spend(len(paths) + 1)
    return [Link(path, _basename(path), file.path, path) for path in paths]


def _basename(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


FILE_FIELDS: dict[str, Callable[[Run, File], object]] = {
    "name": lambda run, file: file.name,
    "basename": lambda run, file: file.basename,
    "path": lambda run, file: file.path,
    "folder": lambda run, file: file.folder,
    "ext": lambda run, file: file.ext,
    "size": lambda run, file: file.entry.size,
    "ctime": lambda run, file: Date(run.local(file.entry.ctime), True),
    "mtime": lambda run, file: Date(run.local(file.entry.mtime), True),
    "tags": lambda run, file: [Tag(tag.removeprefix("#")) for tag in file.entry.tags],
    "links": lambda run, file: _links(run, file, file.entry.links),
    "embeds": lambda run, file: _links(run, file, file.entry.embeds),
    "backlinks": _backlinks,
    "properties": lambda run, file: convert_all(file.entry.properties, file.path, run),
    "file": lambda run, file: File(file.entry) if isinstance(file, This) else file,
}


def has_link(run: Run, file: File, wanted: object) -> bool:
    """Tell whether a file links to another: by where the links lead, or by their text if nowhere."""
    links = file.entry.links
    run.budget.spend(len(links) + 1)
    if isinstance(wanted, File):
        return any(link.resolved == wanted.path for link in links)
    if not isinstance(wanted, Link):
        written = string(wanted, run)
        wanted = read_link(written, file.path) or Link(written, None, file.path)
    path = run.resolve(wanted)
    if path is not None:
        return any(link.resolved == path for link in links)
    unresolved = wanted.target.casefold()
    return any(link.resolved is None and link.target.casefold() == unresolved for link in links)


def in_folder(path: str, folder: str) -> bool:
    """Tell whether a path lies in a folder or below it."""
    folder = folder.strip("/")
    return not folder or path.startswith(f"{folder}/")


def _has_tag(run: Run, file: File, args: list[object]) -> bool:
    wanted = [string(tag, run) for tag in flattened(args)]
    return any(tag_matches(tag, want) for tag in file.entry.tags for want in wanted)


def _has_property(run: Run, file: File, args: list[object]) -> bool:
    name = string(args[0], run)
    return lookup(file.entry.properties, name, name.casefold()) is not MISSING


def _links_to(run: Run, link: Link, args: list[object]) -> bool:
    file = as_file(run, link, link.source_path)
    return file is not None and has_link(run, file, args[0])


FILE_METHODS: dict[str, Method] = {
    "asLink": Method(
        lambda run, file, args: Link(file.path, args[0] if args else None, file.path, file.path), 0, 1
    ),
    "hasLink": Method(lambda run, file, args: args[0] is not None and has_link(run, file, args[0]), 1, 1),
    "hasProperty": Method(_has_property, 1, 1),
    "hasTag": Method(_has_tag, 1, MANY),
    "inFolder": Method(lambda run, file, args: in_folder(file.path, string(args[0], run)), 1, 1),
}

LINK_METHODS: dict[str, Method] = {
    "asFile": Method(lambda run, link, args: as_file(run, link, link.source_path)),
    "linksTo": Method(_links_to, 1, 1),
}
