"""A change to a canvas: what is removed, updated and added, in that order, or nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from knapper import Record, ToolError
from knapper_canvas.canvas import EMPTY, Json, edge_problems, named, node_problems, opened, refuse, repeated


class Applied(Record, omit_defaults=False):
    """How many nodes and edges a change touched."""

    nodes_added: int = 0
    nodes_removed: int = 0
    nodes_updated: int = 0
    edges_added: int = 0
    edges_removed: int = 0
    edges_updated: int = 0


class Change(NamedTuple):
    """What is asked of a canvas."""

    add_nodes: list[Json]
    add_edges: list[Json]
    remove_nodes: frozenset[str]
    remove_edges: frozenset[str]
    update_nodes: Mapping[str, Json]
    update_edges: Mapping[str, Json]


def apply(text: str, change: Change, path: str) -> tuple[str, Applied]:
    """The canvas with the change in it, everything else as it was written."""
    document = opened(text, path)
    nodes: list[Json] = document.value.get("nodes", [])
    edges: list[Json] = document.value.get("edges", [])
    nodes_removed = _drop(nodes, lambda node: str(node.get("id")) in change.remove_nodes)
    edges_removed = _drop(edges, lambda edge: _goes(edge, change))
    before = {id(one): set(node_problems(one)) for one in nodes}
    updated_nodes = _update(nodes, change.update_nodes, "node")
    nodes += named(change.add_nodes, "node")
    ids = {str(node.get("id")) for node in nodes}
    before |= {id(one): set(edge_problems(one, ids)) for one in edges}
    updated_edges = _update(edges, change.update_edges, "edge")
    edges += named(change.add_edges, "edge")
    refuse(
        [
            *_taken(nodes, len(change.add_nodes), "node"),
            *_taken(edges, len(change.add_edges), "edge"),
            *_new_problems([*updated_nodes, *_last(nodes, change.add_nodes)], node_problems, before),
            *_new_problems(
                [*updated_edges, *_last(edges, change.add_edges)], lambda one: edge_problems(one, ids), before
            ),
        ]
    )
    for name, listed in (("nodes", nodes), ("edges", edges)):
        if listed:
            document.value[name] = listed
    applied = Applied(
        nodes_added=len(change.add_nodes),
        nodes_removed=nodes_removed,
        nodes_updated=len(updated_nodes),
        edges_added=len(change.add_edges),
        edges_removed=edges_removed,
        edges_updated=len(updated_edges),
    )
    changed = document.text()
    return (text if changed == EMPTY and not text.strip() else changed), applied


def _goes(edge: Json, change: Change) -> bool:
    ends = {str(edge.get("fromNode")), str(edge.get("toNode"))}
    return str(edge.get("id")) in change.remove_edges or not ends.isdisjoint(change.remove_nodes)


def _drop(listed: list[Json], goes: Callable[[Json], bool]) -> int:
    count = len(listed)
    listed[:] = [one for one in listed if not goes(one)]
    return count - len(listed)


def _update(listed: list[Json], patches: Mapping[str, Json], kind: str) -> list[Json]:
    by_id = {str(one.get("id")): one for one in listed}
    for own, patch in patches.items():
        found = by_id.get(own)
        if found is None:
            raise ToolError("invalid_input", f"there is no {kind} {own!r} to update", id=own)
        if patch.get("id", own) != own:
            raise ToolError("invalid_input", f"the id of {kind} {own!r} cannot be changed", id=own)
        _merge(found, patch)
    return [by_id[own] for own in patches]


def _merge(into: Json, patch: Json) -> None:
    """Set what the patch names; null takes a field away."""
    for name, value in patch.items():
        if value is None:
            into.pop(name, None)
        else:
            into[name] = value


def _last(listed: list[Json], added: list[Json]) -> list[Json]:
    return listed[len(listed) - len(added) :]


def _taken(listed: list[Json], added: int, kind: str) -> Iterator[str]:
    """Ids that an added one shares; those that were double before are not this change's fault."""
    old = {str(one.get("id")) for one in listed[: len(listed) - added]}
    new = listed[len(listed) - added :]
    yield from (f"{kind} {one.get('id')!r}: the id is taken" for one in new if str(one.get("id")) in old)
    yield from repeated(new, kind)


def _new_problems(
    listed: Iterable[Json], check: Callable[[Json], Iterable[str]], before: Mapping[int, set[Any]]
) -> Iterator[str]:
    for one in listed:
        known = before.get(id(one), set())
        yield from (problem for problem in check(one) if problem not in known)
