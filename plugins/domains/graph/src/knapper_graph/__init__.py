"""Graph: the vault as a network of notes, as far as the caller may read it; the same vault gives the same answers."""

from __future__ import annotations

from typing import Annotated, Literal

from knapper import Context, Doc, Domain, NotePath, Page, Record, ToolError, hookimpl
from knapper_graph import measures
from knapper_graph.measures import Graph

graph = Domain(
    "graph", summary="Measure the network of notes: centrality, communities, paths, health.", group="links"
)

Measure = Literal["pagerank", "degree", "betweenness"]


class Central(Record):
    path: str
    score: float
    links_in: int
    links_out: int


@graph.tool("read:notes", rate="bulk", words="important influential popular hub pagerank key main")
def graph_centrality(
    ctx: Context,
    measure: Annotated[Measure, Doc("betweenness is estimated from a sample in large vaults.")] = "pagerank",
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    page: Page = Page(),
) -> Page.Of[Central]:
    """Rank notes by how central they are in the network of links."""
    net = _load(ctx, root)
    scores = {"pagerank": measures.pagerank, "degree": measures.degree, "betweenness": measures.betweenness}[
        measure
    ](net, look=ctx.check_cancelled)
    found = [
        Central(
            path=n,
            score=round(scores[n], 9),
            links_in=len(net.into.get(n, {})),
            links_out=len(net.out.get(n, {})),
        )
        for n in net.nodes
    ]
    return page.cut(sorted(found, key=lambda c: (-c.score, c.path)), key=lambda c: (-c.score, c.path))


class Community(Record):
    id: int
    size: int
    hub: str
    paths: list[str]


@graph.tool("read:notes", rate="bulk", words="clusters topics communities themes")
def graph_communities(
    ctx: Context,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    min_size: Annotated[int, Doc("Leave smaller groups out.", ge=1)] = 3,
    max_paths: Annotated[int, Doc("How many notes to name of each.", ge=1, le=500)] = 25,
    page: Page = Page(),
) -> Page.Of[Community]:
    """Find groups of notes that link mostly among themselves, largest first, each with its most linked note."""
    net = _load(ctx, root)
    found = []
    for number, group in enumerate(
        g for g in measures.communities(net, look=ctx.check_cancelled) if len(g) >= min_size
    ):
        hub = min(group, key=lambda n: (-len(net.around(n)), n))
        found.append(Community(id=number, size=len(group), hub=hub, paths=group[:max_paths]))
    return page.cut(found, key=lambda c: c.id)


class Way(Record):
    found: bool
    path: list[str]
    hops: int | None = None
    incomplete: str | None = None


@graph.tool("read:notes", rate="bulk", words="connected related shortest route degrees separation")
def graph_path_between(
    ctx: Context,
    from_: NotePath,
    to: NotePath,
    directed: Annotated[bool, Doc("Follow links only forward.")] = False,
    max_hops: Annotated[int, Doc("Give up beyond this.", ge=1, le=20)] = 6,
) -> Way:
    """Find a shortest chain of links between two notes."""
    way = measures.path_between(_load(ctx), from_, to, directed=directed, most_hops=max_hops)
    return Way(found=way is not None, path=way or [], hops=None if way is None else len(way) - 1)


class Strength(Record):
    from_: str
    to: str
    forward: int
    backward: int
    shared_neighbours: list[str]
    score: float
    incomplete: str | None = None


@graph.tool("read:notes", rate="bulk", words="strength relation close related connected weight")
def get_link_strength(ctx: Context, from_: NotePath, to: NotePath) -> Strength:
    """Say how strongly two notes are tied: links each way, and neighbours they share."""
    net = _load(ctx)
    forward, backward = net.out.get(from_, {}).get(to, 0), net.into.get(from_, {}).get(to, 0)
    shared = sorted(net.around(from_).keys() & net.around(to).keys())
    score = forward + backward + measures.similarity(net, from_, to)
    return Strength(
        from_=from_,
        to=to,
        forward=forward,
        backward=backward,
        shared_neighbours=shared[:50],
        score=round(score, 6),
    )


class Suggestion(Record):
    path: str
    score: float
    reason: str


class Suggestions(Record):
    path: str
    suggestions: list[Suggestion]
    incomplete: str | None = None


@graph.tool("read:notes", rate="bulk", words="recommend missing connections connect should")
def suggest_links(
    ctx: Context,
    path: NotePath,
    limit: Annotated[int, Doc("How many.", ge=1, le=50)] = 10,
) -> Suggestions:
    """Suggest notes that a note does not link to but shares neighbours or tags with."""
    net = _load(ctx)
    near: dict[str, float] = {}
    linked = net.around(path).keys() | {path}
    mine = {tag.lower() for tag, _ in ctx.index.tags_of(path)}
    for neighbour in net.around(path):
        for other in net.around(neighbour):
            if other not in linked:
                near[other] = measures.similarity(net, path, other)
    for other, shared in _sharing_tags(ctx, mine):
        if other not in linked:
            near[other] = near.get(other, 0.0) + 0.25 * shared
    best = sorted(near.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return Suggestions(path=path, suggestions=[_suggestion(net, path, other, score) for other, score in best])


class Cycle(Record):
    id: int
    size: int
    paths: list[str]


@graph.tool("read:notes", rate="bulk", words="circular loop circle")
def find_link_cycles(
    ctx: Context,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    max_paths: Annotated[int, Doc("How many notes to name of each.", ge=2, le=500)] = 25,
    page: Page = Page(),
) -> Page.Of[Cycle]:
    """Find sets of notes that lead back to each other by links, largest first."""
    found = [
        Cycle(id=number, size=len(group), paths=group[:max_paths])
        for number, group in enumerate(measures.cycles(_load(ctx, root)))
    ]
    return page.cut(found, key=lambda c: c.id)


class Health(Record):
    score: int
    notes: int
    links: int
    orphans: int
    unresolved_targets: int
    broken_properties: int
    untagged: int
    largest_component: int
    parts: dict[str, float]
    incomplete: str | None = None


@graph.tool("read:notes", rate="bulk", words="quality rating grade maintenance tidy")
def vault_health_score(ctx: Context) -> Health:
    """Score the vault from 0 to 100: connected, without dead links, broken properties or lonely notes."""
    net = _load(ctx)
    count = len(net.nodes)
    if not count:
        raise ToolError("invalid_input", "there are no notes to judge")
    one = Page(limit=1)
    orphans, dead = ctx.index.orphans(one)[1] or 0, ctx.index.unresolved(one)[1] or 0
    files = ctx.index.notes()
    broken = sum(1 for file in files if file.problem)
    tagged = ctx.index.file_tags()
    untagged = sum(1 for file in files if file.id not in tagged)
    largest = max(len(group) for group in _components(net))
    links = sum(len(targets) for targets in net.out.values())
    parts = {
        "linked": 1 - orphans / count,
        "resolved": links / (links + dead) if links + dead else 1.0,
        "readable": 1 - broken / count,
        "connected": largest / count,
        "tagged": 1 - untagged / count,
    }
    weights = {"linked": 30, "resolved": 25, "readable": 15, "connected": 20, "tagged": 10}
    score = round(sum(weights[name] * value for name, value in parts.items()))
    return Health(
        score=score,
        notes=count,
        links=links,
        orphans=orphans,
        unresolved_targets=dead,
        broken_properties=broken,
        untagged=untagged,
        largest_component=largest,
        parts={name: round(value, 4) for name, value in parts.items()},
    )


def _load(ctx: Context, root: str = "") -> Graph:
    """The permitted part of the network: what the caller may not read is no note, no link and no way through."""
    below = f"{root.strip('/')}/" if root.strip("/") else ""
    nodes = [file.path for file in ctx.index.notes() if file.path.startswith(below)]
    return Graph.of(nodes, ctx.index.edges())


def _components(net: Graph) -> list[set[str]]:
    seen: set[str] = set()
    found = []
    for node in net.nodes:
        if node in seen:
            continue
        group, todo = {node}, [node]
        while todo:
            for other in net.around(todo.pop()):
                if other not in group:
                    group.add(other)
                    todo.append(other)
        seen |= group
        found.append(group)
    return found


def _sharing_tags(ctx: Context, mine: set[str]) -> list[tuple[str, int]]:
    """Notes with some of these tags and how many; tags that half the vault has say nothing."""
    if not mine:
        return []
    files = {file.id: file.path for file in ctx.index.notes()}
    common = max(2, len(files) // 2)
    tagged = ctx.index.file_tags()
    use = {tag: sum(1 for f in files if tag in {t.lower() for t in tagged.get(f, [])}) for tag in mine}
    telling = {tag for tag, count in use.items() if count <= common}
    shared = ((path, len(telling & {t.lower() for t in tagged.get(f, [])})) for f, path in files.items())
    return [(path, count) for path, count in shared if count]


def _suggestion(net: Graph, path: str, other: str, score: float) -> Suggestion:
    shared = len(net.around(path).keys() & net.around(other).keys())
    reason = f"{shared} shared neighbours" if shared else "shared tags"
    return Suggestion(path=other, score=round(score, 6), reason=reason)


@hookimpl
def knapper_domains() -> Domain:
    return graph
