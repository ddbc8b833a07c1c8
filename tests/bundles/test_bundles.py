import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_bundles import bundles


def test_a_folder_becomes_one_text_in_the_order_of_paths(call: Calls, vault: VaultFolder) -> None:
    vault["f/b.md"] = "---\nx: 1\n---\nB\n"
    vault["f/a.md"] = "A"
    vault["other.md"] = "O"
    made = call(bundles, "bundle_folder", root="f", include_frontmatter=False)
    assert made["bundle"] == "<!-- f/a.md -->\n\nA\n\n<!-- f/b.md -->\n\nB\n\n"
    assert made["files"] == [{"path": "f/a.md", "bytes": 20}, {"path": "f/b.md", "bytes": 20}]
    assert (made["file_count"], made["total_bytes"], made["truncated"]) == (2, 40, False)


def test_a_bundle_is_cut_between_notes_and_says_what_was_left_out(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "ä" * 10
    vault["b.md"] = "b" * 1000
    vault["c.md"] = "c"
    made = call(bundles, "bundle_folder", root="", max_bytes=100)
    assert [f["path"] for f in made["files"]] == ["a.md", "c.md"]
    assert made["left_out"] == ["b.md"]
    assert made["total_bytes"] == len(made["bundle"].encode()) <= 100


@pytest.mark.parametrize("format", ["markdown", "xml"])
def test_within_any_budget_notes_are_whole_or_left_out(call: Calls, vault: VaultFolder, format: str) -> None:
    texts = {"a.md": "ä & 日本\n", "b.md": "b" * 40, "c/d.md": "---\nx: 1\n---\n🎉", "e.md": ""}
    for path, text in texts.items():
        vault[path] = text
    whole = {
        path: call(bundles, "bundle_files", paths=[path], format=format)["bundle"].replace("<notes>\n", "")
        for path in texts
    }
    for budget in range(1, 250, 3):
        made = call(bundles, "bundle_folder", root="", max_bytes=budget, format=format)
        taken = [file["path"] for file in made["files"]]
        assert made["total_bytes"] == len(made["bundle"].encode()) <= budget
        assert sorted([*taken, *made.get("left_out", [])]) == sorted(texts)
        assert made["truncated"] is (len(taken) < 4)
        assert made.get("left_out_count", 0) == 4 - len(taken)
        inner = made["bundle"].removeprefix("<notes>\n").removesuffix("</notes>\n")
        assert inner == "".join(whole[path].removesuffix("</notes>\n") for path in taken)


def test_notes_past_the_most_files_are_left_out_by_name(call: Calls, vault: VaultFolder) -> None:
    for name in "abc":
        vault[f"{name}.md"] = name
    made = call(bundles, "bundle_folder", root="", max_files=1)
    assert (made["file_count"], made["truncated"], made["left_out"]) == (1, True, ["b.md", "c.md"])
    made = call(bundles, "bundle_files", paths=["c", "a", "b"], max_bytes=40)
    assert [file["path"] for file in made["files"]] == ["c.md", "a.md"]
    assert (made["truncated"], made["left_out"]) == (True, ["b.md"])


def test_xml_is_escaped(call: Calls, vault: VaultFolder) -> None:
    vault['a "q".md'] = "1 < 2 & 3"
    made = call(bundles, "bundle_files", paths=['a "q".md'], format="xml")
    assert made["bundle"] == "<notes>\n<note path='a \"q\".md'>\n1 &lt; 2 &amp; 3\n</note>\n</notes>\n"


def test_named_notes_keep_their_order_and_missing_ones_are_named(call: Calls, vault: VaultFolder) -> None:
    vault["x/b.md"] = "B"
    vault["a.md"] = "A"
    made = call(bundles, "bundle_files", paths=["b", "gone", "a.md"])
    assert [f["path"] for f in made["files"]] == ["x/b.md", "a.md"]
    assert made["missing_paths"] == ["gone"]


def test_unreadable_notes_are_in_no_bundle(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "A"
    vault["closed/b.md"] = "B"
    call.settings["acl"] = {"read_paths": ["open/**"]}
    assert [f["path"] for f in call(bundles, "bundle_folder", root="")["files"]] == ["open/a.md"]
    assert call(bundles, "bundle_files", paths=["closed/b.md"])["missing_paths"] == ["closed/b.md"]


def test_a_file_is_no_folder(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "A"
    with pytest.raises(ToolError) as refused:
        call(bundles, "bundle_folder", root="a.md")
    assert refused.value.code == "path_invalid"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(bundles)
