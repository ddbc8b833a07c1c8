"""Values inside values: looking one up by its path, putting one in, telling two apart."""

from typing import Any, TypeAlias

from knapper.vault.frontmatter.errors import FrontmatterError

Path: TypeAlias = tuple[str, ...]
GONE: Any = object()


def at(values: Any, path: Path) -> Any:
    """The value at a path, or GONE; a number is an index in a list."""
    for name in path:
        if isinstance(values, dict):
            values = values.get(name, GONE)
        elif isinstance(values, list) and name.isdecimal() and int(name) < len(values):
            values = values[int(name)]
        else:
            return GONE
    return values


def put(values: Any, path: Path, new: Any) -> Any:
    """A copy of nested values with the one at a path set, or taken out; the mappings on the way are made."""
    name, rest = path[0], path[1:]
    if isinstance(values, list) and name.isdecimal() and int(name) < len(values):
        return _put_item(values, int(name), rest, new)
    if values is not None and not isinstance(values, dict):
        if new is GONE:
            return values
        raise FrontmatterError("the path leads through a value that is no mapping")
    copy = dict(values or {})
    if rest and (name in copy or new is not GONE):
        copy[name] = put(copy.get(name), rest, new)
    elif new is GONE:
        copy.pop(name, None)
    else:
        copy[name] = new
    return copy if values is not None or copy else None


def _put_item(items: list[Any], index: int, rest: Path, new: Any) -> list[Any]:
    if rest:
        return [*items[:index], put(items[index], rest, new), *items[index + 1 :]]
    return items[:index] + ([] if new is GONE else [new]) + items[index + 1 :]


def same(one: Any, other: Any) -> bool:
    """Equality that tells 1 from True and from 1.0, and finds not-a-number equal to itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other or (one != one and other != other))
