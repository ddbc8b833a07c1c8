"""One call a domain and what it really answers: made on a copy of the example vault when the pages are written."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from knapper.caller import LOCAL, Caller
from knapper.config.model import Settings
from knapper.index.ids import note_id
from knapper.plugins import Plugins
from knapper.runtime import Runtime

NOW = 1_778_932_800.0  # a Saturday at noon, some days after the example's last note
LONGEST_TEXT, LONGEST_LIST = 240, 3
CALLER = Caller("example", LOCAL, authenticated=True, session="example")
RANDOM = re.compile(r"\b([a-z]{2,6})_[0-9a-f]{12,}\b")


class Example(NamedTuple):
    """A call, and the call that has to be made before it."""

    tool: str
    arguments: Mapping[str, Any] = MappingProxyType({})
    first: tuple[str, dict[str, Any]] | None = None


EXAMPLES = {
    "admin": Example("inspect_acl", {"vault": "main", "path": "Home.md", "op": "write", "scopes": ["*"]}),
    "attachments": Example("list_attachments"),
    "bases": Example("query_base", {"path": "Stones.base", "view": "By hardness"}),
    "bookmarks": Example(
        "add_bookmark", {"type": "heading", "target": "Safety.md#Eyes first", "group": "Read first"}
    ),
    "bulk": Example(
        "bulk_move_notes", {"moves": [{"from": "Stones/Flint.md", "to": "Stones/Grey flint.md"}]}
    ),
    "bundles": Example("bundle_files", {"paths": ["Safety.md", "No such note.md"]}),
    "canvas": Example("query_canvas", {"filter": {"type": "text"}}),
    "capture": Example("enqueue_capture", {"content": "Ask about antler tines.", "title": "Antler"}),
    "commands": Example("list_commands"),
    "companion": Example("refresh_plugin_capabilities"),
    "dataview": Example("eval_dataview_field", {"path": "Stones/Flint.md", "expression": "hardness * 10"}),
    "excalidraw": Example(
        "create_excalidraw",
        {"path": "Drawings/Core.excalidraw.md", "elements": [{"type": "text", "text": "strike here"}]},
    ),
    "graph": Example("graph_path_between", {"from": "Safety.md", "to": "Stones/Jasper.md"}),
    "history": Example(
        "list_snapshots",
        {"path": "Safety.md"},
        ("append_note", {"path": "Safety.md", "content": "Sweep the floor."}),
    ),
    "links": Example("find_unresolved_links"),
    "makemd": Example(
        "makemd_query", {"space_id": "Stones", "filter": {"Hardness": {"gt": 6}}, "sort": ["-Hardness"]}
    ),
    "memory": Example("create_entity", {"type": "person", "name": "Ada", "observations": ["Sells flint."]}),
    "notes": Example(
        "patch_note",
        {"path": "Home.md", "old_string": "change what you like", "new_string": "change it"},
    ),
    "obsidian": Example("obsidian_create_note", {"name": "Antler", "content": "Softer than stone."}),
    "ocr": Example("ocr_attachment", {"path": "Attachments/Label.pdf"}),
    "periodic": Example("get_periodic_note", {"period": "daily", "date": "2026-05-09"}),
    "plur": Example("plur_recall", {"query": "flint"}),
    "properties": Example(
        "update_frontmatter", {"path": "Stones/Flint.md", "mode": "set", "key": "hardness", "value": 6.5}
    ),
    "quickadd": Example("trigger_quickadd", {"action_name": "Find", "args": {"value": "A core of flint"}}),
    "retrieval": Example("get_note", {"note_id": note_id("Safety.md")}),
    "search": Example("search_text", {"query": "rind"}),
    "sessions": Example("get_session_traces"),
    "tags": Example("find_notes_by_tag", {"tag": "stone"}),
    "tasks": Example("tasks_filter", {"filter": "not done\nhas due date\nsort by due"}),
    "templater": Example(
        "execute_template", {"template": "Templates/Day out.md", "target": "Journal/Chalk pit.md"}
    ),
    "uri": Example("generate_uri", {"action": "open", "vault_name": "Stones", "params": {"file": "Home"}}),
    "vaults": Example("list_vaults"),
    "workspaces": Example("open_workspace", {"name": "Writing"}),
}


def example_of(slug: str, root: Path, only: list[str]) -> str | None:
    """The example of a domain, made now on a vault of its own; None where it has none."""
    example = EXAMPLES.get(slug)
    if example is None:
        return None
    with _runtime_on_a_copy(root, only) as runtime:
        return _rendered(example, runtime)


def _rendered(example: Example, runtime: Runtime) -> str:
    """The call and its answer as a reader of the page sees them."""
    if example.first is not None:
        _called(runtime, *example.first)
    call = {"name": example.tool, "arguments": dict(example.arguments)}
    answer = _shown(_called(runtime, example.tool, example.arguments))
    return f"```json\n{_json(call)}\n```\n\nanswers\n\n```json\n{_json(answer)}\n```"


def _called(runtime: Runtime, tool: str, arguments: Mapping[str, Any]) -> Any:
    outcome = runtime.call(tool, dict(arguments), CALLER, ask=lambda question: True)
    return outcome.error or json.loads(outcome.payload)


def _shown(value: Any) -> Any:
    """An answer cut to what a page can hold, and without what is another each time."""
    if isinstance(value, dict):
        return {key: _shown(one) for key, one in value.items() if key != "duration_ms"}
    if isinstance(value, list):
        more = ["…"] if len(value) > LONGEST_LIST else []
        return [_shown(one) for one in value[:LONGEST_LIST]] + more
    if isinstance(value, str):
        text = RANDOM.sub(r"\1_…", value)
        return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


@contextmanager
def _runtime_on_a_copy(root: Path, only: list[str]) -> Iterator[Runtime]:
    """The installed plugins over a copy of the example vault, at a time that stands still."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        shutil.copytree(root / "examples" / "vault", vault)
        _furnish(vault)
        for path in (*vault.rglob("*"), vault):
            os.utime(path, (NOW - 86_400, NOW - 86_400))
        settings = {
            "vaults": [{"id": "main", "path": str(vault), "name": "Stones"}],
            "cache_dir": str(Path(folder) / "cache"),
            "watch": {"enabled": False},
        }
        chosen = Settings.model_validate(settings)
        runtime = Runtime(chosen, Plugins.discover(only=only, strict=True), clock=lambda: NOW)
        try:
            for one in runtime.vaults:
                one.index.reconcile()
            yield runtime
        finally:
            runtime.close()


def _furnish(vault: Path) -> None:
    """What the example vault itself has no need of: a label to read, and what some plugins keep."""
    (vault / "Attachments" / "Label.pdf").write_bytes(_pdf("Flint from the chalk pit"))
    for path, text in FURNITURE.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
    with closing(sqlite3.connect(vault / "Stones" / ".space" / "context.mdb")) as database:
        database.executescript(SPACE)


FURNITURE = {
    "Finds.md": "# Finds\n",
    "Templates/Day out.md": "# <% tp.file.title %>\n\n<% tp.date.now('dddd D MMMM') %>\n",
    "Stones/.space/def.json": "{}",
    ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Templates"}',
    ".obsidian/plugins/quickadd/data.json": json.dumps(
        {
            "choices": [
                {
                    "id": "1",
                    "name": "Find",
                    "type": "Capture",
                    "captureTo": "Finds.md",
                    "format": {"enabled": True, "format": "- {{DATE}} {{VALUE}}\n"},
                }
            ]
        }
    ),
    ".obsidian/workspaces.json": json.dumps(
        {
            "workspaces": {
                "Writing": {
                    "main": {
                        "id": "a",
                        "type": "leaf",
                        "state": {"type": "markdown", "state": {"file": "Knapping.md"}},
                    },
                },
                "Review": {"main": {"id": "b", "type": "split", "children": []}},
            },
            "active": "Review",
        }
    ),
}
SPACE = """
CREATE TABLE m_schema (id TEXT, name TEXT, type TEXT, def TEXT, predicate TEXT, "primary" TEXT);
CREATE TABLE m_fields
  (name TEXT, schemaId TEXT, type TEXT, value TEXT, attrs TEXT, hidden TEXT, "unique" TEXT, "primary" TEXT);
CREATE TABLE files ("File" TEXT, "Hardness" TEXT);
INSERT INTO m_schema VALUES ('files', 'Items', 'db', '', '', 'true');
INSERT INTO m_fields VALUES ('File', 'files', 'file', '', '', '', '', 'true');
INSERT INTO m_fields VALUES ('Hardness', 'files', 'number', '', '', '', '', '');
INSERT INTO files VALUES ('Stones/Flint.md', '7'), ('Stones/Chert.md', '6.5'), ('Stones/Obsidian.md', '5.5');
"""


def _pdf(text: str) -> bytes:
    """A document of one page with one line of text."""
    content = f"BT /F1 24 Tf 20 60 Td ({text}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 120]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    body, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    trailer = f"trailer<</Size {count}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {count}\n0000000000 65535 f \n{table}{trailer}".encode("ascii")
