"""A generated vault whose right answers are known: every total is exact, whichever tool is asked for it."""

from __future__ import annotations

from typing import Any

import pytest

from knapper import Domain
from knapper_attachments import attachments
from knapper_canvas import canvas
from knapper_graph import graph
from knapper_links import links
from knapper_properties import properties
from knapper_search import search
from knapper_tasks import tasks
from tests.known_vaults import Known


def total(known: Known, domain: Domain, tool: str, **arguments: Any) -> int:
    return int(known.call(domain, tool, limit=1, **arguments)["total_count"])


def test_tasks_are_counted_by_status_and_date(generated: Known) -> None:
    truth = generated.truth["tasks"]
    assert total(generated, tasks, "list_tasks") == truth["total_with_template"]
    for status in ("done", "cancelled", "in_progress"):
        assert total(generated, tasks, "list_tasks", status=[status]) == truth.get(status, 0)
    assert total(generated, tasks, "list_tasks", status=["todo"]) == truth["todo"] + 1  # the template's
    may = {"after": "2026-04-30", "before": "2026-06-01"}
    assert total(generated, tasks, "list_tasks", status=["todo"], due=may) == truth["todo_due_2026_05"]


def test_attachments_and_canvases_are_counted(generated: Known) -> None:
    every = generated.call(attachments, "list_attachments", limit=1000)["items"]
    assert len(every) == generated.truth["attachments"]
    apart = [
        total(generated, attachments, "list_attachments", **{how: True})
        for how in ("referenced_only", "orphans_only")
    ]
    assert apart == [
        sum(a["reference_count"] > 0 for a in every),
        sum(a["reference_count"] == 0 for a in every),
    ]
    texts = {path: generated.folder[path] for path in generated.folder if path.endswith(".md")}
    for one in every:
        name = one["path"].rpartition("/")[2]
        assert one["reference_count"] == sum(f"![[{name}]]" in text for text in texts.values())
    boards = {
        item["canvas_path"] for item in generated.call(canvas, "query_canvas", filter={}, limit=1000)["items"]
    }
    assert len(boards) == generated.truth["canvas"]


def test_each_note_has_the_backlinks_that_were_written(generated: Known) -> None:
    moves = generated.truth["moves"]
    assert len(moves) > 20
    for one in [
        *moves,
        {"from": generated.truth["hub"]["path"], "sources": generated.truth["hub"]["sources_body"]},
    ]:
        page = generated.call(links, "get_backlinks", path=one["from"], include_context=True, limit=1000)
        assert len(page["items"]) == page["total_count"]
        in_body = [
            item
            for item in page["items"]
            if any(not context["text"].startswith("related:") for context in item["contexts"])
        ]
        assert len(in_body) == one["sources"], one["from"]


def test_the_health_of_the_vault_is_counted_from_the_same_truth(generated: Known) -> None:
    truth, health = generated.truth, generated.call(graph, "vault_health_score")
    assert health["notes"] == truth["notes_md"]
    assert health["orphans"] == truth["orphans"]["no_incoming_body_or_fm"]
    assert health["unresolved_targets"] == truth["unresolved"]["targets"]
    assert health["broken_properties"] == len(truth["malformed_frontmatter"])


def test_broken_properties_cost_a_note_its_properties_and_nothing_else(generated: Known) -> None:
    assert generated.truth["malformed_frontmatter"]
    for path in generated.truth["malformed_frontmatter"]:
        assert generated.call(properties, "read_frontmatter", path=path)["frontmatter"] == {}
        found = generated.call(search, "search_text", query=f"# {path.rpartition('/')[2][:-3]}", limit=1000)
        assert path in [item["path"] for item in found["items"]]


@pytest.mark.parametrize("kind", ["rare", "phrase", "common"])
def test_text_is_found_in_exactly_the_notes_that_hold_it(generated: Known, kind: str) -> None:
    truth = generated.truth[kind]
    wanted = (
        {word: one["count"] for word, one in truth.items()}
        if kind == "rare"
        else {truth.get("text") or truth["word"]: truth["count"]}
    )
    for query, count in wanted.items():
        items, cursor = [], None
        while True:
            more: dict[str, Any] = {"cursor": cursor} if cursor else {}
            page = generated.call(
                search, "search_text", query=query, whole_word=kind == "common", limit=500, **more
            )
            items += page["items"]
            cursor = page.get("cursor")
            if cursor is None:
                break
        assert len({item["path"] for item in items}) == count
