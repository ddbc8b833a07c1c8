"""Whatever a drawing holds and however it is stored, an edit that changes nothing writes the same bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.testing import Calls, VaultFolder
from knapper_excalidraw import excalidraw
from knapper_excalidraw.lzstring import compress
from tests.odd_json import TEXT, VALUE, files

ELEMENT = st.fixed_dictionaries(
    {"type": st.sampled_from(["rectangle", "text", "arrow", "image", "later", 7])},
    optional={
        "id": TEXT,
        "x": st.integers(-1000, 1000) | st.floats(-1e6, 1e6),
        "text": TEXT,
        "points": VALUE,
        "customData": VALUE,
        "boundElements": st.none() | st.lists(st.fixed_dictionaries({"id": TEXT}), max_size=2),
        "isDeleted": st.booleans(),
    },
)
SCENE = st.fixed_dictionaries(
    {},
    optional={
        "elements": st.lists(ELEMENT, max_size=3),
        "appState": st.dictionaries(TEXT, VALUE, max_size=2),
        "files": VALUE,
        "prevTextMode": VALUE,
    },
)
MARKDOWN = st.lists(
    st.sampled_from(
        [
            "",
            "What the user wrote. ^block123",
            "# A heading",
            "==⚠  Switch to EXCALIDRAW VIEW ⚠==",
            "# Excalidraw Data",
            "## Text Elements",
            "A text [[link]] ^abcd1234",
            "%%***>>>text element-link:[[x]]<<<***%%old ^abcd0000",
            "## Element Links",
            "abcd1234: [[There#Here|so]]",
            "## Embedded Files",
            '0123abcd: [[a.png]] {"x":1}',
            "0123abce: $$\\\\frac{1}{2}$$",
            "%%",
            "```js\ncode()\n```",
        ]
    ),
    max_size=12,
).map("\n".join)
NOTHING: dict[str, Any] = {"remove_element_ids": ["none has this id"], "update_elements": {}}


def pieces(letters: str, size: int) -> str:
    return "\n\n".join(letters[at : at + size] for at in range(0, len(letters), size))


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(SCENE))
def test_a_plain_drawing_keeps_every_byte(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["d.excalidraw"] = text
    call(excalidraw, "read_excalidraw", path="d.excalidraw")
    call(excalidraw, "update_excalidraw", path="d.excalidraw", **NOTHING)
    assert vault.bytes("d.excalidraw") == text.encode()


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files(SCENE),
    MARKDOWN,
    st.sampled_from(["json", "compressed-json"]),
    st.sampled_from([256, 64, 10**9]),
    st.sampled_from(["## Drawing", "# Drawing"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["\n%%", "\n%%\n", "", "\n\n%%\nMore of the user's."]),
)
def test_a_note_keeps_every_byte(
    call: Calls,
    vault: VaultFolder,
    data: str,
    markdown: str,
    kind: str,
    size: int,
    heading: str,
    eol: str,
    end: str,
) -> None:
    data = data.removeprefix("\ufeff").replace("\r\n", "\n")
    stored = data if kind == "json" else pieces(compress(data), size)
    front = "---\nexcalidraw-plugin: parsed\nx:   [1,  2]\n---\n"
    text = f"{front}{markdown}\n{heading}\n```{kind}\n{stored}\n```{end}".replace("\n", eol)
    vault["d.excalidraw.md"] = text
    call(excalidraw, "read_excalidraw", path="d.excalidraw.md")
    call(excalidraw, "update_excalidraw", path="d.excalidraw.md", **NOTHING)
    assert vault.bytes("d.excalidraw.md") == text.encode()


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "{}", '{"elements":[]}', '{ "later" : 1 }\r\n'])
def test_an_empty_drawing_stays_as_it_is_written(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["d.excalidraw"] = text
    assert call(excalidraw, "read_excalidraw", path="d.excalidraw")["elements"] == []
    call(excalidraw, "update_excalidraw", path="d.excalidraw")
    assert vault["d.excalidraw"] == text


def test_a_note_of_mixed_line_ends_is_changed_where_it_is_meant(call: Calls, vault: VaultFolder) -> None:
    text = (
        "---\r\nexcalidraw-plugin: parsed\r\n---\n# Excalidraw Data\r\n\n## Text Elements\r\nOne ^abcd1234\r\n\n"
        '## Drawing\r\n```json\r\n{"elements":[{"id":"abcd1234","type":"text","text":"One"}],\n"appState":{"theme":"light"}}\n'
        "```\r\n%%"
    )
    vault["d.excalidraw.md"] = text
    assert call(excalidraw, "read_excalidraw", path="d.excalidraw.md")["text_content"] == "One"
    call(excalidraw, "update_excalidraw", path="d.excalidraw.md", update_app_state={"theme": "dark"})
    assert vault["d.excalidraw.md"] == text.replace("light", "dark")
