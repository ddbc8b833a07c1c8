"""Changing frontmatter inside a note's text: the bytes of the named keys and no others.

Every edit is read back before it is handed out: it made exactly the change asked for, or it raises.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from knapper.vault.frontmatter import spans, splicing
from knapper.vault.frontmatter.block import Block, find
from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.nested import GONE, Path, at, put, same
from knapper.vault.frontmatter.nodes import Node, compose
from knapper.vault.frontmatter.reading import load
from knapper.vault.frontmatter.writing import Style, mapping_lines
from knapper.vault.lines import line_ending, line_start


def set_key(text: str, key: str, value: Any, *, nested: bool = False) -> str:
    """Give a property a value; with `nested`, dots in the key lead into mappings and lists."""
    return _change(text, _path(key, nested), value)


def remove_key(text: str, key: str, *, nested: bool = False) -> str:
    """Take a property out; a block left empty goes with its last property."""
    return _change(text, _path(key, nested), GONE)


def merge(text: str, patch: Mapping[str, Any], *, nested: bool = False) -> str:
    """Set every property the patch names; with `nested`, mappings merge into mappings."""
    for key, value in patch.items():
        for path, leaf in _leaves(_path(key, nested), value, nested):
            text = _change(text, path, leaf)
    return text


def replace_all(text: str, mapping: Mapping[str, Any]) -> str:
    """Make these the note's only properties; those that stay the same keep their bytes."""
    for key in [name for name in read(text) or {} if name not in mapping]:
        text = _change(text, (key,), GONE)
    return merge(text, mapping)


def add_to_list(text: str, key: str, *items: Any, nested: bool = False) -> str:
    """Add what is not there yet to a list property; a single value becomes a list first."""
    current = _as_list(at(read(text) or {}, _path(key, nested)))
    wanted = list(current)
    for item in items:
        if not any(same(item, other) for other in wanted):
            wanted.append(item)
    return _change(text, _path(key, nested), wanted) if len(wanted) > len(current) else text


def remove_from_list(text: str, key: str, *items: Any, nested: bool = False) -> str:
    """Take values out of a list property; the last one leaves an empty list, a single value null."""
    path = _path(key, nested)
    found = at(read(text) or {}, path)
    if found is GONE or found is None:
        return text
    kept = [old for old in _as_list(found) if not any(same(item, old) for item in items)]
    if len(kept) == len(_as_list(found)):
        return text
    return _change(text, path, kept if isinstance(found, list) else None)


def read(text: str) -> dict[str, Any] | None:
    """The properties of a whole note."""
    block = find(text)
    return None if block is None else _load(text[block.start : block.end])


def _load(inner: str) -> dict[str, Any]:
    try:
        return load(inner) or {}
    except FrontmatterError as error:
        raise FrontmatterError(error.reason, error.line and error.line + 1) from None


def _path(key: str, nested: bool) -> Path:
    return tuple(key.split(".")) if nested else (key,)


def _leaves(path: Path, value: Any, nested: bool) -> Iterator[tuple[Path, Any]]:
    if nested and isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves((*path, key), item, nested)
    else:
        yield path, value


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return list(value)
    return [] if value is GONE or value is None else [value]


def _change(text: str, path: Path, value: Any) -> str:
    block = find(text)
    if block is None:
        return text if value is GONE else _with_block(text, put({}, path, value))
    inner = text[block.start : block.end]
    before = _load(inner)
    wanted = put(before, path, value)
    if same(before, wanted):
        return text
    old = at(before, path)
    if isinstance(old, dict) and isinstance(value, dict) and old and value:
        return _change_mapping(text, path, old, value)
    for candidate in _candidates(inner, path, wanted, block.eol):
        changed = _rebuild(text, block, candidate) if _reads_as(candidate, wanted) else None
        if changed is not None:
            return changed
    raise FrontmatterError("cannot edit safely")


def _change_mapping(text: str, path: Path, old: dict[str, Any], new: dict[str, Any]) -> str:
    for key, item in new.items():
        text = _change(text, (*path, key), item)
    for key in old.keys() - new.keys():
        text = _change(text, (*path, key), GONE)
    return text


def _with_block(text: str, values: dict[str, Any]) -> str:
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    eol = line_ending(text)
    lines = ["---", *mapping_lines(values, 0, Style(eol)), "---", ""]
    changed = bom + eol.join(lines) + text[len(bom) :]
    if not same(read(changed), values):
        raise FrontmatterError("cannot edit safely")
    return changed


def _rebuild(text: str, block: Block, inner: str) -> str | None:
    if not inner.strip():
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        changed = bom + text[block.after :]
        if find(changed) is None:
            return changed
    changed = text[: block.start] + inner + text[block.end :]
    found = find(changed)
    same_bounds = found is not None and (found.start, found.end) == (block.start, block.start + len(inner))
    return changed if same_bounds else None


def _reads_as(inner: str, wanted: dict[str, Any]) -> bool:
    try:
        return same(load(inner) or {}, wanted)
    except FrontmatterError:
        return False


def _candidates(inner: str, path: Path, wanted: dict[str, Any], eol: str) -> Iterator[str]:
    """Texts that may make the change, the most careful first."""
    root = compose(inner)
    if root is None or root.kind != "mapping" or not root.keys:
        flow_root = root if root is not None and root.kind == "mapping" else None
        yield from splicing.adding(inner, flow_root, path[0], wanted[path[0]], Style(eol))
        return
    style = Style(eol, _is_json(root), _list_indent(inner, root))
    if not wanted:
        yield from splicing.emptying(inner, root)
        return
    node = root
    for depth, name in enumerate(path):
        found = spans.entries(node, name)
        here = at(wanted, path[: depth + 1])
        if not found:
            yield from splicing.adding(inner, node, name, here, style)
        elif here is GONE:
            yield from splicing.removing(inner, node, found)
        elif depth + 1 == len(path) or not here or found[-1].value.kind != "mapping":
            yield from splicing.setting(inner, found[-1], here, style, node.style == "flow")
        else:
            node = found[-1].value
            continue
        return


def _is_json(root: Node) -> bool:
    return root.style == "flow" and all(key.style == '"' for key in root.keys)


def _list_indent(inner: str, root: Node) -> int:
    """How far this note's lists stand in from their keys."""
    for key, item in zip(root.keys, root.items, strict=True):
        if item.kind == "sequence" and item.style == "block":
            start = spans.dashes(inner, item)[0]
            column = inner.index("-", start) - start
            return max(0, column - (key.start - line_start(inner, key.start)))
    return 2
