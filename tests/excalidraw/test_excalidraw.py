import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_excalidraw import excalidraw
from knapper_excalidraw.changes import Change, apply
from knapper_excalidraw.drawing import Drawing
from knapper_excalidraw.elements import TYPES
from knapper_excalidraw.note import packed, scene
from knapper_excalidraw.svg import render

BOX = {
    "id": "box-with-a-long-id",
    "type": "rectangle",
    "x": 0,
    "y": 0,
    "width": 200.5,
    "height": 80,
    "isDeleted": False,
    "version": 3,
    "boundElements": [{"id": "arrow-1", "type": "arrow"}, {"id": "txtABC01", "type": "text"}],
    "customData": {"plugin": [1, 2.50]},
}
LABEL = {
    "id": "txtABC01",
    "type": "text",
    "x": 10,
    "y": 20,
    "width": 90,
    "height": 25,
    "text": "Start",
    "rawText": "Start [[Plan]]",
    "originalText": "Start [[Plan]]",
    "containerId": "box-with-a-long-id",
}
FREE = {"id": "txtABC02", "type": "text", "x": 0, "y": 300, "width": 90, "height": 50, "text": "two\nlines"}
ARROW = {
    "id": "arrow-1",
    "type": "arrow",
    "x": 200,
    "y": 40,
    "width": 100,
    "height": 0,
    "points": [[0, 0], [100, 0]],
    "startBinding": {"elementId": "box-with-a-long-id", "focus": 0.1, "gap": 2},
    "endBinding": None,
}
GONE = {"id": "gone0001", "type": "ellipse", "x": 0, "y": 0, "width": 1, "height": 1, "isDeleted": True}
ELEMENTS = [BOX, LABEL, ARROW, FREE, GONE]
SCENE = json.dumps(
    {
        "type": "excalidraw",
        "version": 2,
        "source": "https://excalidraw.com",
        "elements": ELEMENTS,
        "appState": {"theme": "light", "viewBackgroundColor": "#fdf8f0"},
        "files": {},
        "pluginKey": {"kept": True},
    },
    indent="\t",
)
HEAD = """---

excalidraw-plugin: parsed
tags: [excalidraw]
excalidraw-export-dark: false

---
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==

What the user wrote on the back.

# Excalidraw Data

## Text Elements
Start [[Plan]] edited ^txtABC01

two
lines ^txtABC02

## Element Links
box00001: [[Other note]]

## Embedded Files
0123456789abcdef0123456789abcdef01234567: [[img/dot.png]]
fedcba: https://example.org/a.png

%%
## Drawing
"""
NOTE = f"{HEAD}```json\n{SCENE}\n```\n%%"
PACKED = f"{HEAD}```compressed-json\n{packed(SCENE)}\n```\n%%"


def refusal(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        call(excalidraw, tool, **arguments)
    return refused.value


def elements_of(call: Calls, path: str) -> dict[str, Any]:
    return {one["id"]: one for one in call(excalidraw, "read_excalidraw", path=path)["elements"]}


@pytest.mark.parametrize(
    ("path", "text"), [("d.excalidraw.md", NOTE), ("d.md", PACKED), ("d.excalidraw", SCENE)]
)
def test_a_drawing_is_read_in_every_form_it_is_stored_in(
    call: Calls, vault: VaultFolder, path: str, text: str
) -> None:
    vault[path] = text
    found = call(excalidraw, "read_excalidraw", path=path)
    assert found["elements"] == ELEMENTS[:-1]
    assert found["app_state"] == {"theme": "light", "viewBackgroundColor": "#fdf8f0"}
    assert found["source_used"] == "native"
    edited = " edited" if path.endswith(".md") else ""
    assert found["text_content"] == f"Start [[Plan]]{edited}\n\ntwo\nlines"


def test_a_note_names_the_files_embedded_in_it(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw.md"] = NOTE
    assert call(excalidraw, "read_excalidraw", path="d.excalidraw.md")["embedded_files"] == [
        {"id": "0123456789abcdef0123456789abcdef01234567", "name": "img/dot.png"},
        {"id": "fedcba", "name": "https://example.org/a.png"},
    ]


def test_only_what_was_asked_for_is_answered(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw"] = SCENE
    text = call(excalidraw, "read_excalidraw", path="d.excalidraw", format="text")
    assert set(text) == {"path", "source_used", "text_content", "content_hash"}
    elements = call(excalidraw, "read_excalidraw", path="d.excalidraw", format="elements")
    assert "text_content" not in elements


def test_older_notes_are_read(call: Calls, vault: VaultFolder) -> None:
    data = json.dumps({"type": "excalidraw", "elements": [FREE]})
    front = "---\nexcalidraw-plugin: raw\n---\n"
    vault["fenced.md"] = f"{front}# Text Elements\nnew words ^txtABC02\n\n# Drawing\n```json\n{data}\n```\n%%"
    vault["bare.md"] = f"{front}# Text Elements\nnew words ^txtABC02\n\n%%\n# Drawing\n{data}\n%%"
    for path in ("fenced.md", "bare.md"):
        assert call(excalidraw, "read_excalidraw", path=path)["text_content"] == "new words"
    call(excalidraw, "update_excalidraw", path="bare.md", update_elements={"txtABC02": {"x": 7}})
    assert elements_of(call, "bare.md")["txtABC02"]["x"] == 7


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("a.md", "# Drawing\n```json\n{}\n```\n", "no excalidraw-plugin"),
        ("a.md", "---\nexcalidraw-plugin: parsed\n---\nno data\n", "no section Drawing"),
        ("a.excalidraw.md", HEAD + "```compressed-json\nN4IgLgngDgpiBcIY\n```\n%%", "ends in the middle"),
        ("a.excalidraw.md", HEAD + "```compressed-json\n{}\n```\n%%", "no letter of Base64"),
        ("a.excalidraw", "{", "not a drawing"),
        ("a.excalidraw", "[]", "not an object"),
        ("a.excalidraw", '{"elements": 3}', "elements is not a list"),
        ("a.txt", "{}", "neither"),
    ],
)
def test_what_is_no_drawing_is_reported_and_never_rewritten(
    call: Calls, vault: VaultFolder, path: str, text: str, said: str
) -> None:
    vault[path] = text
    for tool, more in (
        ("read_excalidraw", {}),
        ("update_excalidraw", {"add_elements": [FREE]}),
        ("export_excalidraw", {}),
    ):
        error = refusal(call, tool, path=path, **more)
        assert (error.code, said in error.message) == ("invalid_input", True), error.message
    assert vault[path] == text


def test_a_missing_drawing_is_not_found(call: Calls, vault: VaultFolder) -> None:
    assert refusal(call, "read_excalidraw", path="gone.excalidraw").code == "note_not_found"
    assert refusal(call, "update_excalidraw", path="gone.excalidraw").code == "note_not_found"


def test_a_note_is_created_with_the_sections_the_plugin_expects(call: Calls, vault: VaultFolder) -> None:
    made = call(
        excalidraw,
        "create_excalidraw",
        path="new.excalidraw.md",
        template="custom",
        elements=[
            {
                "id": "box00001",
                "type": "rectangle",
                "x": 0,
                "y": 0,
                "width": 100,
                "height": 50,
                "link": "[[Plan]]",
            },
            {
                "id": "words001",
                "type": "text",
                "x": 5,
                "y": 5,
                "text": "Hello\n[[World]]",
                "containerId": "box00001",
            },
        ],
    )
    assert (made["plugin_used"], "renamed_ids" in made) == (False, False)
    text = vault["new.excalidraw.md"]
    assert text.startswith(
        "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n\n---\n==⚠  Switch to EXCALIDRAW VIEW"
    )
    assert (
        "\n# Excalidraw Data\n\n## Text Elements\nHello\n[[World]] ^words001\n\n"
        '## Element Links\nbox00001: [[Plan]]\n\n%%\n## Drawing\n```json\n{\n\t"type": "excalidraw",\n'
    ) in text
    assert text.endswith("\n}\n```\n%%\n")
    stored = json.loads(scene(text).json)
    assert list(stored) == ["type", "version", "source", "elements", "appState", "files"]
    box, words = stored["elements"]
    assert box["boundElements"] == [{"id": "words001", "type": "text"}]
    assert (words["originalText"], words["height"], words["fontFamily"]) == ("Hello\n[[World]]", 50.0, 5)
    needed = {
        "angle",
        "strokeColor",
        "fillStyle",
        "groupIds",
        "seed",
        "version",
        "versionNonce",
        "isDeleted",
        "opacity",
    }
    assert needed <= box.keys()
    assert needed <= words.keys()


def test_a_compressed_note_has_no_plain_data(call: Calls, vault: VaultFolder) -> None:
    elements = [{"id": f"r{number:07}", "type": "diamond", "x": number, "y": 0} for number in range(20)]
    call(
        excalidraw, "create_excalidraw", path="n.excalidraw.md", template="compressed-json", elements=elements
    )
    block = vault["n.excalidraw.md"].partition("```compressed-json\n")[2].partition("\n```")[0]
    pieces = block.split("\n\n")
    assert {len(piece) for piece in pieces[:-1]} == {256}
    assert "diamond" not in block
    assert len(elements_of(call, "n.excalidraw.md")) == 20


def test_a_plain_file_is_created(call: Calls, vault: VaultFolder) -> None:
    call(excalidraw, "create_excalidraw", path="n.excalidraw")
    stored = json.loads(vault["n.excalidraw"])
    assert (stored["type"], stored["version"], stored["elements"], stored["files"]) == (
        "excalidraw",
        2,
        [],
        {},
    )


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("n.md", {}),
        ("n.excalidraw", {"template": "compressed-json"}),
        ("n.excalidraw", {"template": "custom"}),
        ("n.excalidraw", {"elements": [{"type": "sticker"}]}),
        ("n.excalidraw", {"elements": [{"type": "text"}]}),
        ("n.excalidraw", {"elements": [{"type": "rectangle", "x": "left"}]}),
        ("n.excalidraw", {"elements": [{"type": "arrow", "width": "wide"}]}),
        ("n.excalidraw", {"elements": [{"type": "text", "text": "x", "fontSize": "large"}]}),
        ("n.excalidraw", {"elements": [{"type": "ellipse", "boundElements": ["x"]}]}),
        ("n.excalidraw", {"elements": [{"type": "line", "points": [[0]]}]}),
        ("n.excalidraw", {"elements": [{"type": "line", "width": 1e300}]}),
        ("n.excalidraw", {"elements": [{"id": "a", "type": "ellipse"}, {"id": "a", "type": "ellipse"}]}),
        ("n.excalidraw", {"elements": [{"type": "arrow", "startBinding": {"elementId": "nobody"}}]}),
        ("n.excalidraw", {"elements": [{"type": "text", "text": "x", "containerId": "nobody"}]}),
    ],
)
def test_what_could_not_be_drawn_is_not_created(
    call: Calls, vault: VaultFolder, path: str, more: dict[str, Any]
) -> None:
    assert refusal(call, "create_excalidraw", path=path, **more).code == "invalid_input"
    assert path not in vault


def test_a_drawing_that_is_there_is_replaced_only_when_a_person_confirms(
    call: Calls, vault: VaultFolder
) -> None:
    vault["d.excalidraw"] = SCENE
    assert refusal(call, "create_excalidraw", path="d.excalidraw").code == "note_exists"
    assert refusal(call, "create_excalidraw", path="d.excalidraw", overwrite=True).code == "elicit_required"
    assert vault["d.excalidraw"] == SCENE
    call.confirmed(excalidraw, "create_excalidraw", path="d.excalidraw", overwrite=True)
    assert json.loads(vault["d.excalidraw"])["elements"] == []


def test_long_ids_of_texts_become_short_in_a_note_and_bindings_follow(
    call: Calls, vault: VaultFolder
) -> None:
    made = call(
        excalidraw,
        "create_excalidraw",
        path="n.excalidraw.md",
        elements=[
            {
                "id": "a-long-box-id",
                "type": "rectangle",
                "boundElements": [{"id": "a-long-text-id", "type": "text"}],
            },
            {"id": "a-long-text-id", "type": "text", "text": "x", "containerId": "a-long-box-id"},
            {"id": "an-arrow", "type": "arrow", "endBinding": {"elementId": "a-long-text-id"}},
        ],
    )
    short = made["renamed_ids"]["a-long-text-id"]
    assert len(short) == 8
    found = elements_of(call, "n.excalidraw.md")
    assert found[short]["containerId"] == "a-long-box-id"
    assert found["a-long-box-id"]["boundElements"] == [{"id": short, "type": "text"}]
    assert found["an-arrow"]["endBinding"] == {"elementId": short, "focus": 0, "gap": 1}
    assert found[short]["boundElements"] == [{"id": "an-arrow", "type": "arrow"}]
    assert f"x ^{short}\n" in vault["n.excalidraw.md"]


@pytest.mark.parametrize("text", [NOTE, PACKED])
def test_an_update_keeps_sections_fields_and_the_way_it_is_stored(
    call: Calls, vault: VaultFolder, text: str
) -> None:
    vault["d.excalidraw.md"] = text
    done = call(
        excalidraw,
        "update_excalidraw",
        path="d.excalidraw.md",
        update_elements={"txtABC02": {"text": "other words"}},
        add_elements=[{"id": "new00001", "type": "text", "x": 0, "y": 900, "text": "last"}],
        update_app_state={"gridSize": 20, "theme": None},
    )
    assert done["applied"] == {"added": 1, "removed": 0, "updated": 1}
    after = vault["d.excalidraw.md"]
    head = HEAD.replace("two\nlines ^txtABC02\n\n", "other words ^txtABC02\n\nlast ^new00001\n\n")
    assert after.startswith(head)
    assert ("```compressed-json\n" in after) == (text is PACKED)
    stored = json.loads(scene(after).json)
    assert stored["elements"][:3] == [BOX, LABEL, ARROW]
    assert stored["pluginKey"] == {"kept": True}
    assert stored["appState"] == {"viewBackgroundColor": "#fdf8f0", "gridSize": 20}
    assert (stored["elements"][3]["text"], stored["elements"][3]["version"]) == ("other words", 1)
    assert stored["elements"][4] == GONE


def test_a_plain_drawing_keeps_every_byte_that_was_not_meant(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw"] = spelled = SCENE.replace('"height": 80,', '"height" : 8e1,')
    call(
        excalidraw,
        "update_excalidraw",
        path="d.excalidraw",
        update_elements={"arrow-1": {"x": 201, "version": 9}},
    )
    after = vault["d.excalidraw"]
    changed = json.loads(after)["elements"][2]
    expected = spelled.replace('"x": 200,', '"x": 201,').replace(
        '"endBinding": null',
        f'"endBinding": null,\n\t\t\t"version": 10,\n\t\t\t"updated": {changed["updated"]}',
    )
    assert after == expected


def test_an_update_of_nothing_leaves_the_file_as_it_is(call: Calls, vault: VaultFolder) -> None:
    for path, text in (("a.excalidraw.md", NOTE), ("b.excalidraw.md", PACKED), ("c.excalidraw", SCENE)):
        vault[path] = text
        same = {"txtABC02": {"text": "two\nlines"}}
        done = call(
            excalidraw, "update_excalidraw", path=path, remove_element_ids=["never"], update_elements=same
        )
        assert done["applied"]["removed"] == 0
        assert vault[path] == text


def test_a_removed_element_takes_its_text_along_and_is_forgotten_by_the_others(
    call: Calls, vault: VaultFolder
) -> None:
    vault["d.excalidraw.md"] = NOTE
    done = call(
        excalidraw, "update_excalidraw", path="d.excalidraw.md", remove_element_ids=["box-with-a-long-id"]
    )
    assert done["applied"]["removed"] == 1
    found = elements_of(call, "d.excalidraw.md")
    assert list(found) == ["arrow-1", "txtABC02"]
    assert found["arrow-1"]["startBinding"] is None
    assert vault["d.excalidraw.md"].startswith(HEAD.replace("Start [[Plan]] edited ^txtABC01\n\n", ""))


def test_links_of_elements_are_kept_in_their_section(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw.md"] = NOTE
    linked = {"id": "lnk00001", "type": "ellipse", "link": "[[There]]"}
    call(excalidraw, "update_excalidraw", path="d.excalidraw.md", add_elements=[linked])
    assert (
        "## Element Links\nbox00001: [[Other note]]\nlnk00001: [[There]]\n\n## Embedded Files\n"
        in vault["d.excalidraw.md"]
    )
    change = {"lnk00001": {"link": "[[Here]]"}}
    call(excalidraw, "update_excalidraw", path="d.excalidraw.md", update_elements=change)
    assert "lnk00001: [[Here]]\n" in vault["d.excalidraw.md"]
    call(excalidraw, "update_excalidraw", path="d.excalidraw.md", remove_element_ids=["lnk00001"])
    assert vault["d.excalidraw.md"] == NOTE


@pytest.mark.parametrize(
    "change",
    [
        {"update_elements": {"never": {"x": 1}}},
        {"update_elements": {"gone0001": {"x": 1}}},
        {"update_elements": {"txtABC02": {"id": "other"}}},
        {"update_elements": {"txtABC02": {"type": "ellipse"}}},
        {"update_elements": {"txtABC02": {"x": "left"}}},
        {"update_elements": {"txtABC02": {"text": 3}}},
        {"update_elements": {"txtABC02": {"containerId": "never"}}},
        {"add_elements": [{"id": "txtABC02", "type": "ellipse"}]},
    ],
)
def test_an_update_that_makes_no_sense_changes_nothing(
    call: Calls, vault: VaultFolder, change: dict[str, Any]
) -> None:
    vault["d.excalidraw.md"] = NOTE
    assert refusal(call, "update_excalidraw", path="d.excalidraw.md", **change).code == "invalid_input"
    assert vault["d.excalidraw.md"] == NOTE


def test_a_drawing_that_changed_since_it_was_read_is_not_touched(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw"] = SCENE
    read = call(excalidraw, "read_excalidraw", path="d.excalidraw")
    vault["d.excalidraw"] = changed = SCENE.replace("txtABC02", "txtABC09")
    arguments = {"path": "d.excalidraw", "update_elements": {"txtABC02": {"x": 1}}}
    error = refusal(call, "update_excalidraw", **arguments, prev_hash=read["content_hash"])
    assert error.code == "concurrent_modification"
    assert vault["d.excalidraw"] == changed


def test_drawings_the_caller_may_not_read_or_write_stay_closed(call: Calls, vault: VaultFolder) -> None:
    vault["open/d.excalidraw"] = vault["closed/d.excalidraw"] = SCENE
    call.settings["acl"] = {"read_paths": ["open/**"], "write_paths": []}
    assert refusal(call, "read_excalidraw", path="closed/d.excalidraw").code == "acl_denied"
    assert (
        refusal(call, "read_excalidraw", path="closed/d.excalidraw", source="obsidian").code == "acl_denied"
    )
    assert refusal(call, "export_excalidraw", path="closed/d.excalidraw").code == "acl_denied"
    assert refusal(call, "update_excalidraw", path="open/d.excalidraw").code == "acl_denied"
    assert refusal(call, "create_excalidraw", path="open/n.excalidraw").code == "acl_denied"


def test_line_ends_survive(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw.md"] = NOTE.replace("\n", "\r\n")
    assert call(excalidraw, "read_excalidraw", path="d.excalidraw.md")["text_content"].endswith("two\nlines")
    call(excalidraw, "update_excalidraw", path="d.excalidraw.md", update_app_state={"theme": "dark"})
    after = vault["d.excalidraw.md"]
    assert after == NOTE.replace('"light"', '"dark"').replace("\n", "\r\n")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FOREIGN = st.dictionaries(st.text(max_size=5).map("x{}".format), JSON, max_size=4)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FOREIGN, st.sampled_from([None, 2, "\t"]), st.booleans(), st.booleans())
def test_what_nobody_knows_survives_adding_and_removing(
    call: Calls,
    vault: VaultFolder,
    foreign: dict[str, Any],
    indent: int | str | None,
    in_note: bool,
    small: bool,
) -> None:
    stored = {"elements": [{**foreign, "id": "one00001", "type": "later"}], "appState": foreign, **foreign}
    data = json.dumps(stored, indent=indent, ensure_ascii=False)
    block = f"```compressed-json\n{packed(data)}" if small else f"```json\n{data}"
    path, text = ("d.excalidraw.md", f"{HEAD}{block}\n```\n%%") if in_note else ("d.excalidraw", data)
    vault[path] = text
    call(
        excalidraw,
        "update_excalidraw",
        path=path,
        add_elements=[{"id": "new00001", "type": "text", "text": "x"}],
    )
    now = elements_of(call, path)
    assert now["one00001"] == stored["elements"][0]
    call(excalidraw, "update_excalidraw", path=path, remove_element_ids=["new00001"])
    assert vault[path] == text


NAMES = [
    "id",
    "type",
    "x",
    "width",
    "points",
    "text",
    "fontSize",
    "containerId",
    "startBinding",
    "boundElements",
    "link",
    "fileId",
    "isDeleted",
]
ODD = st.dictionaries(
    st.sampled_from([*NAMES, "angle", "opacity", "strokeColor", "lineHeight", "version", "frameId", "name"]),
    JSON | st.sampled_from([*TYPES, "a", [[0, 0], [1, 2]], [{"id": "a"}], {"elementId": "a"}]),
    max_size=8,
)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(ODD, max_size=3),
    st.lists(ODD, max_size=2),
    st.dictionaries(st.sampled_from("ab"), ODD, max_size=1),
)
def test_whatever_elements_hold_a_drawing_is_changed_and_drawn_or_the_reason_is_given(
    stored: list[dict[str, Any]], added: list[dict[str, Any]], patches: dict[str, dict[str, Any]]
) -> None:
    text = json.dumps({"elements": stored, "appState": {}})
    change = Change(added, frozenset({"a"}), patches, {})
    with suppress(ToolError):
        text = apply(text, "d.excalidraw", change, 0).text
    drawing = Drawing(text, "d.excalidraw")
    assert render(drawing.shown, {}, {}, {}, background=True).svg.endswith("</svg>")
    assert all(isinstance(one, str) for one in drawing.texts())


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(excalidraw)
    assert {name: (tool.rate, tool.scopes) for name, tool in excalidraw.tools.items()} == {
        "read_excalidraw": ("read", ("read:excalidraw",)),
        "create_excalidraw": ("write", ("write:excalidraw",)),
        "update_excalidraw": ("write", ("write:excalidraw",)),
        "export_excalidraw": ("read", ("read:excalidraw",)),
    }
