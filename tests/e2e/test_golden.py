"""A day's work of an agent, over stdio with the official client, on real vaults: every byte is as expected, then undone."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ElicitResult

from knapper.testing import VaultFolder
from tests.known_vaults import real_folder

Work = Callable[["Agent", VaultFolder], Awaitable[None]]


class Agent:
    """Calls tools as a model does through its client; a person says yes to whatever is asked."""

    def __init__(self) -> None:
        self.client: Client
        self.asked: list[str] = []

    async def confirm(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        assert isinstance(answer.structured_content, dict)
        return answer.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        assert isinstance(answer.structured_content, dict)
        return str(answer.structured_content["code"])

    async def paths(self, tool: str, field: str = "path", **arguments: Any) -> list[str]:
        page = await self.call(tool, **arguments)
        assert page["total_count"] == len(page["items"])
        return [item[field] for item in page["items"]]

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self.client.list_tools()).tools}


def content(vault: VaultFolder) -> dict[str, str]:
    """Everything that Obsidian shows of a vault."""
    return {path: vault[path] for path in vault if not any(part[0] == "." for part in path.split("/"))}


def replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def work(name: str, place: Path, script: Work, mode: Any = "auto") -> None:
    """Serve a copy of a real vault over stdio and let an agent work on it."""
    shutil.copytree(real_folder(name), place / "vault", copy_function=shutil.copyfile)
    env = {
        **os.environ,
        "KNAPPER_CACHE_DIR": str(place / "cache"),
        "KNAPPER_THROTTLE__ENABLED": "false",
        "KNAPPER_TOOL_FACADE__MODE": "flat",
        "KNAPPER_INDEX__VECTORS": "false",
        "KNAPPER_STRICT_OUTPUT_SCHEMA": "1",
    }
    command = [
        "-c",
        "import sys; from knapper.cli import main; sys.exit(main())",
        "serve",
        str(place / "vault"),
    ]
    server = StdioServerParameters(command=sys.executable, args=command, env=env)

    failed: list[Exception] = []

    async def talk() -> None:
        agent = Agent()
        async with Client(stdio_client(server), mode=mode, elicitation_callback=agent.confirm) as client:
            agent.client = client
            try:
                while not (await agent.call("server_health"))["index"]["notes_ready"]:
                    pass
                await script(agent, VaultFolder(place / "vault"))
            except Exception as error:  # noqa: BLE001 - the client would wrap it in groups nobody can read
                failed.append(error)

    anyio.run(talk)
    if failed:
        raise failed[0]


async def undo(agent: Agent, vault: VaultFolder, before: dict[str, str]) -> None:
    """Take the whole session back where there is a tool for it."""
    if "undo_session" not in await agent.tools():
        return
    await agent.call("undo_session", dry_run=False)
    assert content(vault) == before


async def in_kepano(agent: Agent, vault: VaultFolder) -> None:
    before = content(vault)
    expected = dict(before)

    albums = [{"key": "categories", "op": "contains", "value": "[[Albums]]"}]
    found = await agent.paths("find_notes_by_property", filter=albums, root="References")
    assert found == ["References/Bass on Top.md"]
    tagged = await agent.paths("find_notes_by_tag", tag="categories", root="Categories", limit=1000)
    assert tagged == sorted(path for path in before if path.startswith("Categories/"))
    linking = await agent.paths("get_backlinks", "source_path", path="Steph Ango")
    assert linking == [
        "Clippings/Buy wisely.md",
        "Clippings/In good hands.md",
        "Notes/2023-09-12 Meeting with Steph.md",
        "Notes/Evergreen notes turn ideas into objects that you can manipulate.md",
        "References/Brown butter nectarine tart.md",
        "References/Well Made.md",
    ]

    kyoto = "References/Kyoto.md"
    read = await agent.call("read_note", path="Kyoto")
    assert (read["path"], read["content"]) == (kyoto, before[kyoto])
    assert read["frontmatter"]["coordinates"] == ["35.021041", "135.7556075"]
    change = {"path": kyoto, "mode": "set", "key": "rating", "value": 9}
    await agent.call("update_frontmatter", prev_hash=read["content_hash"], **change)
    assert await agent.refused(
        "update_frontmatter", prev_hash=read["content_hash"], **change | {"value": 1}
    ) == ("concurrent_modification")
    trips = {"type": "heading", "heading": "Trips"}
    await agent.call(
        "patch_note", path=kyoto, anchor=trips, operation="append", content="- [[2023 Japan Trip]]"
    )
    assert (
        await agent.refused("patch_note", path=kyoto, old_string="Osaka", new_string="x") == "invalid_input"
    )
    expected[kyoto] = replaced(expected[kyoto], "rating: 7", "rating: 9")
    embed = "![[Trips.base#Location]]\n"
    expected[kyoto] = replaced(expected[kyoto], embed, f"{embed}- [[2023 Japan Trip]]\n")

    daily = "Daily/2023-09-30.md"
    await agent.call("append_note", path=daily, content="- planned [[Kyoto]]")
    expected[daily] += "\n- planned [[Kyoto]]"

    await agent.call("add_tag", path="References/Jazz.md", tag="musik/jazz")
    await agent.call("remove_tag", path="Categories/Albums.md", tag="categories")
    assert await agent.paths("find_notes_by_tag", tag="musik") == ["References/Jazz.md"]
    expected["References/Jazz.md"] = replaced(
        expected["References/Jazz.md"], "  - music/genres\n", "  - music/genres\n  - musik/jazz\n"
    )
    expected["Categories/Albums.md"] = replaced(
        expected["Categories/Albums.md"], "tags:\n  - categories\n", "tags: []\n"
    )

    plan = {"path": "Notes/Plan.md", "content": "See [[Kyoto]].\n", "frontmatter": {"topics": ["[[Japan]]"]}}
    await agent.call("write_note", **plan)
    expected["Notes/Plan.md"] = '---\ntopics:\n  - "[[Japan]]"\n---\nSee [[Kyoto]].\n'

    assert agent.asked == []
    moved = await agent.call("move_note", **{"from": "References/Steph Ango.md", "to": "People/Stephan.md"})
    assert moved["files_touched"] == linking
    assert len(agent.asked) == 1
    expected["People/Stephan.md"] = expected.pop("References/Steph Ango.md")
    for path in linking:
        expected[path] = replaced(expected[path], "[[Steph Ango]]", "[[Stephan]]")

    japan = {"from_target": "Japan", "to_target": "日本", "scope": "folder", "folder_path": "References"}
    planned = await agent.call("rewrite_link", **japan)
    assert content(vault) == expected
    assert await agent.call("rewrite_link", dry_run=False, **japan) == planned | {"dry_run": False}
    changed = {path for path in before if path.startswith("References/") and "[[Japan]]" in before[path]}
    assert {one["path"] for one in planned["files_modified"]} == changed
    for path in changed:
        expected[path] = expected[path].replace("[[Japan]]", "[[日本]]")

    deleted = await agent.call("delete_note", path="References/Catan.md")
    assert vault[deleted["trash_path"]] == expected.pop("References/Catan.md")
    assert len(agent.asked) == 3
    assert content(vault) == expected
    await undo(agent, vault, before)


async def in_tasks_demo(agent: Agent, vault: VaultFolder) -> None:
    before = content(vault)
    expected = dict(before)

    everywhere = "Test Data/links_everywhere.md"
    outgoing = (await agent.call("get_outgoing_links", path="links_everywhere"))["links"]
    assert [(one["target"], one.get("target_path")) for one in outgoing] == [
        ("link_in_yaml", "Test Data/link_in_yaml.md"),
        ("#A link in a link_in_heading", everywhere),
        ("link_in_file_body", "Test Data/link_in_file_body.md"),
        ("link_in_heading", "Test Data/link_in_heading.md"),
        ("link_in_task_wikilink", "Test Data/link_in_task_wikilink.md"),
    ]
    for source, target in (("link_in_heading", "in a heading"), ("link_in_yaml", "deeper/in yaml")):
        await agent.call("move_note", **{"from": f"Test Data/{source}.md", "to": f"Test Data/{target}.md"})
        expected[f"Test Data/{target}.md"] = expected.pop(f"Test Data/{source}.md")
        for path in (everywhere, "Test Data/query_using_properties.md"):
            expected[path] = expected[path].replace(f"[[{source}]]", f"[[{target.rpartition('/')[2]}]]")
    other_case = "Test Data/link_in_task_wikilink_different_case.md"
    expected[other_case] = replaced(expected[other_case], "[[liNk_in_YaMl]]", "[[in yaml]]")
    assert content(vault) == expected

    headings = "Test Data/multiple_headings.md"
    level = {"type": "heading", "heading": "multiple_headings::Level 2 heading::Level 3 heading"}
    await agent.call(
        "patch_note", path=headings, anchor=level, operation="prepend", content="- [ ] #task New"
    )
    expected[headings] = replaced(
        expected[headings], "### Level 3 heading\n\n", "### Level 3 heading\n\n- [ ] #task New\n"
    )
    assert await agent.refused(
        "patch_note", path=headings, anchor={**level, "heading": "Level 9"}, operation="append", content="x"
    ) == ("invalid_input")

    if "update_task" in await agent.tools():
        project = "Important Project.md"
        open_tasks = await agent.call("list_tasks", paths=[project], status=["todo"])
        assert [task["line"] for task in open_tasks["items"]] == [3, 8, 9]
        await agent.call("update_task", path=project, line=8, set={"priority": "high"})
        expected[project] = replaced(expected[project], "the trash!\n", "the trash! ⏫\n")
    assert content(vault) == expected
    assert agent.asked == []
    await undo(agent, vault, before)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_works_on_kepano_s_vault(tmp_path: Path, mode: str) -> None:
    work("kepano", tmp_path, in_kepano, mode)


def test_an_agent_works_on_the_tasks_demo(tmp_path: Path) -> None:
    work("tasks-demo", tmp_path, in_tasks_demo)
