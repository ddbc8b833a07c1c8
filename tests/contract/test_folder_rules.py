"""What a caller may not read leaves no trace: not in what is found, nor in scores, their order, or counts."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from knapper.testing import Calls, VaultFolder
from knapper_retrieval import retrieval
from knapper_search import search
from tests.retrieval.conftest import Given, embed

WORDS = [
    "amber",
    "basalt",
    "chert",
    "dacite",
    "erratic",
    "flint",
    "gabbro",
    "hornfels",
    "igneous",
    "jasper",
    "kyanite",
    "lava",
    "marble",
]
QUERIES = ["flint", "amber basalt", "chert dacite jasper", "knapping flint marble lava", "basalts"]


def notes(seed: int, count: int) -> Iterator[str]:
    chance = random.Random(seed)
    for n in range(count):
        linked = f"[[{chance.randrange(count)}]]"
        text = " ".join(chance.choices(WORDS, k=chance.randint(4, 40)))
        yield f"# {' '.join(chance.choices(WORDS, k=2))}\n\n{text} {linked}\n\n## Part\n{text[: 20 + n]}\n"


def answers(call: Calls) -> list[Any]:
    """What every way of searching says, with everything that may differ between two moments left out."""
    embed(call, retrieval)
    embed(call, search)
    found: list[Any] = []
    modes = ("lexical", "embedding", "hybrid")
    for query in QUERIES:
        found += (call(retrieval, "search", query=query, mode=mode) for mode in modes)
        found.append(call(retrieval, "vault_graph_search", query=query))
        found.append(call(retrieval, "vault_context", query=query))
        found.append(call(search, "search_text", query=query))
        found.append(call(search, "search_vault", query=query, mode="text"))
        found.append(call(search, "search_vault", query=query, mode="hybrid"))
        found.append(call(search, "search_semantic", query=query))
    for one in found[0]["results"]:
        note = one["note_id"]
        found += [call(retrieval, "related", type="note", id=note, mode=mode) for mode in modes]
    for one in found:
        one.pop("cursor", None)
        one.get("freshness", {}).pop("last_successful_update_at", None)
    return found


def test_notes_that_may_not_be_read_change_no_answer_at_all(call: Calls, vault: VaultFolder) -> None:
    call.plugins = [Given()]
    call.settings = {"embeddings": {"provider": "counts"}, "acl": {"read_paths": ["open/**"]}}
    for n, text in enumerate(notes(1, 30)):
        vault[f"open/{n}.md"] = text
    before = answers(call)
    for n, text in enumerate(notes(2, 120)):
        vault[f"hidden/{n}.md"] = "flint " * (n % 7) + text * 3
    assert answers(call) == before


def test_rules_that_hide_nothing_rank_as_no_rules_do(call: Calls, vault: VaultFolder) -> None:
    for n, text in enumerate(notes(3, 40)):
        vault[f"open/{n}.md"] = text
    vault["open/東京.md"] = "東京の地図 de Café à la carte"
    words = ["flint", "amber basalt", "running flints", "東京", "東", "cafe", "basalts of marble"]
    asked = [{"query": f"{some} nowhere", "mode": "text", "limit": 100} for some in words]
    plain = [call(search, "search_vault", **one)["items"] for one in asked]
    ruled = Calls(vault.path, vault.path.parent / "ruled")
    ruled.settings = {"acl": {"read_paths": ["open/**"]}}
    assert [ruled(search, "search_vault", **one)["items"] for one in asked] == plain
    ruled.close()
    assert all(plain)


@pytest.mark.parametrize("root", ["open/deep", ""])
def test_a_folder_narrows_what_is_found_and_not_how_it_is_scored(
    call: Calls, vault: VaultFolder, root: str
) -> None:
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    for n, text in enumerate(notes(4, 12)):
        vault[f"open/{'deep/' if n % 2 else ''}{n}.md"] = text
    found = call(search, "search_vault", query="flint lava nowhere", mode="text")["items"]
    below = call(search, "search_vault", query="flint lava nowhere", mode="text", root=root)["items"]
    assert below == [hit for hit in found if hit["path"].startswith(root)]
    assert below
