from __future__ import annotations

import ctypes
import errno
import os
import socket
import stat
import sys
import unicodedata
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from knapper.errors import ToolError
from knapper.vault import _portable, _posix
from knapper.vault.disk import Disk
from knapper.vault.refusals import Changed

if TYPE_CHECKING:
    from tests.core.files.conftest import World

Code = Callable[[Callable[[], object]], str]
OPENED = 0x20  # IN_OPEN, as the kernel numbers it
posix_only = pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")


def test_a_new_file_is_there_with_its_folders(world: World) -> None:
    world.disk.put("a/b/c.md", b"one", None)
    assert world.files() == {"a/b/c.md": "one"}
    assert world.disk.read("a/b/c.md").data == b"one"
    assert world.litter() == []


def test_a_new_file_never_replaces_another(world: World) -> None:
    (world.root / "a.md").write_text("theirs")
    with pytest.raises(Changed) as caught:
        world.disk.put("a.md", b"ours", None)
    assert caught.value.actual == world.disk.read("a.md").hash
    assert world.files() == {"a.md": "theirs"}
    assert world.litter() == []


def test_only_the_content_a_change_is_based_on_is_replaced(world: World) -> None:
    (world.root / "a.md").write_text("one")
    base = world.disk.read("a.md").version
    (world.root / "a.md").write_text("two")
    with pytest.raises(Changed):
        world.disk.put("a.md", b"ours", base)
    assert world.files() == {"a.md": "two"}
    world.disk.put("a.md", b"ours", world.disk.version("a.md"))
    assert world.files() == {"a.md": "ours"}
    assert world.litter() == []


def test_a_change_in_the_last_moment_is_seen_although_size_and_time_are_the_same(world: World) -> None:
    (world.root / "a.md").write_text("one")
    base = world.disk.read("a.md").version

    @contextmanager
    def another_program() -> Any:
        (world.root / "a.md").write_text("two")
        os.utime(world.root / "a.md", ns=(base.stat.mtime_ns, base.stat.mtime_ns))
        yield

    with pytest.raises(Changed):
        world.disk.put("a.md", b"ours", base, guard=another_program)
    assert world.files() == {"a.md": "two"}
    assert world.litter() == []


@pytest.mark.skipif(not _posix.AVAILABLE, reason="needs a swap of two names")
def test_what_was_swapped_out_by_mistake_is_put_back_even_where_ours_is_gone_already(tmp_path: Path) -> None:
    class Rival(_posix.Folder):
        """Another program that writes right before the swap and deletes right after it."""

        def exchange(self, name: str, other: str) -> bool:
            if (tmp_path / "a.md").exists():
                (tmp_path / "a.md").write_text("two")
                swapped = super().exchange(name, other)
                (tmp_path / "a.md").unlink()
                return swapped
            return super().exchange(name, other)

    (tmp_path / "a.md").write_text("one")
    disk = Disk(tmp_path)
    base = disk.version("a.md")
    disk._open_root = Rival.root
    with pytest.raises(Changed):
        disk.put("a.md", b"ours", base)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.md", "two")]


def test_touching_a_file_is_not_changing_it(world: World) -> None:
    (world.root / "a.md").write_text("one")
    base = world.disk.read("a.md").version
    os.utime(world.root / "a.md", ns=(1, 1))
    world.disk.put("a.md", b"two", base)
    assert world.files() == {"a.md": "two"}


def test_a_file_that_was_deleted_meanwhile_stays_deleted(world: World) -> None:
    (world.root / "a.md").write_text("one")
    base = world.disk.read("a.md").version
    (world.root / "a.md").unlink()
    with pytest.raises(Changed) as caught:
        world.disk.put("a.md", b"two", base)
    assert caught.value.actual is None
    assert world.files() == {}


@posix_only
def test_a_replaced_file_keeps_its_mode_and_a_new_one_follows_the_umask(world: World) -> None:
    (world.root / "a.md").write_text("one")
    (world.root / "a.md").chmod(0o640)
    world.disk.put("a.md", b"two", world.disk.version("a.md"))
    assert stat.S_IMODE((world.root / "a.md").stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        world.disk.put("b.md", b"new", None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((world.root / "b.md").stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Python cannot attach anything to a file")
def test_a_replaced_file_keeps_what_other_programs_have_attached_to_it(world: World) -> None:
    file = world.root / "a.md"
    file.write_text("one")
    try:
        os.setxattr(file, "user.xdg.tags", b"blue")
    except OSError:
        pytest.skip("this file system has no attributes")
    world.disk.put("a.md", b"two", world.disk.version("a.md"))
    assert (file.read_text(), os.getxattr(file, "user.xdg.tags")) == ("two", b"blue")
    door = world.door()
    with door.transaction():
        door.write("a.md", "three")
        door.move("a.md", "b.md")
    assert os.getxattr(world.root / "b.md", "user.xdg.tags") == b"blue"


@posix_only
def test_a_file_marked_read_only_is_not_replaced(world: World, code: Code) -> None:
    (world.root / "a.md").write_text("one")
    (world.root / "a.md").chmod(0o444)
    base = world.disk.version("a.md")
    assert code(lambda: world.disk.put("a.md", b"two", base)) == "acl_denied"
    assert world.files() == {"a.md": "one"}


def test_the_facts_after_a_write_are_those_that_a_walk_finds(world: World) -> None:
    first = world.disk.put("a.md", b"one", None)
    assert [tuple(entry)[1:] for entry in world.disk.walk()] == [tuple(first)]
    second = world.disk.put("a.md", b"three", world.disk.version("a.md"))
    assert [tuple(entry)[1:] for entry in world.disk.walk()] == [tuple(second)]
    assert world.disk.stat("a.md") == second


def test_a_move_lands_on_a_free_name_or_not_at_all(world: World) -> None:
    (world.root / "a.md").write_text("a")
    (world.root / "b.md").write_text("b")
    with pytest.raises(Changed):
        world.disk.move("a.md", "b.md", None)
    world.disk.move("a.md", "x/y/c.md", None)
    assert world.files() == {"b.md": "b", "x/y/c.md": "a"}


def test_a_move_replaces_only_what_it_was_told_to(world: World) -> None:
    (world.root / "a.md").write_text("a")
    (world.root / "b.md").write_text("b")
    seen = world.disk.version("b.md")
    (world.root / "b.md").write_text("changed")
    with pytest.raises(Changed):
        world.disk.move("a.md", "b.md", seen)
    assert world.files() == {"a.md": "a", "b.md": "changed"}
    world.disk.move("a.md", "b.md", world.disk.version("b.md"))
    assert world.files() == {"b.md": "a"}


def test_between_two_filesystems_a_move_is_a_copy_that_is_durable_first(tmp_path: Path) -> None:
    class Elsewhere(_posix.Folder):
        def rename_new(self, name: str, folder: Self, target: str) -> None:
            if folder is not self:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            super().rename_new(name, folder, target)

    disk = Disk(tmp_path)
    disk._open_root = Elsewhere.root
    (tmp_path / "a.md").write_text("a")
    disk.move("a.md", "mounted/a.md", None)
    assert not (tmp_path / "a.md").exists()
    assert (tmp_path / "mounted" / "a.md").read_text() == "a"


def test_a_missing_file_and_a_folder_are_told_apart(world: World, code: Code) -> None:
    (world.root / "folder").mkdir()
    (world.root / "a.md").write_text("a")
    assert code(lambda: world.disk.read("b.md")) == "note_not_found"
    assert code(lambda: world.disk.read("none/b.md")) == "note_not_found"
    assert code(lambda: world.disk.read("folder")) == "path_invalid"
    assert code(lambda: world.disk.read("a.md/b.md")) == "path_invalid"
    assert code(lambda: world.disk.put("a.md/b.md", b"", None)) == "path_invalid"
    assert code(lambda: world.disk.read("x" * 300)) == "path_invalid"
    assert world.disk.stat("folder/none") is None
    assert world.disk.stat("a.md/b.md") is None


def test_a_vault_that_is_gone_is_said_to_be(world: World, code: Code) -> None:
    world.root.rmdir()
    assert code(lambda: world.disk.read("a.md")) == "vault_not_found"
    assert code(lambda: world.disk.locate("a.md")) == "vault_not_found"
    with pytest.raises(ToolError) as caught:
        world.disk.put("a.md", b"", None)
    assert str(world.root) not in caught.value.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_poses_as_a_note_hangs_nobody(world: World, code: Code) -> None:
    os.mkfifo(world.root / "a.md")
    assert code(lambda: world.disk.read("a.md")) == "path_invalid"
    assert list(world.disk.walk()) == []


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets in the file system")
def test_a_socket_that_poses_as_a_note_is_no_file(
    world: World, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.root)  # the whole path would be too long for a socket
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("a.md")
    assert code(lambda: world.disk.read("a.md")) == "path_invalid"
    assert code(lambda: world.door().write("a.md", "ours")) == "path_invalid"
    assert list(world.disk.walk()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no path so long")
def test_what_lies_too_deep_to_be_named_is_not_met(world: World) -> None:
    folder = "/".join(["d" * 100] * 10)
    (world.root / folder).mkdir(parents=True)
    room = 1024 - len(folder) - len("/.md")
    for length in (room, room + 1):
        (world.root / folder / f"{'n' * length}.md").write_text("x")
    longest = f"{folder}/{'n' * room}.md"
    assert [entry.path for entry in world.disk.walk() if entry.kind == "file"] == [longest]
    assert world.disk.listed(longest) is not None
    assert world.disk.listed(f"{folder}/{'n' * (room + 1)}.md") is None


def test_a_walk_is_in_the_order_of_the_paths_and_shows_what_can_be_a_note(world: World) -> None:
    for path in ("b.md", "a.md", "a/z.md", "a!/y.md", "a/b/c.md", "Ä.md", "a.sync-conflict-1.md"):
        (world.root / path).parent.mkdir(parents=True, exist_ok=True)
        (world.root / path).write_text("x")
    for path in (
        ".hidden.md",
        "a/.git/x.md",
        "b.md~",
        "c.md.tmp",
        ".b.md.swp",
        ".~lock.b.md#",
        "a/.syncthing.z.md.tmp",
    ):
        (world.root / path).parent.mkdir(parents=True, exist_ok=True)
        (world.root / path).write_text("x")
    assert [(entry.path, entry.kind) for entry in world.disk.walk()] == [
        ("a!", "folder"),
        ("a!/y.md", "file"),
        ("a.md", "file"),
        ("a.sync-conflict-1.md", "file"),
        ("a", "folder"),
        ("a/b", "folder"),
        ("a/b/c.md", "file"),
        ("a/z.md", "file"),
        ("b.md", "file"),
        ("Ä.md", "file"),
    ]


@posix_only
def test_a_walk_meets_each_file_once_whatever_links_say(world: World) -> None:
    (world.root / "a").mkdir()
    (world.root / "a" / "b.md").write_text("x")
    (world.root / "a" / "again").symlink_to(world.root / "a")
    (world.root / "loop").symlink_to("loop")
    (world.root / "link.md").symlink_to("a/b.md")
    assert [entry.path for entry in world.disk.walk()] == ["a", "a/b.md"]


@posix_only
def test_names_that_no_path_can_spell_are_passed_over(tmp_path: Path) -> None:
    for name in (b"back\\slash.md", b"latin-\xe9.md", b"bell\x07.md", b"con.md", b"good.md"):
        with open(os.path.join(os.fsencode(tmp_path), name), "w"):  # noqa: PTH118, PTH123 (a name as bytes)
            pass
    assert [entry.path for entry in Disk(tmp_path).walk()] == ["good.md"]


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="these take both for one name")
def test_a_name_is_found_under_the_composition_it_has_on_disk(world: World) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Café/Über.md") for form in ("NFC", "NFD"))
    world.disk.put(decomposed, b"x", None)
    assert world.disk.locate(composed) == decomposed
    assert world.disk.locate(decomposed) == decomposed
    assert (
        world.disk.locate(unicodedata.normalize("NFC", "Café/new é.md"))
        == f"{decomposed.split('/')[0]}/new é.md"
    )
    (world.root / composed).parent.mkdir()
    (world.root / composed).write_text("y")
    assert world.disk.locate(composed) == composed


def test_where_case_is_folded_a_name_is_found_as_it_is_on_disk(world: World) -> None:
    world.disk.folds_case = True
    world.disk.put("Notes/Café.md", b"x", None)
    assert world.disk.locate("NOTES/CAFE\u0301.md") == "Notes/Café.md"
    assert world.disk.locate("Notes/Café.md") == "Notes/Café.md"
    assert world.disk.locate("NOTES/New.md") == "Notes/New.md"


def test_what_a_killed_process_left_is_swept_and_nothing_else(world: World) -> None:
    (world.root / "a").mkdir()
    for path in (".knapper-tmp-0", "a/.knapper-tmp-1", "a/.other", "a/b.md"):
        (world.root / path).write_text("x")
    assert world.disk.sweep(older_than=3600) == 0
    assert world.disk.sweep(older_than=-1) == 2
    assert sorted(path.name for path in (world.root / "a").iterdir()) == [".other", "b.md"]


def test_what_a_scanner_holds_for_a_moment_is_tried_again() -> None:
    tries: list[int] = []

    def held() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise PermissionError
        return "done"

    assert _portable.patiently(held, (0.0, 0.0, 0.0)) == "done"
    assert len(tries) == 3
    with pytest.raises(PermissionError):
        _portable.patiently(lambda: (_ for _ in ()).throw(PermissionError), (0.0,))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is Linux's")
def test_who_watches_the_vault_is_told_of_the_file_alone_when_a_note_is_read(world: World) -> None:
    """A watch is told of every open: of each folder on the way, that would cost more than the read."""
    folder = world.root / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "note.md").write_text("text")
    kernel = ctypes.CDLL(None, use_errno=True)
    watch = kernel.inotify_init1(os.O_NONBLOCK)
    try:
        for path in (world.root, folder.parent, folder):
            assert kernel.inotify_add_watch(watch, os.fsencode(path), OPENED) > 0
        assert world.door().read("a/b/note.md").text == "text"
        told = os.read(watch, 65536)
    finally:
        os.close(watch)
    names = []
    while told:
        length = int.from_bytes(told[12:16], sys.byteorder)
        names.append(told[16 : 16 + length].rstrip(b"\0"))
        told = told[16 + length :]
    assert names == [b"note.md"]
