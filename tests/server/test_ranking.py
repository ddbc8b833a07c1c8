"""Requests in plain language, as a model would put them, each find their tool among the first three."""

from __future__ import annotations

import pytest

from knapper import Context, Domain
from knapper.plugins import Plugins
from knapper.registry import Registry
from knapper.server.facade import item
from knapper.server.ranking import Ranking, stem
from tests.server import plain_requests

REQUESTS = [
    ("show me the text of a note", "read_note"),
    ("open several notes at once", "read_notes"),
    ("create a new note with some content", "write_note"),
    ("add a line to the bottom of an existing page", "append_note"),
    ("change one sentence in a note", "patch_note"),
    ("rename a note and fix the links", "move_note"),
    ("throw a note away", "delete_note"),
    ("which pages link here", "get_backlinks"),
    ("broken links in my vault", "find_unresolved_links"),
    ("notes nobody links to", "find_orphans"),
    ("what are my open todos for this week", "list_tasks"),
    ("mark a to-do as done", "update_task"),
    ("what tags do I use", "list_tags"),
    ("all notes tagged project", "find_notes_by_tag"),
    ("set the status property in the frontmatter", "update_frontmatter"),
    ("find notes where rating is greater than 4", "find_notes_by_property"),
    ("search the vault for a phrase", "search_text"),
    ("find passages about a topic by meaning", "search_semantic"),
    ("today's daily note", "get_periodic_note"),
    ("write something into my journal", "append_to_periodic_note"),
    ("undo my last change to a note", "restore_note"),
    ("show older versions of a file", "list_snapshots"),
    ("list the pictures and PDFs", "list_attachments"),
    ("how is the server doing", "server_health"),
    ("draw a diagram", "create_excalidraw"),
    ("shortest path between two notes", "graph_path_between"),
    ("copy a page", "copy_note"),
    ("match a regular expression", "search_regex"),
    ("what do I have bookmarked", "list_bookmarks"),
    ("run a dataview query", "search_dql"),
    ("open this page in the Obsidian window", "obsidian_open_note"),
    ("how big is this file and when was it changed", "obsidian_file_info"),
    ("insert text at the top of a note", "obsidian_prepend_note"),
    ("give a note a different name", "obsidian_rename_note"),
    ("put a heading at the beginning of a note", "obsidian_prepend_note"),
    ("make a note from a template", "execute_template"),
    ("which templates do I have", "list_templates"),
    ("trigger a QuickAdd capture", "trigger_quickadd"),
    ("what QuickAdd choices are there", "list_quickadd_actions"),
    ("read the words in a scanned document", "ocr_attachment"),
    ("recognise the text of all my pictures", "ocr_bulk"),
    ("show the spaces of make.md", "makemd_list_spaces"),
    ("rows of a make.md space", "makemd_query"),
    ("run a command from the command palette", "execute_command"),
    ("which Obsidian commands can I run", "list_commands"),
]


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    registry = Registry(Plugins.discover())
    return Ranking(tuple(sorted(registry.tools.values(), key=lambda tool: tool.name)))


@pytest.mark.parametrize(("request_", "tool"), REQUESTS)
def test_a_plain_request_finds_its_tool_among_the_first_three(
    ranking: Ranking, request_: str, tool: str
) -> None:
    names = [name.name for name, _ in ranking.best(request_, 50)]
    if tool not in {t.name for t in ranking.tools}:
        pytest.skip(f"no installed distribution has {tool}")
    assert tool in names[:3], names[:8]


def test_a_name_finds_itself_first(ranking: Ranking) -> None:
    wrong = [t.name for t in ranking.tools if ranking.best(t.name, 1)[0][0] is not t]
    assert wrong == []


def test_what_fits_nothing_finds_nothing(ranking: Ranking) -> None:
    assert ranking.best("xyzzy qwertz", 10) == []
    assert ranking.best("the of and", 10) == []


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("notes", "note"), ("tagged", "tag"), ("linking", "link"), ("properties", "property"), ("copies", "copy"),
        ("files", "file"), ("matches", "match"), ("class", "class"), ("move", "moving"), ("writing", "write"),
        ("deleted", "delete"), ("queries", "query"),
    ],
)  # fmt: skip
def test_forms_of_a_word_meet(word: str, root: str) -> None:
    assert stem(word) == stem(root)


def test_nine_in_ten_requests_of_people_who_do_not_know_the_tools_find_one_that_does_it(
    ranking: Ranking,
) -> None:
    installed = {tool.name for tool in ranking.tools}
    asked = {request: set(tools.split()) & installed for request, tools in plain_requests.REQUESTS}
    missed = [
        request
        for request, tools in asked.items()
        if tools and tools.isdisjoint(tool.name for tool, _ in ranking.best(request, 3))
    ]
    assert len(missed) <= len(asked) // 10, missed


def test_a_tool_is_found_by_words_that_its_own_text_lacks() -> None:
    domain = Domain("birds", summary="Birds.")

    @domain.tool("read:notes", words="feathered fowl")
    def list_birds(ctx: Context) -> str:
        """List birds."""
        return ""

    @domain.tool("read:notes")
    def list_trees(ctx: Context) -> str:
        """List trees."""
        return ""

    ranking = Ranking(tuple(domain.tools.values()))
    assert [tool.name for tool, _ in ranking.best("anything feathered", 5)] == ["list_birds"]
    assert "feathered" not in str(item(domain.tools["list_birds"]))
