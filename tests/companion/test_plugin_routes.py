"""Routes to other plugins, each asked as its bridge would ask it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError
from knapper_companion import companion_bridge
from tests.companion.obsidian import Obsidian, obsidian

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def link(path: str, **more: Any) -> dict[str, Any]:
    return {"$link": {"path": path, "type": "file", "embed": False, **more}}


def ask(app: Obsidian, route: str, **body: Any) -> Any:
    return companion_bridge("companion", lambda remote: remote).connect(app.settings()).ask(route, **body)


def refusal(app: Obsidian, route: str, **body: Any) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(ToolError) as raised:
        ask(app, route, **body)
    details = {key: value for key, value in raised.value.details.items() if key != "plugin"}
    return raised.value.code, raised.value.message, details


PARSING = """Error:
-- PARSING FAILED --------------------------------------------------

  1 | LIST
> 2 | FRUM #a
    |  ^

Expected one of the following: FROM"""
QUERIES: dict[str, Any] = {
    'TABLE a FROM "x"': {
        "type": "table",
        "headers": ["File", "a"],
        "rows": [
            [link("x/One.md"), {"$date": "2024-03-18T00:00:00+00:00"}],
            [link("x/Two.md", display="2"), {"$date": "2024-03-18T10:30:00+00:00"}],
            [link("x/One.md"), {"$dur": {"months": 1, "days": 5}}],
        ],
    },
    "TABLE without id owner": {"type": "table", "headers": ["owner"], "rows": [[link("people/Ann.md")]]},
    "TABLE a GROUP BY owner": {
        "type": "table",
        "grouped": True,
        "headers": ["owner", "a"],
        "rows": [[link("people/Ann.md"), {"$array": [1, 2.5, None]}]],
    },
    "LIST": {"type": "list", "values": [link("One.md"), link("Two.md", type="header", subpath="Top")]},
    "LIST a": {
        "type": "list",
        "values": [
            {"$widget": "dataview:list-pair", "key": link("One.md"), "value": {"$number": "NaN"}},
            {
                "$widget": "dataview:list-pair",
                "key": link("Two.md"),
                "value": {"x": [True, {"$function": True}]},
            },
        ],
    },
    "TASK": {
        "type": "task",
        "tasks": [
            {"path": "One.md", "line": 4, "text": "Buy milk", "status": " "},
            {"path": "Two.md", "line": 0, "text": "Sleep", "status": "x"},
        ],
    },
    "TASK GROUP BY file.link": {
        "type": "task",
        "tasks": [
            {"key": link("One.md"), "rows": [{"path": "One.md", "line": 4, "text": "Buy", "status": " "}]}
        ],
    },
    "TASK twice": {
        "type": "task",
        "tasks": [
            {
                "key": "a",
                "rows": [
                    {"key": 1, "rows": [{"path": "One.md", "line": 4, "text": "Buy", "status": " "}]},
                ],
            }
        ],
    },
    "CALENDAR due": {
        "type": "calendar",
        "entries": [{"date": {"$date": "2024-03-20T00:00:00+00:00"}, "link": link("One.md")}],
    },
    "LIST\nFRUM #a": {"$error": PARSING},
    "LIST LIMIT x": {"$error": "the limit is no number"},
    "LIST broken": {"$throw": "Dataview broke"},
    "LIST odd": {"type": "gallery", "values": []},
}


@pytest.mark.parametrize(
    ("dql", "headers", "rows", "paths"),
    [
        (
            'TABLE a FROM "x"',
            ["File", "a"],
            [
                ["[[x/One.md|One]]", "2024-03-18"],
                ["[[x/Two.md|2]]", "2024-03-18T10:30:00+00:00"],
                ["[[x/One.md|One]]", "1 month, 5 days"],
            ],
            ["x/One.md", "x/Two.md"],
        ),
        ("TABLE without id owner", ["owner"], [["[[people/Ann.md|Ann]]"]], []),
        ("TABLE a GROUP BY owner", ["owner", "a"], [["[[people/Ann.md|Ann]]", [1, 2.5, None]]], []),
        ("LIST", [], [["[[One.md|One]]"], ["[[Two.md#Top|Two > Top]]"]], ["One.md", "Two.md"]),
        (
            "LIST a",
            [],
            [["[[One.md|One]]", "NaN"], ["[[Two.md|Two]]", {"x": [True, "<function>"]}]],
            ["One.md", "Two.md"],
        ),
        (
            "TASK",
            ["text", "status", "path", "line"],
            [["Buy milk", " ", "One.md", 5], ["Sleep", "x", "Two.md", 1]],
            ["One.md", "Two.md"],
        ),
        (
            "TASK GROUP BY file.link",
            ["group", "text", "status", "path", "line"],
            [["[[One.md|One]]", "Buy", " ", "One.md", 5]],
            ["One.md"],
        ),
        (
            "TASK twice",
            ["group 1", "group 2", "text", "status", "path", "line"],
            [["a", 1, "Buy", " ", "One.md", 5]],
            ["One.md"],
        ),
        ("CALENDAR due", ["date", "note"], [["2024-03-20", "[[One.md|One]]"]], ["One.md"]),
    ],
)
def test_dataview_answers_every_kind_of_query_as_rows(
    dataview: Obsidian, dql: str, headers: list[str], rows: list[Any], paths: list[str]
) -> None:
    kind = dql.partition(" ")[0].lower()
    expected = {"headers": headers, "rows": rows, "note_paths": paths}
    assert ask(dataview, "/dataview/dql", dql=dql) == expected
    assert ask(dataview, "/dataview/dql", dql=dql, format=kind) == expected


@pytest.fixture(scope="module")
def dataview(tmp_path_factory: pytest.TempPathFactory) -> Any:
    expressions = {
        "1 + 1": 2,
        "due": {"$date": "2024-03-20T00:00:00+00:00"},
        "links": [link("One.md")],
        "elink": {"$widget": "dataview:external-link", "url": "https://a.example", "display": "A"},
        "bold": {"$html": "strong"},
        "span": {"$dur": {"days": 1500, "hours": 1.5}},
        "nothing": None,
        "1 +": {"$error": 'Failed to parse expression "1 +"'},
    }
    plugins = {
        "dataview": {
            "queries": QUERIES,
            "expressions": expressions,
            "pages": {"One.md": {"due": 1, "file": {"name": "One"}}},
        }
    }
    with obsidian(tmp_path_factory.mktemp("dataview"), plugins=plugins) as app:
        yield app


def test_a_query_of_another_kind_than_wanted_is_refused(dataview: Obsidian) -> None:
    found = refusal(dataview, "/dataview/dql", dql="LIST", format="table")
    assert found == ("dql_error", "the query is a LIST, not a TABLE", {})


@pytest.mark.parametrize(
    ("dql", "message", "details"),
    [
        ("LIST\nFRUM #a", PARSING, {"line": 2, "col": 2}),
        ("LIST LIMIT x", "the limit is no number", {}),
        ("LIST broken", "Dataview broke", {}),
    ],
)
def test_a_query_that_is_wrong_says_what_and_where(
    dataview: Obsidian, dql: str, message: str, details: dict[str, int]
) -> None:
    assert refusal(dataview, "/dataview/dql", dql=dql) == ("dql_error", message, details)
    checked = ask(dataview, "/dataview/validate", dql=dql)
    assert checked == {"valid": False, "error": {"message": message, **details}}


def test_a_query_that_is_right_is_valid(dataview: Obsidian) -> None:
    assert ask(dataview, "/dataview/validate", dql="LIST") == {"valid": True}


def test_a_kind_of_result_that_nobody_knows_is_not_passed_on(dataview: Obsidian) -> None:
    assert refusal(dataview, "/dataview/dql", dql="LIST odd")[0] == "plugin_unreachable"


@pytest.mark.parametrize(
    ("expression", "value", "type"),
    [
        ("1 + 1", 2, "number"),
        ("due", "2024-03-20", "date"),
        ("links", ["[[One.md|One]]"], "array"),
        ("elink", "[A](https://a.example)", "widget"),
        ("bold", "strong", "html"),
        ("span", "1,500 days, 1 hour, 30 minutes", "duration"),
        ("nothing", None, "null"),
    ],
)
def test_an_expression_has_a_value_and_a_type(
    dataview: Obsidian, expression: str, value: Any, type: str
) -> None:
    assert ask(dataview, "/dataview/eval", expression=expression) == {"value": value, "type": type}


def test_an_expression_in_a_note_sees_its_fields_and_this(dataview: Obsidian) -> None:
    dataview.state()
    ask(dataview, "/dataview/eval", expression="due", path="One.md")
    assert dataview.events("dataview.evaluate") == [
        {"expression": "due", "origin": "One.md", "fields": ["due", "file", "this"]}
    ]


def test_an_expression_that_is_wrong_or_in_no_note_is_refused(dataview: Obsidian) -> None:
    assert refusal(dataview, "/dataview/eval", expression="1 +")[:2] == (
        "dql_error",
        'Failed to parse expression "1 +"',
    )
    assert refusal(dataview, "/dataview/eval", expression="due", path="No.md") == (
        "note_not_found",
        "there is no file No.md",
        {"path": "No.md"},
    )


def test_tasks_has_no_interface_for_queries_and_the_route_says_so(tmp_path: Path) -> None:
    with obsidian(tmp_path, plugins={"obsidian-tasks-plugin": {}}) as app:
        assert refusal(app, "/tasks/filter", filter="not done") == (
            "plugin_unreachable",
            "the plugin tasks has no interface for queries; use engine native",
            {},
        )


@pytest.fixture
def templates(tmp_path: Path) -> Any:
    (tmp_path / "Templates" / "deep").mkdir(parents=True)
    (tmp_path / "Templates" / "day.md").write_text("# <% tp.file.title %>\n", encoding="utf-8")
    (tmp_path / "Templates" / "deep" / "bad.md").write_text("<% nothing.here %>", encoding="utf-8")
    (tmp_path / "Templates" / "picture.png").write_bytes(b"")
    (tmp_path / "Templates2.md").write_text("", encoding="utf-8")
    (tmp_path / "old.md").write_text("old text", encoding="utf-8")
    with obsidian(tmp_path, plugins={"templater-obsidian": {"templates_folder": "Templates/"}}) as app:
        yield app


def test_templates_are_the_notes_of_templaters_folder(templates: Obsidian) -> None:
    assert ask(templates, "/templater/list") == {
        "items": [
            {"path": "Templates/day.md", "name": "day"},
            {"path": "Templates/deep/bad.md", "name": "bad"},
        ]
    }


def test_without_a_folder_every_note_is_a_template(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("", encoding="utf-8")
    (tmp_path / "a.md").write_text("", encoding="utf-8")
    with obsidian(tmp_path, plugins={"templater-obsidian": {}}) as app:
        assert [item["name"] for item in ask(app, "/templater/list")["items"]] == ["a", "b"]


@pytest.mark.parametrize("target", ["2024.md", "journal/new/2024.md"])
def test_a_template_runs_into_a_new_note(templates: Obsidian, target: str) -> None:
    answer = ask(templates, "/templater/execute", template="Templates/day.md", target=target)
    assert STAMP.fullmatch(answer.pop("created_at"))
    assert answer == {"template": "Templates/day.md", "target": target}
    assert (templates.folder / target).read_text("utf-8") == "# 2024\n"
    assert templates.events("templater.create") == [
        {"template": "Templates/day.md", "target": target, "open": False}
    ]


def test_a_template_overwrites_a_note_only_where_it_may(templates: Obsidian) -> None:
    given = {"template": "Templates/day.md", "target": "old.md"}
    assert refusal(templates, "/templater/execute", **given) == (
        "note_exists",
        "old.md exists already",
        {"path": "old.md"},
    )
    assert (templates.folder / "old.md").read_text("utf-8") == "old text"
    assert ask(templates, "/templater/execute", **given, overwrite=True)["target"] == "old.md"
    assert (templates.folder / "old.md").read_text("utf-8") == "# old\n"


def test_a_template_that_fails_leaves_every_note_as_it_was(templates: Obsidian) -> None:
    bad = {"template": "Templates/deep/bad.md"}
    created = refusal(templates, "/templater/execute", **bad, target="new.md")
    replaced = refusal(templates, "/templater/execute", **bad, target="old.md", overwrite=True)
    assert created == (
        "invalid_input",
        "the template failed: see Obsidian's console for why",
        {"field": "template"},
    )
    assert replaced == (
        "invalid_input",
        "the template failed: nothing is not defined",
        {"field": "template"},
    )
    assert not (templates.folder / "new.md").exists()
    assert (templates.folder / "old.md").read_text("utf-8") == "old text"


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"template": "no.md"}, "note_not_found", "there is no file no.md"),
        ({"target": "Templates"}, "invalid_input", "target has to end with .md"),
        ({"args": {"x": 1}}, "invalid_input", "Templater itself takes no arguments; leave args out"),
        ({"target": "old.md/new.md"}, "invalid_input", "old.md is a file"),
    ],
)
def test_a_template_that_cannot_run_is_refused(
    templates: Obsidian, body: dict[str, Any], code: str, message: str
) -> None:
    given = {"template": "Templates/day.md", "target": "new.md", **body}
    assert refusal(templates, "/templater/execute", **given)[:2] == (code, message)
    assert not (templates.folder / "new.md").exists()


CHOICES = [
    {"name": "Log", "type": "Capture"},
    {"name": "More", "type": "Multi", "choices": [{"name": "Book", "type": "Template"}, {"type": "Macro"}]},
    {"name": "Breaks", "type": "Macro"},
    "not a choice",
]


@pytest.fixture
def quickadd(tmp_path: Path) -> Any:
    options = {"choices": CHOICES, "fails": {"Breaks": "the script failed"}}
    with obsidian(tmp_path, plugins={"quickadd": options}) as app:
        yield app


def test_quickadds_choices_are_listed_with_those_inside_of_multis(quickadd: Obsidian) -> None:
    assert ask(quickadd, "/quickadd/actions") == {
        "items": [
            {"name": "Log", "type": "capture"},
            {"name": "More", "type": "multi"},
            {"name": "Book", "type": "template"},
            {"name": "Breaks", "type": "macro"},
        ]
    }


def test_a_choice_runs_with_its_variables(quickadd: Obsidian) -> None:
    answer = ask(quickadd, "/quickadd/trigger", action_name="Book", args={"title": "Ulysses"})
    assert answer["action_name"] == "Book"
    assert STAMP.fullmatch(answer["fired_at"])
    ask(quickadd, "/quickadd/trigger", action_name="Log")
    assert quickadd.events("quickadd.execute") == [
        {"name": "Book", "variables": {"title": "Ulysses"}},
        {"name": "Log", "variables": {}},
    ]


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("Nope", "invalid_input", "Nope is no choice of QuickAdd"),
        ("More", "invalid_input", "More only asks which; name one of the choices inside of it"),
        ("Breaks", "plugin_unreachable", "the script failed"),
    ],
)
def test_a_choice_that_does_not_run_says_why(quickadd: Obsidian, name: str, code: str, message: str) -> None:
    assert refusal(quickadd, "/quickadd/trigger", action_name=name)[:2] == (code, message)


@pytest.fixture
def pictures(tmp_path: Path) -> Any:
    for name in ("a.png", "b.png", "c.png", "d.png", "bad.png", "notes.md"):
        (tmp_path / name).write_bytes(b"")
    texts = {f"{letter}.png": f"text {letter}" for letter in "abcd"}
    with obsidian(tmp_path, plugins={"text-extractor": {"texts": texts, "cached": ["a.png"]}}) as app:
        yield app


def test_text_is_read_and_says_whether_it_was_kept(pictures: Obsidian) -> None:
    answers = [
        ask(pictures, "/ocr/attachment", path="a.png"),
        ask(pictures, "/ocr/attachment", path="a.png", force=True),
        ask(pictures, "/ocr/attachment", path="b.png"),
        ask(pictures, "/ocr/attachment", path="b.png"),
    ]
    assert all(isinstance(answer.pop("duration_ms"), int) for answer in answers)
    assert answers == [
        {"path": "a.png", "text": "text a", "cached": True},
        {"path": "a.png", "text": "text a", "cached": False},
        {"path": "b.png", "text": "text b", "cached": False},
        {"path": "b.png", "text": "text b", "cached": True},
    ]


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("none.png", "note_not_found", "there is no file none.png"),
        ("notes.md", "invalid_input", "notes.md is of a kind that Text Extractor does not read"),
        ("bad.png", "plugin_unreachable", "cannot read bad.png"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(pictures: Obsidian, path: str, code: str, message: str) -> None:
    assert refusal(pictures, "/ocr/attachment", path=path)[:2] == (code, message)


@pytest.mark.parametrize(("at_once", "most"), [(None, 2), (1, 1), (4, 4)])
def test_many_are_read_in_order_some_at_once_and_one_that_fails_costs_only_itself(
    pictures: Obsidian, at_once: int | None, most: int
) -> None:
    paths = ["a.png", "b.png", "none.png", "c.png", "bad.png", "d.png", "a.png"]
    found = ask(pictures, "/ocr/bulk", paths=paths, max_concurrent=at_once)
    assert isinstance(found.pop("total_duration_ms"), int)
    assert found == {
        "processed": 6,
        "results": [
            {"path": "a.png", "ok": True, "text": "text a"},
            {"path": "b.png", "ok": True, "text": "text b"},
            {"path": "none.png", "ok": False, "error": "there is no file none.png"},
            {"path": "c.png", "ok": True, "text": "text c"},
            {"path": "bad.png", "ok": False, "error": "cannot read bad.png"},
            {"path": "d.png", "ok": True, "text": "text d"},
        ],
    }
    assert max(event["working"] for event in pictures.events("ocr.extract")) == most


ELEMENTS = [
    {"id": "2", "type": "text", "x": 0, "y": 50, "text": "wrapped\nhere", "rawText": "wrapped here"},
    {"id": "1", "type": "text", "x": 9, "y": 0, "text": "right"},
    {"id": "0", "type": "text", "x": 1, "y": 0, "text": "left", "rawText": ""},
    {"id": "3", "type": "text", "x": 0, "y": 9, "text": "gone", "isDeleted": True},
    {"id": "4", "type": "rectangle", "x": 0, "y": 0},
]


@pytest.fixture
def drawings(tmp_path: Path) -> Any:
    (tmp_path / "plain.md").write_text("no drawing", encoding="utf-8")
    with obsidian(tmp_path, plugins={"obsidian-excalidraw-plugin": {}}) as app:
        yield app


@pytest.mark.parametrize("path", ["new/a.excalidraw.md", "a.excalidraw"])
def test_a_drawing_that_is_written_is_read_from_top_to_bottom(drawings: Obsidian, path: str) -> None:
    made = ask(drawings, "/excalidraw/write", path=path, mode="create", elements=ELEMENTS)
    assert made == {"path": path, "plugin_used": True}
    assert ask(drawings, "/excalidraw/read", path=path, format="text") == {
        "path": path,
        "text_content": "left\n\nright\n\nwrapped here",
    }


def test_a_drawing_in_a_note_is_laid_out_as_the_plugin_lays_it_out(drawings: Obsidian) -> None:
    ask(drawings, "/excalidraw/write", path="a.excalidraw.md", elements=ELEMENTS[:1])
    text = (drawings.folder / "a.excalidraw.md").read_text("utf-8")
    head, _, rest = text.partition("## Text Elements\n")
    assert head.startswith("---\n\nexcalidraw-plugin: parsed\n")
    entry, _, data = rest.partition("%%\n## Drawing\n```json\n")
    assert entry == "wrapped here ^2\n\n"
    assert data.endswith("\n```\n%%\n")
    assert json.loads(data[: -len("\n```\n%%\n")])["elements"] == ELEMENTS[:1]


def test_a_drawing_in_a_note_is_read_by_the_native_engine_too(drawings: Obsidian) -> None:
    native = pytest.importorskip("knapper_excalidraw.drawing", reason="the domain is not installed")
    ask(drawings, "/excalidraw/write", path="a.excalidraw.md", elements=ELEMENTS)
    text = (drawings.folder / "a.excalidraw.md").read_text("utf-8")
    assert native.Drawing(text, "a.excalidraw.md").texts() == ["left", "right", "wrapped here"]


def test_a_drawing_that_is_there_is_never_replaced_unasked(drawings: Obsidian) -> None:
    ask(drawings, "/excalidraw/write", path="a.excalidraw", elements=ELEMENTS)
    before = (drawings.folder / "a.excalidraw").read_bytes()
    assert refusal(drawings, "/excalidraw/write", path="a.excalidraw")[0] == "note_exists"
    assert ask(drawings, "/excalidraw/write", path="a.excalidraw", mode="update") == {
        "path": "a.excalidraw",
        "plugin_used": True,
        "unchanged": True,
    }
    assert (drawings.folder / "a.excalidraw").read_bytes() == before
    replaced = ask(drawings, "/excalidraw/write", path="a.excalidraw", mode="update", overwrite=True)
    assert replaced == {"path": "a.excalidraw", "plugin_used": True}
    assert ask(drawings, "/excalidraw/read", path="a.excalidraw")["text_content"] == ""


@pytest.mark.parametrize(
    ("route", "body", "code", "message"),
    [
        ("read", {"path": "none.excalidraw"}, "note_not_found", "there is no file none.excalidraw"),
        ("read", {"path": "plain.md"}, "invalid_input", "plain.md is no drawing"),
        (
            "write",
            {"path": "none.excalidraw", "mode": "update"},
            "note_not_found",
            "there is no file none.excalidraw",
        ),
        (
            "write",
            {"path": "plain.md", "overwrite": True},
            "invalid_input",
            "plain.md ends neither with .excalidraw.md nor .excalidraw",
        ),
    ],
)
def test_what_is_no_drawing_is_refused(
    drawings: Obsidian, route: str, body: dict[str, Any], code: str, message: str
) -> None:
    assert refusal(drawings, f"/excalidraw/{route}", **body)[:2] == (code, message)
    assert (drawings.folder / "plain.md").read_text("utf-8") == "no drawing"


@pytest.fixture
def spaces(tmp_path: Path) -> Any:
    rows = [{"File": f"Projects/{n}.md", "status": "open"} for n in range(3)]
    schemas = [{"id": "files", "type": "db"}, {"id": "board", "type": "view"}]
    options = {
        "spaces": {"Projects": {"name": "My projects"}, "Areas/Home": {}},
        "contexts": {"Projects": {"contextTable": {"rows": [*rows, {"no": "file"}]}, "schemas": schemas}},
    }
    with obsidian(tmp_path, plugins={"make-md": options}) as app:
        yield app


def test_spaces_are_listed_by_their_paths(spaces: Obsidian) -> None:
    assert ask(spaces, "/makemd/spaces") == {
        "spaces": [
            {"id": "Projects", "name": "My projects", "path": "Projects", "view_count": 1},
            {"id": "Areas/Home", "name": "Home", "path": "Areas/Home", "view_count": 0},
        ]
    }


def test_the_rows_of_a_space_come_page_by_page(spaces: Obsidian) -> None:
    first = ask(spaces, "/makemd/query", space_id="Projects", limit=2)
    assert first == {
        "items": [
            {"note_path": "Projects/0.md", "columns": {"status": "open"}},
            {"note_path": "Projects/1.md", "columns": {"status": "open"}},
        ],
        "total": 3,
        "cursor": "2",
    }
    last = ask(spaces, "/makemd/query", space_id="Projects", limit=2, cursor="2")
    assert ([item["note_path"] for item in last["items"]], "cursor" in last) == (["Projects/2.md"], False)
    assert ask(spaces, "/makemd/query", space_id="Areas/Home") == {"items": [], "total": 0}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"space_id": "Nope"}, "invalid_input", "Nope is no space"),
        ({"space_id": "Projects", "cursor": "x"}, "invalid_input", "cursor is not one of ours"),
        (
            {"space_id": "Projects", "filter": {"status": "open"}},
            "plugin_unreachable",
            "the plugin make-md has no interface for filters and orders; use engine native",
        ),
    ],
)
def test_a_query_that_make_md_cannot_answer_is_refused(
    spaces: Obsidian, body: dict[str, Any], code: str, message: str
) -> None:
    assert refusal(spaces, "/makemd/query", **body)[:2] == (code, message)
