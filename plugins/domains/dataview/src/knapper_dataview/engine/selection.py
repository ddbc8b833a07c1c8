"""Which notes FROM means."""

from __future__ import annotations

from collections.abc import Iterable

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.syntax import (
    BinarySource,
    CsvSource,
    FolderSource,
    LinkSource,
    NegatedSource,
    SourceNode,
    TagSource,
)


def select(node: SourceNode, context: Context) -> list[str]:
    """The paths of a source, in order; CSV files are among them by their own path."""
    if isinstance(node, FolderSource) and node.folder in ("", "/"):
        return [*context.source.all_paths()]
    return sorted(set(_paths(node, context)))


def _paths(node: SourceNode, context: Context) -> Iterable[str]:
    source = context.source
    match node:
        case TagSource(tag):
            return source.tagged(tag)
        case FolderSource(folder):
            return _in_folder(folder, context)
        case LinkSource(file, direction):
            return _linked(file, direction, context)
        case CsvSource(path):
            return [csv_path(path, context)]
        case NegatedSource(child):
            left_out = set(_paths(child, context))
            return [path for path in source.all_paths() if path not in left_out]
        case BinarySource(left, op, right):
            one, other = set(_paths(left, context)), set(_paths(right, context))
            return one & other if op == "&" else one | other


def _in_folder(folder: str, context: Context) -> Iterable[str]:
    if not folder or folder == "/":
        return context.source.all_paths()
    found = context.source.in_folder(folder)
    if found is not None:
        return found
    return [path for path in (folder, f"{folder}.md") if context.source.exists(path)][:1]


def _linked(file: str, direction: str, context: Context) -> Iterable[str]:
    path = context.source.resolve(file, context.origin)
    if path is None:
        # Of a note that is not there only the links to it are known, whichever way they were asked for.
        return context.source.mentioning(file)
    if direction == "incoming":
        return context.source.linking_to(path)
    return context.source.linked_from(path)


def csv_path(path: str, context: Context) -> str:
    """A CSV file's path: from the root with a slash before it, else beside the note first."""
    if path.startswith("/"):
        return path[1:]
    folder = context.origin.rpartition("/")[0]
    beside = f"{folder}/{path}"
    return beside if folder and context.source.exists(beside) else path
