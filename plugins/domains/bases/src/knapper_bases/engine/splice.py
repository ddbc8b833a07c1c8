"""Changing one entry of a YAML text and leaving every other byte alone."""

import re
from typing import Any, NamedTuple, TypeGuard, TypeVar

import yaml

from knapper_bases.engine.yamltext import compose, data_of, dump

_ALIAS = re.compile(r"\s*\*[^\s,\[\]{}]+")
_DASH = re.compile(r"^[ ]*-(?=\s|$)", re.MULTILINE)

Path = tuple[str | int, ...]
_Kind = TypeVar("_Kind", bound=yaml.CollectionNode)


class _Entry(NamedTuple):
    key: yaml.ScalarNode
    value: yaml.Node
    end: int


def set_key(text: str, path: Path, key: str, value: Any, after: tuple[str, ...] = ()) -> str:
    """Give an object's key a value; a new key goes behind the last of `after`, else to the end."""
    node = _find(compose(text), path)
    if not _is_block(node, yaml.MappingNode):
        return _replace(text, path, {**(data_of(node) or {}), key: value})
    entries = _entries(text, node)
    for entry in entries:
        if entry.key.value == key:
            start = entry.key.start_mark.index
            spelled = text[start : entry.key.end_mark.index]
            return text[:start] + _written(text, spelled, value, entry.key) + text[entry.end :]
    place = max((count for count, entry in enumerate(entries) if entry.key.value in after), default=-1)
    return _insert(text, entries[place].end, _written(text, _key(key), value, entries[0].key), entries[0].key)


def remove_key(text: str, path: Path, key: str) -> str:
    """Remove a key from an object, and the object with its last key."""
    node = _find(compose(text), path)
    left = {name: item for name, item in (data_of(node) or {}).items() if name != key}
    if not left and path and isinstance(path[-1], str):
        return remove_key(text, path[:-1], path[-1])
    if not _is_block(node, yaml.MappingNode) or (path and not left):
        return _replace(text, path, left)
    entries = _entries(text, node)
    place = next(count for count, entry in enumerate(entries) if entry.key.value == key)
    entry = entries[place]
    start = entry.key.start_mark.index
    if text[_line_start(text, start) : start].strip():
        return text[:start] + text[entries[place + 1].key.start_mark.index :]
    return _cut_lines(text, start, entry.end)


def append_item(text: str, key: str, value: Any) -> str:
    """Add an item to a list at the top of the file."""
    node = _find(compose(text), (key,))
    if not _is_block(node, yaml.SequenceNode):
        return set_key(text, (), key, [*(data_of(node) or []), value])
    column = node.start_mark.column
    item = f"- {_indented(dump(value), column + 2)}"
    return _insert(text, _items(text, node)[-1][1], _ended(text, item), node)


def remove_item(text: str, key: str, place: int) -> str:
    """Remove an item from a list at the top of the file."""
    node = _find(compose(text), (key,))
    if not _is_block(node, yaml.SequenceNode) or len(node.value) == 1:
        data = data_of(node)
        return set_key(text, (), key, [*data[:place], *data[place + 1 :]])
    return _cut_lines(text, *_items(text, node)[place])


def _find(node: yaml.Node | None, path: Path) -> yaml.Node | None:
    for step in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
        elif isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == step), None)
        else:
            return None
    return node


def _is_block(node: yaml.Node | None, kind: type[_Kind]) -> TypeGuard[_Kind]:
    return isinstance(node, kind) and not node.flow_style and bool(node.value)


def _replace(text: str, path: Path, value: Any) -> str:
    """Write a whole value anew, where its own form has no room for a change."""
    if not path:
        # A file without content may still have comments.
        kept = "" if compose(text) else text
        return kept + ("" if not kept or kept.endswith("\n") else "\n") + _ended(text, dump(value))
    if isinstance(path[-1], str):
        return set_key(text, path[:-1], path[-1], value)
    node = _find(compose(text), path)
    parent = _find(compose(text), path[:-1])
    if node is None or not _is_block(parent, yaml.SequenceNode):
        whole = data_of(parent)
        whole[path[-1]] = value
        return _replace(text, path[:-1], whole)
    start, end = node.start_mark.index, _end(text, node, node.start_mark.index)
    return text[:start] + _ended(text, _indented(dump(value), node.start_mark.column)) + text[end:]


def _entries(text: str, node: Any) -> list[_Entry]:
    return [_Entry(key, value, _value_end(text, key, value)) for key, value in node.value]


def _items(text: str, node: Any) -> list[tuple[int, int]]:
    """Give where each item's dash stands and where its content ends."""
    found: list[tuple[int, int]] = []
    behind = _line_start(text, node.start_mark.index)
    for item in node.value:
        dash = _DASH.search(text, behind)
        start = dash.end() - 1 if dash else item.start_mark.index
        behind = _end(text, item, start + 1)
        found.append((start, behind))
    return found


def _value_end(text: str, key: yaml.Node, value: yaml.Node) -> int:
    return _end(text, value, text.index(":", key.end_mark.index) + 1)


def _end(text: str, node: Any, after: int) -> int:
    """Find where a node's content ends, before blank lines and comments; `after` is where it may begin."""
    start, end = node.start_mark.index, node.end_mark.index
    if start < after:
        # An alias is its anchor's node, which stands further up; an empty value has no place of its own.
        alias = _ALIAS.match(text, after)
        return alias.end() if alias else after
    if isinstance(node, yaml.ScalarNode):
        return (
            int(start) + len(text[start:end].rstrip()) if node.style in ("|", ">") else max(int(end), after)
        )
    if node.flow_style or not node.value:
        return int(end)
    if isinstance(node, yaml.MappingNode):
        return _value_end(text, *node.value[-1])
    return _items(text, node)[-1][1]


def _written(text: str, spelled: str, value: Any, key: yaml.Node) -> str:
    entry = dump({"k": value})[1:]
    return _ended(text, spelled + _indented(entry, key.start_mark.column))


def _key(name: str) -> str:
    return dump({name: 0}).rpartition(":")[0]


def _indented(block: str, column: int) -> str:
    return block.rstrip("\n").replace("\n", "\n" + " " * column)


def _ended(text: str, block: str) -> str:
    return block.replace("\n", "\r\n") if "\r\n" in text else block


def _insert(text: str, end: int, block: str, beside: yaml.Node) -> str:
    """Put a block on its own line behind the line in which `end` lies."""
    line_end = text.find("\n", end)
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = " " * beside.start_mark.column
    if line_end < 0:
        return text + newline + indent + block
    return text[: line_end + 1] + indent + block + newline + text[line_end + 1 :]


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _cut_lines(text: str, start: int, end: int) -> str:
    line_end = text.find("\n", end)
    return text[: _line_start(text, start)] + (text[line_end + 1 :] if line_end >= 0 else "")
