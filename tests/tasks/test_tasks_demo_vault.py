import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
import yaml

from knapper import ToolError
from knapper.testing import Calls
from knapper_tasks import tasks
from knapper_tasks.engine import (
    QueryError,
    QueryFile,
    ScriptRefused,
    Settings,
    TaskRow,
    extract,
    parse_query,
    settings_from_data,
)

VAULT = Path(__file__).parents[2].parent / "shared" / "vaults" / "tasks-demo"
BLOCK = re.compile(r"^([ >\t]*)(`{3,}|~{3,}) *tasks *\n(.*?)^[ >\t]*\2", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(not VAULT.is_dir(), reason="the demo vault is not at hand")

# The blocks that demonstrate mistakes, and those whose JavaScript is out of reach.
MISTAKES = {
    "(description includes (maybe)) OR (description includes (perhaps))",
    "(filter by function task.tags.join(',').toUpperCase().includes('#XX')) AND "
    "(filter by function task.tags.join(',').toUpperCase().includes('#YY')) AND "
    "(filter by function task.tags.join(',').toUpperCase().includes('#ZZ'))",
    "(tags includes #XX) AND (tags includes #YY",
    "(tags includes #XX) AND (tags includes #YY))",
    "description regex matches /CASE/&",
    "description regex matches /[123/",
    "description regex matches CASE",
    "false",
    "filter by function hello",
    "filter by function task.due.formatAsDate(",
    "filter by function task.nonExistentField",
    "null",
    # Templates, whose names are not dates.
    "done daily note template - Templater plugin",
    "happens before daily note template - Templater plugin",
    "happens daily note template - Templater plugin",
    "preset xxxx",
    "sort by function hello",
    "sort by function task.due.formatAsDate(",
    "sort by function task.nonExistentField",
    "sort by function task.tags",
}
REFUSED = {
    "assignment (+=)",
    "console",
    "file.outlinks",
    "file.outlinksInBody",
    "file.outlinksInProperties",
    "new",
    "process",
    "task.outlinks",
    "throw",
}


DAY = date(2024, 3, 15)


def _properties(path: str) -> dict[str, Any]:
    found = re.match(r"---\n(.*?)\n---", (VAULT / path).read_text(encoding="utf-8"), re.DOTALL)
    loaded = yaml.safe_load(found[1]) if found else None
    return loaded if isinstance(loaded, dict) else {}


def _settings() -> Settings:
    data = VAULT / ".obsidian" / "plugins" / "obsidian-tasks-plugin" / "data.json"
    return settings_from_data(json.loads(data.read_text(encoding="utf-8")))


def _notes() -> Iterator[tuple[str, str]]:
    for file in sorted(VAULT.rglob("*.md")):
        yield file.relative_to(VAULT).as_posix(), file.read_text(encoding="utf-8")


def _blocks() -> Iterator[tuple[str, str]]:
    for path, text in _notes():
        for indent, _, source in BLOCK.findall(text):
            lines = source.split("\n")
            quoted = ">" in indent
            yield path, "\n".join(re.sub(r"^[ \t]*>", "", line) if quoted else line for line in lines)


def test_every_query_of_the_demo_vault_runs_or_says_why_not() -> None:
    settings = _settings()
    rows: list[TaskRow] = [row for path, text in _notes() for row in extract(path, text, settings)]
    mistakes: set[str] = set()
    refused: set[str] = set()
    ran = 0
    for path, source in _blocks():
        file = QueryFile(path, _properties(path))
        try:
            query = parse_query(source, settings, DAY, file=file)
            query.run(rows, properties_of=_properties)
        except ScriptRefused as error:
            refused.add(error.construct)
        except QueryError as error:
            mistakes.add(error.line)
        else:
            ran += 1

    assert refused == REFUSED
    assert mistakes == MISTAKES
    assert ran == 253


def test_the_global_query_and_filter_of_the_demo_vault_count() -> None:
    settings = _settings()
    rows = [row for path, text in _notes() for row in extract(path, text, settings)]

    found = parse_query("", settings, DAY).run(rows)

    assert all("#task" in row.raw for row in rows)
    assert any(row.path.startswith("_meta/") for row in rows)
    assert not any(row.path.startswith("_meta/") for row in found.rows)


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls to the demo vault itself, on the day of the other tests."""
    calls = Calls(VAULT, tmp_path)
    runtime = calls.runtime(tasks)
    runtime.clock = datetime.combine(DAY, time(12)).timestamp
    yield calls
    calls.close()


def test_every_query_of_the_demo_vault_gives_the_same_through_the_tool(calls: Calls) -> None:
    settings = _settings()
    rows = [row for path, text in _notes() for row in extract(path, text, settings)]
    outcomes: Counter[str] = Counter()
    refused: set[str] = set()
    mistakes: set[str] = set()
    for path, source in _blocks():
        try:
            found = calls(tasks, "tasks_filter", filter=source, path=path, limit=1000)
        except ToolError as error:
            outcomes[error.code] += 1
            if error.code == "plugin_missing":
                refused.add(error.details["construct"])
            else:
                mistakes.add(error.message.rpartition("Problem line: ")[2].strip('"'))
            continue
        outcomes[found["engine"]] += 1
        query = parse_query(source, settings, DAY, file=QueryFile(path, _properties(path)))
        expected = query.run(rows, properties_of=_properties)
        shown = [(item["path"], item["line"]) for item in found["items"]]
        assert shown == [(row.path, row.line + 1) for row in expected.rows], source
    assert (outcomes["native"], refused, mistakes) == (253, REFUSED, MISTAKES)
