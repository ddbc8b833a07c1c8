"""Odd but legal canvases: read and written without an edit they keep every byte, and an edit touches what it means."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.testing import Calls, VaultFolder
from knapper_canvas import canvas
from knapper_canvas.canvas import EMPTY
from tests.odd_json import TEXT, VALUE, files

NODE = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "file", "link", "group", "portal", 7, None])},
    optional={
        "id": TEXT,
        "x": st.integers() | st.floats(-1e6, 1e6),
        "text": TEXT,
        "styleAttributes": VALUE,
        "color": st.sampled_from(["1", "#a1B2c3", "chartreuse"]),
    },
)
EDGE = st.fixed_dictionaries({}, optional={"id": TEXT, "fromNode": TEXT, "toNode": TEXT, "styles": VALUE})


CANVAS = st.fixed_dictionaries(
    {},
    optional={
        "nodes": st.lists(NODE, max_size=3),
        "edges": st.lists(EDGE, max_size=2),
        "metadata": VALUE,
        "": VALUE,
    },
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(CANVAS))
def test_an_update_of_nothing_writes_the_same_bytes(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["c.canvas"] = text
    read = call(canvas, "read_canvas", path="c.canvas")
    done = call(canvas, "update_canvas", path="c.canvas", remove_node_ids=["none has this id"])
    assert vault.bytes("c.canvas") == text.encode()
    assert done["content_hash"] == read["content_hash"]
    assert set(done["applied"].values()) == {0}


@pytest.mark.parametrize(
    "text", ["", " \n", "\ufeff", EMPTY, "{}", '{"nodes":[]}', '\r\n{ "edges" : [ ] }\r\n']
)
def test_an_empty_canvas_stays_as_it_is_written(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["c.canvas"] = text
    call(canvas, "update_canvas", path="c.canvas")
    assert vault["c.canvas"] == text


ODD = (
    '\ufeff{\r\n\t"nodes":[\r\n'
    '\t\t{"id":"a","type":"portal","portalToFile":"x.canvas","x":0.50,"y":-1e2,"width":10,"height":10},\r\n'
    '\t\t{"id":"b", "id":"b","type":"text","text":"caf\\u00e9 \\/ <","x":1,"y":2,"width":3,"height":4,"zIndex":7}\r\n'
    '\t],\r\n\t"edges":[],\r\n\t"metadata":{"version":"1.0-1.0","frontmatter":{}}\r\n}\r\n'
)


def test_an_edit_of_an_odd_canvas_changes_what_it_means_and_no_other_byte(
    call: Calls, vault: VaultFolder
) -> None:
    vault["c.canvas"] = ODD
    call(canvas, "update_canvas", path="c.canvas", update_nodes={"b": {"x": 100}})
    assert vault["c.canvas"] == ODD.replace('"x":1,', '"x":100,')
    call(canvas, "update_canvas", path="c.canvas", update_nodes={"a": {"y": -7}})
    assert vault["c.canvas"] == ODD.replace('"x":1,', '"x":100,').replace("-1e2", "-7")


def test_an_edge_may_lead_to_a_node_of_a_type_that_nobody_knows(call: Calls, vault: VaultFolder) -> None:
    vault["c.canvas"] = ODD
    edge = {"id": "e", "fromNode": "a", "toNode": "b"}
    call(canvas, "update_canvas", path="c.canvas", add_edges=[edge])
    assert vault["c.canvas"] == ODD.replace(
        '"edges":[]', '"edges":[\r\n\t\t{"id":"e","fromNode":"a","toNode":"b"}\r\n\t]'
    )
    call(canvas, "update_canvas", path="c.canvas", remove_node_ids=["a"])
    after = json.loads(vault["c.canvas"].removeprefix("\ufeff"))
    assert ([node["id"] for node in after["nodes"]], after["edges"]) == (["b"], [])
    assert after["metadata"] == {"version": "1.0-1.0", "frontmatter": {}}
