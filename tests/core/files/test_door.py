from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from knapper.errors import ToolError
from knapper.vault.acl import Acl
from knapper.vault.files import Deleted, Moved, Written

if TYPE_CHECKING:
    from tests.core.files.conftest import World

Code = Callable[[Callable[[], object]], str]

ONE = sha256(b"one").hexdigest()
TWO = sha256(b"two").hexdigest()
NOON = "2026-05-28T20:26:40Z"


def test_a_written_file_is_read_back(world: World) -> None:
    door = world.door()
    assert door.write("a/b.md", "one") == Written("a/b.md", ONE, None, True, NOON)
    assert door.write("./a//b.md", "two") == Written("a/b.md", TWO, ONE, False, NOON)
    file = door.read("a\\b.md")
    assert (file.path, file.data, file.text, file.hash, file.stat.size) == ("a/b.md", b"two", "two", TWO, 3)


def test_the_mode_of_a_write_says_what_must_be_there(world: World, code: Code) -> None:
    door = world.door()
    assert code(lambda: door.write("a.md", "one", mode="overwrite")) == "note_not_found"
    assert code(lambda: door.write("a.md", "one", mode="create")) == "ok"
    assert code(lambda: door.write("a.md", "two", mode="create")) == "note_exists"
    assert world.files() == {"a.md": "one"}
    assert code(lambda: door.write("a.md", "two", mode="overwrite")) == "ok"
    assert world.files() == {"a.md": "two"}


def test_a_write_based_on_other_content_is_refused_with_both_hashes(world: World) -> None:
    door = world.door()
    door.write("a.md", "one")
    with pytest.raises(ToolError) as caught:
        door.write("a.md", "three", prev_hash=TWO)
    assert caught.value.code == "concurrent_modification"
    assert caught.value.details == {"path": "a.md", "expected": TWO, "actual": ONE}
    with pytest.raises(ToolError) as caught:
        door.write("b.md", "three", prev_hash=TWO)
    assert caught.value.details == {"path": "b.md", "expected": TWO, "actual": None}
    assert door.write("a.md", "two", prev_hash=ONE).hash == TWO


def test_writing_what_is_there_changes_nothing(world: World) -> None:
    door = world.door()
    door.write("a.md", "one")
    before = world.disk.stat("a.md")
    world.changes.clear()
    assert door.write("a.md", "one") == Written("a.md", ONE, ONE, False, NOON)
    assert door.edit("a.md", lambda text: text) == Written("a.md", ONE, ONE, False, NOON)
    assert world.disk.stat("a.md") == before
    assert world.changes == []


def test_folders_are_only_made_where_that_is_wanted(world: World, code: Code) -> None:
    door = world.door()
    assert code(lambda: door.write("new/a.md", "one", create_dirs=False)) == "path_invalid"
    assert not (world.root / "new").exists()
    with pytest.raises(ToolError), door.transaction():
        door.write("new/a.md", "one", create_dirs=False)
    door.write("new/a.md", "one")
    assert code(lambda: door.write("new/b.md", "one", create_dirs=False)) == "ok"


def test_the_vault_itself_and_folders_are_no_files(world: World, code: Code) -> None:
    door = world.door()
    door.write("a/b.md", "one")
    for path in ("", ".", "a"):
        assert code(partial(door.read, path)) == "path_invalid"
        assert code(partial(door.write, path, "x")) == "path_invalid"
        assert code(partial(door.delete, path)) == "path_invalid"
        assert code(partial(door.move, path, "c.md")) == "path_invalid"
    assert code(lambda: door.move("a/b.md", "a", overwrite=True)) == "path_invalid"
    assert world.files() == {"a/b.md": "one"}


def test_an_edit_keeps_a_byte_order_mark_and_line_ends(world: World) -> None:
    door = world.door()
    door.write("bom.md", b"\xef\xbb\xbfone\n")
    door.write("crlf.md", b"one\r\ntwo\r\n")
    door.write("mixed.md", b"one\r\ntwo\n")
    door.write("old.md", b"one\rtwo\r\n")
    door.edit("bom.md", lambda text: text.replace("one", "1") + "2")
    door.edit("crlf.md", lambda text: text.replace("one\n", "1\nnew\n"))
    door.edit("mixed.md", lambda text: text + "three\n")
    door.edit("old.md", lambda text: text + "three\n")
    assert {entry.path: door.read(entry.path).data for entry in door.walk()} == {
        "bom.md": b"\xef\xbb\xbf1\n2",
        "crlf.md": b"1\r\nnew\r\ntwo\r\n",
        "mixed.md": b"one\r\ntwo\nthree\n",
        "old.md": b"one\rtwo\r\nthree\n",
    }


def test_a_text_over_a_file_with_a_byte_order_mark_keeps_it_and_bytes_are_taken_as_they_are(
    world: World,
) -> None:
    door = world.door()
    door.write("a.md", b"\xef\xbb\xbfone")
    assert door.read("a.md").text == "one"
    door.write("a.md", "two")
    assert door.read("a.md").data == b"\xef\xbb\xbftwo"
    door.write("a.md", b"three")
    assert door.read("a.md").data == b"three"


def test_a_text_over_a_file_of_windows_has_its_line_ends_unless_it_brings_some(world: World) -> None:
    door = world.door()
    door.write("a.md", b"one\r\ntwo\r\n")
    assert door.write("a.md", "one\ntwo\n").prev_hash == door.read("a.md").hash
    door.write("a.md", "three\n\nfour")
    assert door.read("a.md").data == b"three\r\n\r\nfour"
    door.write("a.md", "five\r\nsix\n")
    assert door.read("a.md").data == b"five\r\nsix\n"
    door.write("a.md", "seven\n")
    assert door.read("a.md").data == b"seven\n"
    with door.transaction():
        door.write("a.md", b"eight\r\n")
        door.write("a.md", "nine\n")
    assert door.read("a.md").data == b"nine\r\n"


def test_what_is_not_text_is_said_not_to_be(world: World, code: Code) -> None:
    door = world.door()
    door.write("a.png", b"\x89PNG\xff")
    assert code(lambda: door.read("a.png").text) == "invalid_input"
    assert code(lambda: door.edit("a.png", lambda text: text)) == "invalid_input"
    assert code(lambda: door.write("a.md", "half \ud83d")) == "invalid_input"
    assert door.read("a.png").data == b"\x89PNG\xff"


def test_an_edit_that_another_program_interrupts_is_made_on_what_it_wrote(world: World) -> None:
    door = world.door()
    door.write("a.md", "one\n")
    rivals = ["theirs\n", "again\n"]

    def change(text: str) -> str:
        if rivals:
            (world.root / "a.md").write_text(text + rivals.pop(0))
        return text + "ours\n"

    assert door.edit("a.md", change).created is False
    assert world.files() == {"a.md": "one\ntheirs\nagain\nours\n"}


def test_an_edit_of_a_named_version_does_not_try_again(world: World) -> None:
    door = world.door()
    named = door.write("a.md", "one").hash

    def change(text: str) -> str:
        (world.root / "a.md").write_text("theirs")
        return text + "ours"

    with pytest.raises(ToolError) as caught:
        door.edit("a.md", change, prev_hash=named)
    assert caught.value.details == {"path": "a.md", "expected": ONE, "actual": sha256(b"theirs").hexdigest()}
    assert world.files() == {"a.md": "theirs"}


def test_an_edit_gives_up_on_a_file_that_never_rests(world: World, code: Code) -> None:
    door = world.door()
    door.write("a.md", "0")
    count = iter(range(1, 100))

    def change(text: str) -> str:
        (world.root / "a.md").write_text(str(next(count)))
        return "ours"

    assert code(lambda: door.edit("a.md", change)) == "concurrent_modification"
    assert world.files()["a.md"] != "ours"


def test_a_failing_edit_changes_nothing(world: World) -> None:
    door = world.door()
    door.write("a.md", "one")

    def change(text: str) -> str:
        raise ToolError("invalid_input", "no such heading")

    with pytest.raises(ToolError, match="no such heading"):
        door.edit("a.md", change)
    assert world.files() == {"a.md": "one"}


def test_a_move_changes_the_path_and_nothing_else(world: World, code: Code) -> None:
    door = world.door()
    door.write("a.md", "one")
    before = door.stat("a.md")
    assert door.move("a.md", "x/b.md") == Moved("a.md", "x/b.md", ONE, NOON)
    assert (door.stat("x/b.md").inode, door.stat("x/b.md").mtime_ns) == (before.inode, before.mtime_ns)
    assert code(lambda: door.move("a.md", "c.md")) == "note_not_found"
    door.write("c.md", "two")
    assert code(lambda: door.move("x/b.md", "c.md")) == "note_exists"
    door.move("x/b.md", "c.md", overwrite=True)
    assert world.files() == {"c.md": "one"}
    assert door.move("c.md", "c.md").path == "c.md"


def test_a_deleted_file_is_in_the_trash_under_a_name_of_its_own(world: World) -> None:
    door = world.door()
    for place in (".trash/x/a.md", ".trash/x/a (1).md", ".trash/x/a (2).md"):
        door.write("x/a.md", "one")
        assert door.delete("x/a.md") == Deleted("x/a.md", place, NOON)
        assert (world.root / place).read_text() == "one"
    assert world.files() == {}


def test_a_name_as_long_as_can_be_is_deleted_twice(world: World) -> None:
    door = world.door()
    for stem in ("長" * 84, "長" * 82 + " (1)"):
        door.write(f"{'長' * 84}.md", "one")
        assert door.delete(f"{'長' * 84}.md").trash_path == f".trash/{stem}.md"


@pytest.mark.parametrize("staged", [False, True])
def test_a_file_in_the_trash_with_the_name_of_a_folder_stops_no_deletion(world: World, staged: bool) -> None:
    door = world.door()
    door.write("x", "a file")
    assert door.delete("x").trash_path == ".trash/x"
    door.write("x/a.md", "in a folder")
    with door.transaction() if staged else nullcontext():
        assert door.delete("x/a.md").trash_path == ".trash/a.md"
    assert (world.root / ".trash" / "a.md").read_text() == "in a folder"
    assert (world.root / ".trash" / "x").read_text() == "a file"


@pytest.mark.parametrize(
    ("app", "kept"),
    [
        ({"trashOption": "local"}, True),
        ({"trashOption": "system"}, True),
        ({"trashOption": "none"}, False),
        ({}, True),
        (["broken"], True),
    ],
)
def test_deleting_follows_obsidians_own_setting(world: World, app: object, kept: bool) -> None:
    (world.root / ".obsidian").mkdir()
    (world.root / ".obsidian" / "app.json").write_text(json.dumps(app))
    door = world.door()
    door.write("a.md", "one")
    assert (door.delete("a.md").trash_path is not None) is kept
    assert (world.root / ".trash" / "a.md").exists() is kept
    assert world.files() == {}


def test_a_hard_delete_leaves_nothing(world: World, code: Code) -> None:
    door = world.door()
    door.write("a.md", "one")
    assert door.delete("a.md", hard=True) == Deleted("a.md", None, NOON)
    assert not (world.root / ".trash").exists()
    assert code(lambda: door.delete("a.md")) == "note_not_found"


def test_what_was_there_is_told_before_and_what_is_there_after(world: World) -> None:
    told: list[tuple[object, ...]] = []
    door = world.door(
        before=lambda all: told.append(
            ("before", [(b.op, b.path, b.data, b.target) for b in all], world.files())
        ),
        changed=lambda all: told.append(
            ("after", [(c.path, c.hash, c.moved_from) for c in all], world.files())
        ),
    )
    door.write("a.md", "one")
    door.edit("a.md", lambda _: "two")
    door.move("a.md", "b.md")
    door.delete("b.md")
    assert told == [
        ("before", [("write", "a.md", None, None)], {}),
        ("after", [("a.md", ONE, None)], {"a.md": "one"}),
        ("before", [("write", "a.md", b"one", None)], {"a.md": "one"}),
        ("after", [("a.md", TWO, None)], {"a.md": "two"}),
        ("before", [("move", "a.md", b"two", "b.md"), ("write", "b.md", None, None)], {"a.md": "two"}),
        ("after", [("a.md", None, None), ("b.md", TWO, "a.md")], {"b.md": "two"}),
        ("before", [("delete", "b.md", b"two", None)], {"b.md": "two"}),
        ("after", [("b.md", None, None)], {}),
    ]


def test_where_the_old_content_cannot_be_kept_nothing_is_changed(world: World) -> None:
    world.door().write("a.md", "one")

    def fail(_: object) -> None:
        raise ToolError("internal", "no room for a snapshot")

    door = world.door(before=fail)
    acts: list[Callable[[], object]] = [
        lambda: door.write("a.md", "two"),
        lambda: door.move("a.md", "b.md"),
        lambda: door.delete("a.md"),
    ]
    for act in acts:
        with pytest.raises(ToolError, match="no room"):
            act()
    with pytest.raises(ToolError, match="no room"), door.transaction():
        door.write("a.md", "two")
    assert world.files() == {"a.md": "one"}


def test_exists_tells_files_from_folders(world: World) -> None:
    door = world.door()
    door.write("a/b.md", "one")
    assert [door.exists(path) for path in ("a/b.md", "a", "", "c", "a/b.md/c")] == [
        "file",
        "folder",
        "folder",
        None,
        None,
    ]


def test_each_way_through_the_door_asks_the_rules(world: World, code: Code) -> None:
    world.door().write("In/a.md", "one")
    world.door().write("Out/a.md", "one")
    door = world.door(Acl(read_paths=["In/**"], write_paths=["In/**"], delete_paths=["In/**"]))
    acts: list[Callable[[], object]] = [
        lambda: door.read("Out/a.md"),
        lambda: door.exists("Out/a.md"),
        lambda: door.exists("Out"),
        lambda: door.stat("Out/a.md"),
        lambda: door.write("Out/a.md", "x"),
        lambda: door.edit("Out/a.md", lambda text: "x"),
        lambda: door.move("Out/a.md", "In/b.md"),
        lambda: door.move("In/a.md", "Out/b.md"),
        lambda: door.delete("Out/a.md"),
        lambda: door.check("read", "Out/a.md"),
        lambda: door.authorise("write", "In/../Out/a.md".replace("In/../", "./")),
    ]
    assert [code(act) for act in acts] == ["acl_denied"] * len(acts)
    with door.transaction():
        assert [code(act) for act in acts] == ["acl_denied"] * len(acts)
    assert world.files() == {"In/a.md": "one", "Out/a.md": "one"}
    assert door.authorise("write", "./In//new.md") == "In/new.md"


def test_moving_a_note_needs_the_right_to_read_it(world: World, code: Code) -> None:
    world.door().write("Secret/a.md", "one")
    door = world.door(Acl(read_paths=["Open/**"]))
    assert code(lambda: door.move("Secret/a.md", "Open/a.md")) == "acl_denied"
    assert code(lambda: door.edit("Secret/a.md", lambda text: text)) == "acl_denied"


def test_an_exempt_file_opens_only_for_the_door_that_names_it(world: World, code: Code) -> None:
    bookmarks = ".obsidian/bookmarks.json"
    door = world.door(exempt=frozenset({bookmarks}))
    door.write(bookmarks, "{}")
    assert door.read(bookmarks).text == "{}"
    assert code(lambda: world.door().read(bookmarks)) == "acl_denied"
    assert code(lambda: door.read(".obsidian/app.json")) == "acl_denied"
    assert code(lambda: door.read(".trash/a.md")) == "acl_denied"
    assert list(door.walk()) == []


def test_a_walk_shows_only_what_may_be_read_and_the_folders_on_the_way(world: World, code: Code) -> None:
    for path in (
        "In/a.md",
        "In/b.png",
        "Out/a.md",
        "Mixed/deep/a.md",
        "Mixed/b.md",
        "Glob/a.md",
        "Glob/a.txt",
    ):
        world.door().write(path, "one")
    (world.root / "In" / "empty").mkdir()
    (world.root / "Out" / "empty").mkdir()
    door = world.door(Acl(read_paths=["In/**", "Mixed/deep/*", "Glob/*.md"]))
    assert [entry.path for entry in door.walk()] == ["Glob/a.md", "In/a.md", "In/b.png", "Mixed/deep/a.md"]
    assert [entry.path for entry in door.walk(folders=True)] == [
        "Glob",
        "Glob/a.md",
        "In",
        "In/a.md",
        "In/b.png",
        "In/empty",
        "Mixed",
        "Mixed/deep",
        "Mixed/deep/a.md",
    ]
    assert [entry.path for entry in door.walk("In", extensions=[".MD"])] == ["In/a.md"]
    assert [door.exists(path) for path in ("In", "Mixed", "Glob", "Mixed/deep")] == ["folder"] * 4
    assert list(door.walk("Out")) == []
    assert code(lambda: door.walk("None")) == "note_not_found"
    assert code(lambda: door.walk("In/a.md")) == "note_not_found"
    assert code(lambda: world.door().walk(".obsidian")) == "note_not_found"


def test_obsidians_settings_are_read_for_the_server_itself(world: World) -> None:
    (world.root / ".obsidian").mkdir()
    (world.root / ".obsidian" / "app.json").write_text(
        '\ufeff{"attachmentFolderPath": "files"}', encoding="utf-8"
    )
    assert world.door(Acl(read_paths=[])).settings("app") == {"attachmentFolderPath": "files"}
    assert world.door().settings("daily-notes") == {}


@pytest.mark.parametrize("staged", [False, True])
def test_another_spelling_of_a_name_becomes_its_name(world: World, staged: bool) -> None:
    door = world.door()
    door.write("Cafe\u0301.md", "one")
    assert door.read("Café.md").path == "Cafe\u0301.md"
    if staged:
        with door.transaction():
            door.move("Café.md", "Café.md")
    else:
        door.move("Café.md", "Café.md")
    assert [path.name for path in world.root.iterdir()] == ["Café.md"]


def test_a_pattern_opens_hidden_files_for_reading_and_for_nothing_else(world: World, code: Code) -> None:
    for path in ("Birds/.space/def.json", "Birds/.space/other.json", ".obsidian/.space/def.json"):
        (world.root / path).parent.mkdir(parents=True, exist_ok=True)
        (world.root / path).write_bytes(b"{}")
    pattern = re.compile(r"(?:[^/]+/)*\.space/def\.json")
    door = world.door(may_read=pattern)
    assert door.read("Birds/.space/def.json").data == b"{}"
    assert code(lambda: door.write("Birds/.space/def.json", "[]")) == "acl_denied"
    assert code(lambda: door.delete("Birds/.space/def.json")) == "acl_denied"
    assert code(lambda: door.move("Birds/.space/def.json", "def.json")) == "acl_denied"
    assert code(lambda: door.read("Birds/.space/other.json")) == "acl_denied"
    assert code(lambda: door.read(".obsidian/.space/def.json")) == "acl_denied"
    assert code(lambda: world.door().read("Birds/.space/def.json")) == "acl_denied"
    limited = world.door(Acl(read_paths=["Open/**"]), may_read=pattern)
    assert code(lambda: limited.read("Birds/.space/def.json")) == "acl_denied"
    assert (world.root / "Birds/.space/def.json").read_bytes() == b"{}"


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_link_that_takes_a_folders_place_between_the_check_and_the_read_leads_nowhere(
    world: World, tmp_path: Path
) -> None:
    (world.root / "a").mkdir()
    (world.root / "a/n.md").write_text("ours")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/n.md").write_text("theirs")
    door = world.door()
    assert door.authorise("read", "a/n.md") == "a/n.md"
    (world.root / "a").rename(world.root / "b")
    (world.root / "a").symlink_to(tmp_path / "outside")
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            door.read("a/n.md")
        assert caught.value.code in ("note_not_found", "path_invalid")


def test_rules_are_asked_again_when_what_was_located_is_read(world: World) -> None:
    (world.root / "n.md").write_text("text")
    door = world.door(Acl(read_paths=["other/**"]))
    with pytest.raises(ToolError) as denied:
        door.authorise("read", "n.md")
    with pytest.raises(ToolError) as again:
        door.read("n.md")
    assert (denied.value.code, again.value.code) == ("acl_denied", "acl_denied")
