"""Canvas: Obsidian's canvases, read, made, changed and searched with Obsidian closed."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from knapper import Context, Doc, Domain, Page, ReadPath, Record, ToolError, WritePath, hookimpl
from knapper_canvas.canvas import EMPTY, edge_problems, named, node_problems, opened, read, refuse, repeated
from knapper_canvas.changes import Applied, Change, apply
from knapper_canvas.query import Filter, Hit, hits

canvas = Domain("canvas", summary="Read, change and query canvases.", group="structured")

Nodes = Annotated[
    list[dict[str, Any]] | None,
    Doc(
        "JSON Canvas nodes: type, x, y, width, height, and text, file, url or label; an id is made if absent."
    ),
]
Edges = Annotated[
    list[dict[str, Any]] | None,
    Doc("JSON Canvas edges: fromNode, toNode, and fromSide, toSide, label, color; an id is made if absent."),
]
Patches = Annotated[dict[str, dict[str, Any]] | None, Doc("By id, the fields to set; null removes one.")]
MANY = 10


class Canvas(Record):
    path: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    content_hash: str


@canvas.tool("read:canvas", words="whiteboard board cards mind map show see")
def read_canvas(ctx: Context, path: ReadPath) -> Canvas:
    """Read a canvas: its nodes, from the lowest to the topmost, and the edges between them."""
    _check_name(path)
    file = ctx.vault.read(path)
    nodes, edges = read(file.text, path)
    return Canvas(path=path, nodes=nodes, edges=edges, content_hash=file.hash)


class CreatedCanvas(Record):
    path: str
    created_at: str
    node_count: int
    edge_count: int
    content_hash: str


@canvas.tool("write:canvas", repeat="keyed", confirm="overwrite", words="whiteboard board cards mind map new")
def create_canvas(
    ctx: Context, path: WritePath, nodes: Nodes = None, edges: Edges = None, overwrite: bool = False
) -> CreatedCanvas:
    """Create a canvas from nodes and the edges between them."""
    _check_name(path)
    document = opened(EMPTY, path)
    document.value["nodes"] += (made := named(nodes or [], "node"))
    document.value["edges"] += (joined := named(edges or [], "edge"))
    ids = {str(node["id"]) for node in made}
    refuse(
        [
            *repeated(made, "node"),
            *repeated(joined, "edge"),
            *(problem for node in made for problem in node_problems(node)),
            *(problem for edge in joined for problem in edge_problems(edge, ids)),
        ]
    )
    taken = ctx.vault.exists(path) is not None
    ctx.confirm(taken and overwrite, {"path": path, "overwrites": True})
    done = ctx.vault.write(path, document.text(), mode="upsert" if overwrite else "create")
    return CreatedCanvas(
        path=done.path,
        created_at=done.at,
        node_count=len(made),
        edge_count=len(joined),
        content_hash=done.hash,
    )


class UpdatedCanvas(Record):
    path: str
    applied: Applied
    content_hash: str
    updated_at: str


@canvas.tool(
    "write:canvas", confirm="removing more than 10 nodes", words="whiteboard board card connect edit change"
)
def update_canvas(
    ctx: Context,
    path: WritePath,
    add_nodes: Nodes = None,
    add_edges: Edges = None,
    remove_node_ids: Annotated[list[str] | None, Doc("Their edges go with them.")] = None,
    remove_edge_ids: list[str] | None = None,
    update_nodes: Patches = None,
    update_edges: Patches = None,
    prev_hash: Annotated[str | None, Doc("Only if the canvas still has this content_hash.")] = None,
) -> UpdatedCanvas:
    """Add, remove and update nodes and edges of a canvas; everything else in the file stays as it is."""
    _check_name(path)
    change = Change(
        add_nodes or [],
        add_edges or [],
        frozenset(remove_node_ids or ()),
        frozenset(remove_edge_ids or ()),
        update_nodes or {},
        update_edges or {},
    )
    file = ctx.vault.read(path)
    applied = apply(file.text, change, path)[1] if prev_hash in (None, file.hash) else Applied()
    ctx.confirm(applied.nodes_removed > MANY, {"path": path, "nodes_removed": applied.nodes_removed})

    def changed(text: str) -> str:
        nonlocal applied
        text, applied = apply(text, change, path)
        return text

    done = ctx.vault.edit(path, changed, prev_hash=prev_hash)
    return UpdatedCanvas(path=done.path, applied=applied, content_hash=done.hash, updated_at=done.at)


class Hits(Page.Of[Hit], kw_only=True):
    skipped: list[str] | None = None


@canvas.tool("read:canvas", rate="bulk", words="whiteboard board cards search")
def query_canvas(
    ctx: Context,
    paths: Annotated[list[ReadPath] | None, Doc("Only these canvases.", max_length=500)] = None,
    root: Annotated[str, Doc("Only canvases below this folder.")] = "",
    filter: Annotated[
        Filter | None,
        Doc("All of it must fit; texts in any case; has_edge_to is a node id or a file's path."),
    ] = None,
    page: Page = Page(),
) -> Hits:
    """Find nodes in canvases by type, color, file, text or the node that an edge leads to."""
    found: list[Hit] = []
    skipped: list[str] = []
    for path in _canvases(ctx, paths, root):
        ctx.check_cancelled()
        try:
            nodes, edges = read(ctx.vault.read(path).text, path)
        except ToolError as error:
            # A file of a folder may break or go at any moment; one that was named must be there.
            if paths is not None or error.code not in ("invalid_input", "note_not_found"):
                raise
            skipped.append(path)
            continue
        found += hits(path, nodes, edges, filter or Filter())
    seen: Counter[tuple[str, str]] = Counter()
    keyed: list[tuple[tuple[str, str, int], Hit]] = []
    for hit in found:
        seen[own := (hit.canvas_path, hit.node_id)] += 1
        keyed.append(((*own, seen[own]), hit))
    cut = page.cut(keyed, key=lambda pair: pair[0])
    return Hits(
        items=[hit for _, hit in cut.items],
        cursor=cut.cursor,
        total_count=cut.total_count,
        skipped=skipped or None,
    )


def _canvases(ctx: Context, paths: list[str] | None, root: str) -> list[str]:
    if paths is None:
        return sorted(entry.path for entry in ctx.vault.walk(root, extensions=[".canvas"]))
    for path in paths:
        _check_name(path)
    return sorted(set(paths))


def _check_name(path: str) -> None:
    if not path.lower().endswith(".canvas"):
        raise ToolError("invalid_input", f"{path!r} does not end with .canvas", path=path)


@hookimpl
def knapper_domains() -> Domain:
    return canvas
