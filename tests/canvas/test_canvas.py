import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_canvas import canvas
from knapper_canvas.canvas import read
from knapper_canvas.changes import Change, apply
from knapper_canvas.query import Filter, hits

# As Obsidian writes one: tabs, a line for each node; with fields that only plugins know.
PLAN = """{
	"nodes":[
		{"id":"a1","type":"text","text":"Start [[here]] – now","x":-250,"y":-60.5,"width":250,"height":60,"color":"4"},
		{"id":"b2","type":"file","file":"notes/Plan.md","subpath":"#Goals","x":100,"y":0,"width":400,"height":400,"styleAttributes":{"shape":"pill"}},
		{"id":"c3","type":"group","label":"Later","x":-300,"y":-100,"width":900,"height":600,"background":"img/a.png","backgroundStyle":"cover"},
		{"id":"d4","type":"link","url":"https://example.org/start","x":0,"y":900,"width":400,"height":400}
	],
	"edges":[
		{"id":"e1","fromNode":"a1","fromSide":"right","toNode":"b2","toSide":"left","label":"then"},
		{"id":"e2","fromNode":"b2","toNode":"d4","toEnd":"none","color":"#ff0000"}
	],
	"metadata":{"version":"1.0-1.0","frontmatter":{}}
}"""


def text_node(own: str, **more: Any) -> dict[str, Any]:
    return {"id": own, "type": "text", "text": own, "x": 0, "y": 0, "width": 10, "height": 10, **more}


def refusal(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        call(canvas, tool, **arguments)
    return refused.value


def test_a_canvas_is_read_with_fields_that_only_plugins_know(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = PLAN
    found = call(canvas, "read_canvas", path="plan.canvas")
    assert [node["id"] for node in found["nodes"]] == ["a1", "b2", "c3", "d4"]
    assert found["nodes"][1]["styleAttributes"] == {"shape": "pill"}
    assert [edge["id"] for edge in found["edges"]] == ["e1", "e2"]
    assert len(found["content_hash"]) == 64


@pytest.mark.parametrize("text", ["", "\n", "{}", '{"nodes":[]}'])
def test_an_empty_file_is_an_empty_canvas(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["empty.canvas"] = text
    found = call(canvas, "read_canvas", path="empty.canvas")
    assert (found["nodes"], found["edges"]) == ([], [])
    call(canvas, "update_canvas", path="empty.canvas", add_nodes=[text_node("n")])
    assert [n["id"] for n in call(canvas, "read_canvas", path="empty.canvas")["nodes"]] == ["n"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "parse"),
        ("[]", "object"),
        ('{"nodes":{}}', "nodes"),
        ('{"edges":[1]}', "edges"),
        ("[" * 100_000, "parse"),
    ],
)
def test_what_is_no_canvas_is_refused_and_stays_as_it_is(
    call: Calls, vault: VaultFolder, text: str, reason: str
) -> None:
    vault["bad.canvas"] = text
    error = refusal(call, "read_canvas", path="bad.canvas")
    assert (error.code, reason in error.message) == ("invalid_input", True)
    assert (
        refusal(call, "update_canvas", path="bad.canvas", add_nodes=[text_node("n")]).code == "invalid_input"
    )
    assert vault["bad.canvas"] == text


def test_half_a_character_in_a_card_is_shown_as_a_mark(call: Calls, vault: VaultFolder) -> None:
    vault["cut.canvas"] = '{"nodes":[{"id":"a","type":"text","text":"cut \\ud83d"}]}'
    assert call(canvas, "read_canvas", path="cut.canvas")["nodes"][0]["text"] == "cut \ufffd"
    assert call(canvas, "query_canvas")["items"][0]["snippet"] == "cut \ufffd"


def test_other_files_are_not_read_under_the_scope_of_canvases(call: Calls, vault: VaultFolder) -> None:
    vault["secret.json"] = "{}"
    assert refusal(call, "read_canvas", path="secret.json").code == "invalid_input"
    assert refusal(call, "read_canvas", path="gone.canvas").code == "note_not_found"


def test_a_canvas_is_created_as_obsidian_writes_it(call: Calls, vault: VaultFolder) -> None:
    made = call(
        canvas,
        "create_canvas",
        path="new.canvas",
        nodes=[text_node("a", plugin={"k": [1, 2]}), text_node("b")],
        edges=[{"id": "e", "fromNode": "a", "toNode": "b"}],
    )
    assert (made["node_count"], made["edge_count"]) == (2, 1)
    assert vault["new.canvas"] == (
        "{\n"
        '\t"nodes":[\n'
        '\t\t{"id":"a","type":"text","text":"a","x":0,"y":0,"width":10,"height":10,"plugin":{"k":[1,2]}},\n'
        '\t\t{"id":"b","type":"text","text":"b","x":0,"y":0,"width":10,"height":10}\n'
        "\t],\n"
        '\t"edges":[\n'
        '\t\t{"id":"e","fromNode":"a","toNode":"b"}\n'
        "\t]\n"
        "}"
    )


def test_ids_are_made_where_they_are_missing(call: Calls, vault: VaultFolder) -> None:
    node = {"type": "text", "text": "x", "x": 0, "y": 0, "width": 1, "height": 1}
    call(canvas, "create_canvas", path="new.canvas", nodes=[node, node])
    ids = [n["id"] for n in call(canvas, "read_canvas", path="new.canvas")["nodes"]]
    assert len(set(ids)) == 2
    assert all(len(own) == 16 and int(own, 16) for own in ids)


def test_a_canvas_that_is_there_is_replaced_only_when_a_person_confirms(
    call: Calls, vault: VaultFolder
) -> None:
    vault["plan.canvas"] = PLAN
    assert refusal(call, "create_canvas", path="plan.canvas").code == "note_exists"
    assert refusal(call, "create_canvas", path="plan.canvas", overwrite=True).code == "elicit_required"
    assert vault["plan.canvas"] == PLAN
    call.confirmed(canvas, "create_canvas", path="plan.canvas", overwrite=True)
    assert json.loads(vault["plan.canvas"]) == {"nodes": [], "edges": []}


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"id": "n", "type": "sticker"}, "type is 'sticker'"),
        (text_node("n", width="wide"), "width is 'wide'"),
        (text_node("n", height=-1), "height is negative"),
        (text_node("n", color="7"), "color is '7'"),
        (text_node("n", color="#12345g"), "color is '#12345g'"),
        (text_node("n", type="file"), "a file node needs file"),
        (text_node("n", type="link"), "a link node needs url"),
        (text_node("n", type="file", file="a.md", subpath="Goals"), "does not start with #"),
        (text_node("n", type="group", backgroundStyle="tile"), "backgroundStyle is 'tile'"),
        ({"id": "n", "type": "text", "text": ""}, "node 'n': needs x, y, width, height, numbers of pixels"),
        (text_node("n", text=3), "text is not a text"),
        (text_node("n", x=True), "x is True"),
        ({**text_node("n"), "id": 3}, "id is not a text"),
    ],
)
def test_a_node_that_is_none_is_refused_by_name(
    call: Calls, vault: VaultFolder, node: dict[str, Any], said: str
) -> None:
    error = refusal(call, "create_canvas", path="new.canvas", nodes=[node])
    assert error.code == "invalid_input"
    assert said in error.message
    assert "new.canvas" not in vault


@pytest.mark.parametrize(
    ("edge", "said"),
    [
        ({"id": "e", "fromNode": "a", "toNode": "gone"}, "toNode is 'gone', and there is no such node"),
        ({"id": "e", "toNode": "a"}, "needs fromNode, the id of a node"),
        ({"id": "e", "fromNode": "a", "toNode": "a", "fromSide": "north"}, "fromSide is 'north'"),
        ({"id": "e", "fromNode": "a", "toNode": "a", "toEnd": "dot"}, "toEnd is 'dot'"),
    ],
)
def test_an_edge_that_is_none_is_refused_by_name(
    call: Calls, vault: VaultFolder, edge: dict[str, Any], said: str
) -> None:
    error = refusal(call, "create_canvas", path="new.canvas", nodes=[text_node("a")], edges=[edge])
    assert said in error.message
    assert "new.canvas" not in vault


def test_an_id_is_given_once(call: Calls, vault: VaultFolder) -> None:
    twice = [text_node("a"), text_node("a")]
    assert "the id is taken" in refusal(call, "create_canvas", path="n.canvas", nodes=twice).message
    vault["plan.canvas"] = PLAN
    error = refusal(call, "update_canvas", path="plan.canvas", add_nodes=[text_node("b2")])
    assert error.message == "node 'b2': the id is taken"
    edge = {"id": "e1", "fromNode": "a1", "toNode": "b2"}
    error = refusal(call, "update_canvas", path="plan.canvas", add_edges=[edge])
    assert error.message == "edge 'e1': the id is taken"
    assert vault["plan.canvas"] == PLAN


def test_an_update_changes_the_lines_it_means_and_no_other(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = PLAN
    done = call(
        canvas,
        "update_canvas",
        path="plan.canvas",
        update_nodes={"b2": {"x": 120, "subpath": None}},
        update_edges={"e2": {"label": "maybe"}},
        add_nodes=[text_node("f5")],
        add_edges=[{"id": "e3", "fromNode": "f5", "toNode": "a1"}],
    )
    assert done["applied"] == {
        "nodes_added": 1,
        "nodes_removed": 0,
        "nodes_updated": 1,
        "edges_added": 1,
        "edges_removed": 0,
        "edges_updated": 1,
    }
    before, after = PLAN.split("\n"), vault["plan.canvas"].split("\n")
    assert after[:3] == before[:3]
    assert after[3] == before[3].replace('"x":100', '"x":120').replace(',"subpath":"#Goals"', "")
    assert after[4] == before[4]
    assert after[5] == before[5] + ","
    assert after[6] == '\t\t{"id":"f5","type":"text","text":"f5","x":0,"y":0,"width":10,"height":10}'
    assert after[7:10] == before[6:9]
    assert after[10] == before[9].replace('"#ff0000"}', '"#ff0000","label":"maybe"},')
    assert after[11] == '\t\t{"id":"e3","fromNode":"f5","toNode":"a1"}'
    assert after[12:] == before[10:]


def test_removing_a_node_removes_its_edges(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = PLAN
    done = call(canvas, "update_canvas", path="plan.canvas", remove_node_ids=["b2", "never"])
    assert (done["applied"]["nodes_removed"], done["applied"]["edges_removed"]) == (1, 2)
    lines = PLAN.split("\n")
    assert vault["plan.canvas"] == "\n".join([*lines[:3], *lines[4:7], '\t"edges":[],', *lines[11:]])
    again = call(canvas, "update_canvas", path="plan.canvas", remove_node_ids=["b2", "never"])
    assert again["applied"]["nodes_removed"] == 0
    assert again["content_hash"] == done["content_hash"]


def test_an_edge_to_a_node_that_goes_in_the_same_call_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = PLAN
    error = refusal(
        call,
        "update_canvas",
        path="plan.canvas",
        remove_node_ids=["d4"],
        add_edges=[{"fromNode": "a1", "toNode": "d4"}],
    )
    assert "there is no such node" in error.message
    assert vault["plan.canvas"] == PLAN


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"update_nodes": {"zz": {"x": 1}}}, "there is no node 'zz' to update"),
        ({"update_edges": {"zz": {"label": "l"}}}, "there is no edge 'zz' to update"),
        ({"update_nodes": {"a1": {"id": "z"}}}, "the id of node 'a1' cannot be changed"),
        ({"update_nodes": {"a1": {"color": "red"}}}, "color is 'red'"),
        ({"update_nodes": {"a1": {"width": None}}}, "needs width"),
        ({"update_edges": {"e1": {"toNode": "zz"}}}, "toNode is 'zz'"),
    ],
)
def test_an_update_that_would_break_a_canvas_changes_nothing(
    call: Calls, vault: VaultFolder, change: dict[str, Any], said: str
) -> None:
    vault["plan.canvas"] = PLAN
    error = refusal(call, "update_canvas", path="plan.canvas", **change)
    assert (error.code, said in error.message) == ("invalid_input", True)
    assert vault["plan.canvas"] == PLAN


def test_what_was_wrong_before_does_not_stop_an_update(call: Calls, vault: VaultFolder) -> None:
    vault["odd.canvas"] = (
        '{"nodes": [{"id": "p", "type": "plugin-card", "x": 1}], "edges": [{"id": "e", "fromNode": "gone", "toNode": "p"}]}'
    )
    call(
        canvas,
        "update_canvas",
        path="odd.canvas",
        update_nodes={"p": {"x": 2}},
        update_edges={"e": {"label": "l"}},
    )
    assert vault["odd.canvas"] == (
        '{"nodes": [{"id": "p", "type": "plugin-card", "x": 2}], '
        '"edges": [{"id": "e", "fromNode": "gone", "toNode": "p", "label": "l"}]}'
    )


def test_removing_more_than_ten_nodes_needs_a_person(call: Calls, vault: VaultFolder) -> None:
    ids = [f"n{number:02}" for number in range(12)]
    call(canvas, "create_canvas", path="many.canvas", nodes=[text_node(own) for own in ids])
    call(canvas, "update_canvas", path="many.canvas", remove_node_ids=["n00"])
    before = vault["many.canvas"]
    error = refusal(call, "update_canvas", path="many.canvas", remove_node_ids=ids)
    assert error.code == "elicit_required"
    assert vault["many.canvas"] == before
    done = call.confirmed(canvas, "update_canvas", path="many.canvas", remove_node_ids=ids)
    assert done["applied"]["nodes_removed"] == 11
    more = [text_node(own) for own in ids[:10]]
    call(canvas, "update_canvas", path="many.canvas", add_nodes=more)
    assert (
        call(canvas, "update_canvas", path="many.canvas", remove_node_ids=ids)["applied"]["nodes_removed"]
        == 10
    )


def test_a_canvas_that_changed_since_it_was_read_is_not_touched(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = PLAN
    read = call(canvas, "read_canvas", path="plan.canvas")
    vault["plan.canvas"] = changed = PLAN.replace("a1", "z9")
    error = refusal(
        call,
        "update_canvas",
        path="plan.canvas",
        update_nodes={"a1": {"x": 0}},
        prev_hash=read["content_hash"],
    )
    assert error.code == "concurrent_modification"
    assert vault["plan.canvas"] == changed
    now = call(canvas, "read_canvas", path="plan.canvas")["content_hash"]
    call(canvas, "update_canvas", path="plan.canvas", update_nodes={"z9": {"x": 0}}, prev_hash=now)


def test_line_ends_and_byte_order_mark_survive(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = "\ufeff" + PLAN.replace("\n", "\r\n")
    call(canvas, "update_canvas", path="plan.canvas", update_nodes={"a1": {"color": "5"}})
    assert vault["plan.canvas"] == "\ufeff" + PLAN.replace("\n", "\r\n").replace('"color":"4"', '"color":"5"')


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({}, ["a1", "b2", "c3", "d4"]),
        ({"type": "group"}, ["c3"]),
        ({"color": "4"}, ["a1"]),
        ({"file_path_contains": "PLAN"}, ["b2"]),
        ({"text_contains": "start"}, ["a1", "d4"]),
        ({"text_contains": "start", "type": "link"}, ["d4"]),
        ({"text_contains": "later"}, ["c3"]),
        ({"has_edge_to": "b2"}, ["a1"]),
        ({"has_edge_to": "notes/Plan.md"}, ["a1"]),
        ({"has_edge_to": "c3"}, []),
    ],
)
def test_nodes_are_found_by_what_they_hold(
    call: Calls, vault: VaultFolder, wanted: dict[str, Any], ids: list[str]
) -> None:
    vault["deep/plan.canvas"] = PLAN
    found = call(canvas, "query_canvas", filter=wanted)
    assert [hit["node_id"] for hit in found["items"]] == ids
    assert found["total_count"] == len(ids)


def test_a_hit_says_where_it_is_and_what_it_shows(call: Calls, vault: VaultFolder) -> None:
    vault["plan.canvas"] = PLAN
    found = call(canvas, "query_canvas", filter={"type": "file"})
    assert found["items"] == [
        {"canvas_path": "plan.canvas", "node_id": "b2", "type": "file", "snippet": "notes/Plan.md#Goals"}
    ]


def test_a_query_covers_a_folder_or_named_canvases_and_says_what_it_could_not_read(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a/one.canvas"] = PLAN
    vault["a/broken.canvas"] = "{"
    vault["b/two.canvas"] = PLAN
    below = call(canvas, "query_canvas", root="a", filter={"type": "link"})
    assert [hit["canvas_path"] for hit in below["items"]] == ["a/one.canvas"]
    assert below["skipped"] == ["a/broken.canvas"]
    named = call(canvas, "query_canvas", paths=["b/two.canvas"], filter={"type": "link"})
    assert [hit["canvas_path"] for hit in named["items"]] == ["b/two.canvas"]
    assert refusal(call, "query_canvas", paths=["a/broken.canvas"]).code == "invalid_input"
    assert refusal(call, "query_canvas", paths=["gone.canvas"]).code == "note_not_found"


def test_pages_of_nodes_join_without_gaps(call: Calls, vault: VaultFolder) -> None:
    for name in "ab":
        vault[f"{name}.canvas"] = PLAN
    found: list[str] = []
    cursor = None
    while True:
        page = call(canvas, "query_canvas", limit=3, **({"cursor": cursor} if cursor else {}))
        found += [hit["canvas_path"][0] + hit["node_id"] for hit in page["items"]]
        assert page["total_count"] == 8
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert found == ["aa1", "ab2", "ac3", "ad4", "ba1", "bb2", "bc3", "bd4"]


def test_canvases_the_caller_may_not_read_or_write_stay_closed(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.canvas"] = vault["closed/a.canvas"] = PLAN
    call.settings["acl"] = {"read_paths": ["open/**"], "write_paths": []}
    found = call(canvas, "query_canvas", filter={"type": "link"})
    assert [hit["canvas_path"] for hit in found["items"]] == ["open/a.canvas"]
    assert refusal(call, "read_canvas", path="closed/a.canvas").code == "acl_denied"
    assert refusal(call, "query_canvas", paths=["closed/a.canvas"]).code == "acl_denied"
    assert refusal(call, "update_canvas", path="open/a.canvas", remove_node_ids=["a1"]).code == "acl_denied"
    assert refusal(call, "create_canvas", path="open/new.canvas").code == "acl_denied"


def test_a_canvas_of_a_real_vault_survives_an_update(call: Calls, vault: VaultFolder) -> None:
    real = (
        Path(__file__).parents[2]
        / "../shared/vaults/tasks-demo/Manual Testing/Frontmatter/Frontmatter code.canvas"
    )
    if not real.is_file():
        pytest.skip("the vault is not at hand")
    vault["real.canvas"] = text = real.read_text(encoding="utf-8")
    call(canvas, "update_canvas", path="real.canvas", update_nodes={"296e9f517e9a80ab": {"x": -501}})
    assert vault["real.canvas"] == text.replace('"x":-500', '"x":-501', 1)


JSON: st.SearchStrategy[Any] = (
    st.none() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({"x": 1})
)
ODD = st.dictionaries(
    st.sampled_from(
        [
            "id",
            "type",
            "x",
            "y",
            "width",
            "height",
            "text",
            "file",
            "color",
            "subpath",
            "fromNode",
            "toNode",
            "fromSide",
            "label",
        ]
    ),
    JSON | st.sampled_from(["a", "text", "file", "group", "#x"]),
    max_size=8,
)


@settings(deadline=None, max_examples=100)
@given(st.lists(ODD, max_size=3), st.lists(ODD, max_size=3), st.lists(ODD, max_size=2))
def test_whatever_a_canvas_holds_it_is_changed_and_searched_or_the_reason_is_given(
    nodes: list[dict[str, Any]], edges: list[dict[str, Any]], added: list[dict[str, Any]]
) -> None:
    text = json.dumps({"nodes": nodes, "edges": edges})
    change = Change(added, added, frozenset({"a"}), frozenset({"b"}), {}, {})
    with suppress(ToolError):
        text = apply(text, change, "c.canvas")[0]
    found = list(hits("c.canvas", *read(text, "c.canvas"), Filter(has_edge_to="a", text_contains="x")))
    assert all(hit.canvas_path == "c.canvas" for hit in found)


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(canvas)
    assert {name: tool.rate for name, tool in canvas.tools.items()} == {
        "read_canvas": "read",
        "create_canvas": "write",
        "update_canvas": "write",
        "query_canvas": "bulk",
    }
