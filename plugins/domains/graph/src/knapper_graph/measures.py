"""Measures of a graph of notes: plain functions over adjacency, each giving the same answer for the same graph."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import log

Edge = tuple[str, str, int]
Look = Callable[[], None]  # called again and again, and raises where nobody waits for the answer any more


def go_on() -> None:
    """Nobody stops waiting."""


@dataclass
class Graph:
    """Notes and the links between them, forward and backward, with how often each stands."""

    nodes: list[str]
    out: dict[str, dict[str, int]] = field(default_factory=dict)
    into: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Iterable[str], edges: Iterable[Edge]) -> Graph:
        graph = cls(sorted(nodes))
        known = set(graph.nodes)
        for source, target, count in edges:
            if source in known and target in known:
                graph.out.setdefault(source, {})[target] = count
                graph.into.setdefault(target, {})[source] = count
        return graph

    def around(self, node: str) -> dict[str, int]:
        """Neighbours in either direction, with the links between them added up."""
        found = Counter(self.out.get(node, {}))
        found.update(self.into.get(node, {}))
        return dict(found)


def degree(graph: Graph, *, look: Look = go_on) -> dict[str, float]:
    look()
    return {node: float(len(graph.out.get(node, {})) + len(graph.into.get(node, {}))) for node in graph.nodes}


def pagerank(
    graph: Graph, *, look: Look = go_on, damping: float = 0.85, rounds: int = 60, close: float = 1e-9
) -> dict[str, float]:
    """How much weight reaches a note when weight flows along links; notes without links give theirs to all."""
    count = len(graph.nodes)
    if not count:
        return {}
    rank = dict.fromkeys(graph.nodes, 1.0 / count)
    totals = {node: sum(targets.values()) for node, targets in graph.out.items()}
    for _ in range(rounds):
        look()
        loose = sum(value for node, value in rank.items() if node not in totals)
        new = dict.fromkeys(graph.nodes, (1 - damping) / count + damping * loose / count)
        for node, targets in graph.out.items():
            share = damping * rank[node] / totals[node]
            for target, links in targets.items():
                new[target] += share * links
        if sum(abs(new[node] - rank[node]) for node in graph.nodes) < close:
            return new
        rank = new
    return rank


def betweenness(graph: Graph, *, look: Look = go_on, most: int = 400) -> dict[str, float]:
    """How often a note lies on shortest ways between others (Brandes); from an even sample where there are many."""
    score = dict.fromkeys(graph.nodes, 0.0)
    sources = graph.nodes if len(graph.nodes) <= most else graph.nodes[:: -(-len(graph.nodes) // most)]
    for source in sources:
        look()
        order, before, ways = _shortest_ways(graph, source)
        credit = dict.fromkeys(order, 0.0)
        for node in reversed(order):
            for previous in before[node]:
                credit[previous] += ways[previous] / ways[node] * (1 + credit[node])
            if node != source:
                score[node] += credit[node]
    return score


def _shortest_ways(graph: Graph, source: str) -> tuple[list[str], dict[str, list[str]], dict[str, float]]:
    order: list[str] = []
    before: dict[str, list[str]] = {source: []}
    ways = {source: 1.0}
    distance, queue = {source: 0}, deque([source])
    while queue:
        node = queue.popleft()
        order.append(node)
        for target in graph.out.get(node, {}):
            if target not in distance:
                distance[target] = distance[node] + 1
                before[target], ways[target] = [], 0.0
                queue.append(target)
            if distance[target] == distance[node] + 1:
                ways[target] += ways[node]
                before[target].append(node)
    return order, before, ways


def communities(graph: Graph, *, look: Look = go_on) -> list[list[str]]:
    """Groups that link among themselves more than chance would (Louvain, in a fixed order), largest first."""
    weights = {
        node: {other: float(links) for other, links in graph.around(node).items()} for node in graph.nodes
    }
    groups = {node: [node] for node in graph.nodes}
    while True:
        label = _moved(weights, look)
        if len(set(label.values())) == len(weights):
            return sorted(
                (sorted(group) for group in groups.values()), key=lambda group: (-len(group), group[0])
            )
        groups, weights = _merged(groups, weights, label)


def _moved(weights: dict[str, dict[str, float]], look: Look) -> dict[str, str]:
    """Put each node where it raises modularity most, until none moves; ties go to the first label."""
    degree = {node: sum(around.values()) for node, around in weights.items()}
    whole = sum(degree.values()) or 1.0
    label = {node: node for node in weights}
    total = dict(degree)
    for _ in range(50):
        look()
        moved = False
        for node, around in weights.items():
            links: dict[str, float] = defaultdict(float)
            for other, weight in around.items():
                if other != node:
                    links[label[other]] += weight
            here = label[node]
            total[here] -= degree[node]
            gain = {name: links[name] - total[name] * degree[node] / whole for name in {*links, here}}
            best = min(gain, key=lambda name: (-round(gain[name], 12), name != here, name))
            total[best] += degree[node]
            if best != here:
                label[node], moved = best, True
        if not moved:
            break
    return label


def _merged(
    groups: dict[str, list[str]], weights: dict[str, dict[str, float]], label: dict[str, str]
) -> tuple[dict[str, list[str]], dict[str, dict[str, float]]]:
    """Each group as one node, with the links between groups added up."""
    new_groups: dict[str, list[str]] = {}
    new_weights: dict[str, dict[str, float]] = {}
    for node, around in weights.items():
        mine = label[node]
        new_groups.setdefault(mine, []).extend(groups[node])
        row = new_weights.setdefault(mine, {})
        for other, weight in around.items():
            row[label[other]] = row.get(label[other], 0.0) + weight
    return new_groups, new_weights


def path_between(graph: Graph, start: str, goal: str, *, directed: bool, most_hops: int) -> list[str] | None:
    """A shortest way, of several the alphabetically first, or None within the hops allowed."""
    came: dict[str, str | None] = {start: None}
    frontier = [start]
    for _ in range(most_hops + 1):
        if goal in came:
            return _back(came, goal)
        following: list[str] = []
        for node in frontier:
            neighbours = graph.out.get(node, {}) if directed else graph.around(node)
            for target in sorted(neighbours):
                if target not in came:
                    came[target] = node
                    following.append(target)
        frontier = following
        if not frontier:
            return None
    return None


def _back(came: Mapping[str, str | None], goal: str) -> list[str]:
    way: list[str] = []
    node: str | None = goal
    while node is not None:
        way.append(node)
        node = came[node]
    return way[::-1]


def cycles(graph: Graph) -> list[list[str]]:
    """Sets of notes that can all reach each other by links (Tarjan), each with more than one note, largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    for root in graph.nodes:
        if root in index:
            continue
        work = [(root, iter(graph.out.get(root, {})))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(graph.out.get(target, {}))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_component(stack, on_stack, node))
    return sorted(
        (sorted(group) for group in found if len(group) > 1), key=lambda group: (-len(group), group[0])
    )


def _component(stack: list[str], on_stack: set[str], root: str) -> list[str]:
    group = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        group.append(node)
        if node == root:
            return group


def similarity(graph: Graph, one: str, other: str) -> float:
    """How alike two notes' neighbourhoods are (Adamic-Adar): shared neighbours count more the fewer they know."""
    shared = graph.around(one).keys() & graph.around(other).keys()
    return sum(1 / log(max(2, len(graph.around(node)) + 1)) for node in sorted(shared))
