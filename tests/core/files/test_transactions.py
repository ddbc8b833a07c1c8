from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.errors import ToolError
from knapper.vault.acl import Acl
from knapper.vault.door import Door

if TYPE_CHECKING:
    from tests.core.files.conftest import World

Code = Callable[[Callable[[], object]], str]


def fill(world: World, *names: str) -> Door:
    door = world.door()
    for name in names:
        door.write(f"{name}.md", name)
    world.changes.clear()
    world.befores.clear()
    return door


def test_nothing_happens_before_the_end(world: World) -> None:
    door = fill(world, "a", "b")
    with door.transaction():
        door.write("a.md", "new")
        door.delete("b.md")
        door.write("x/c.md", "new")
        assert world.files() == {"a.md": "a", "b.md": "b"}
        assert not (world.root / "x").exists()
        assert world.befores == []
    assert world.files() == {"a.md": "new", "x/c.md": "new"}
    assert world.litter() == []


def test_an_exception_leaves_every_file_as_it_was(world: World) -> None:
    door = fill(world, "a", "b")

    def act() -> None:
        with door.transaction():
            door.write("a.md", "new")
            door.move("b.md", "c.md")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        act()
    assert world.files() == {"a.md": "a", "b.md": "b"}
    assert (world.befores, world.changes) == ([], [])
    door.write("a.md", "afterwards")
    assert world.files() == {"a.md": "afterwards", "b.md": "b"}


def test_reads_inside_see_what_is_staged(world: World, code: Code) -> None:
    door = fill(world, "a", "b")
    with door.transaction():
        door.write("a.md", "new")
        door.edit("a.md", lambda text: text + "er")
        door.move("b.md", "x/c.md")
        assert door.read("a.md").text == "newer"
        assert door.read("x/c.md").text == "b"
        assert code(lambda: door.read("b.md")) == "note_not_found"
        assert [door.exists(path) for path in ("a.md", "b.md", "x", "x/c.md")] == [
            "file",
            None,
            "folder",
            "file",
        ]
        assert [entry.path for entry in door.walk(folders=True)] == ["a.md", "x", "x/c.md"]
        assert [entry.path for entry in door.walk("x")] == ["x/c.md"]
        assert door.stat("a.md").size == 5
    assert world.files() == {"a.md": "newer", "x/c.md": "b"}


def test_two_files_swap_their_names(world: World) -> None:
    door = fill(world, "a", "b")
    inodes = [door.stat("a.md").inode, door.stat("b.md").inode]
    with door.transaction():
        door.move("a.md", "t.md")
        door.move("b.md", "a.md")
        door.move("t.md", "b.md")
    assert world.files() == {"a.md": "b", "b.md": "a"}
    assert [door.stat("b.md").inode, door.stat("a.md").inode] == inodes


def test_a_ring_and_a_chain_of_moves_land(world: World) -> None:
    door = fill(world, "a", "b", "c", "d", "e")
    with door.transaction():
        door.move("c.md", "t.md")
        door.move("b.md", "c.md")
        door.move("a.md", "b.md")
        door.move("t.md", "a.md")
        door.move("e.md", "f.md")
        door.move("d.md", "e.md")
    assert world.files() == {"a.md": "c", "b.md": "a", "c.md": "b", "e.md": "d", "f.md": "e"}
    assert world.litter() == []


def test_files_of_the_same_content_are_told_apart(world: World) -> None:
    door = fill(world)
    for name in ("a", "b", "c"):
        door.write(f"{name}.md", "same")
    with door.transaction():
        door.move("b.md", "d.md")
        door.move("a.md", "b.md")
        door.delete("c.md", hard=True)
    assert world.files() == {"b.md": "same", "d.md": "same"}


def test_a_moved_file_can_be_rewritten_and_its_old_name_be_used_again(world: World) -> None:
    door = fill(world, "a", "b")
    with door.transaction():
        door.move("a.md", "b.md", overwrite=True)
        door.edit("b.md", lambda text: text + "+")
        door.write("a.md", "fresh")
    assert world.files() == {"a.md": "fresh", "b.md": "a+"}


def test_a_file_that_comes_and_goes_inside_leaves_no_trace(world: World) -> None:
    door = fill(world, "a")
    with door.transaction():
        door.write("n.md", "new")
        door.move("n.md", "m.md")
        assert door.delete("m.md").trash_path is None
        door.move("a.md", "b.md")
        door.move("b.md", "a.md")
        door.write("a.md", "other")
        door.write("a.md", "a")
    assert world.files() == {"a.md": "a"}
    assert (world.befores, world.changes) == ([], [])


def test_deleting_inside_goes_to_the_trash(world: World) -> None:
    door = fill(world, "a", "b")
    (world.root / ".trash").mkdir()
    (world.root / ".trash" / "a.md").write_text("older")
    with door.transaction():
        assert door.delete("a.md").trash_path == ".trash/a (1).md"
        door.write("a.md", "again")
        assert door.delete("b.md", hard=True).trash_path is None
    assert world.files() == {"a.md": "again"}
    assert sorted((path.name, path.read_text()) for path in (world.root / ".trash").iterdir()) == [
        ("a (1).md", "a"),
        ("a.md", "older"),
    ]


def test_a_file_that_another_program_changed_stops_the_whole_transaction(world: World) -> None:
    door = fill(world, "a", "b", "c")

    def act() -> None:
        with door.transaction():
            door.write("a.md", "new")
            door.edit("b.md", lambda text: text + "+")
            door.move("c.md", "d.md")
            (world.root / "b.md").write_text("theirs")

    with pytest.raises(ToolError) as caught:
        act()
    assert caught.value.code == "concurrent_modification"
    assert caught.value.details["path"] == "b.md"
    assert world.files() == {"a.md": "a", "b.md": "theirs", "c.md": "c"}


def test_a_write_inside_is_based_on_what_was_read_inside(world: World, code: Code) -> None:
    door = fill(world, "a")

    def act() -> None:
        with door.transaction():
            text = door.read("a.md").text
            (world.root / "a.md").write_text("theirs")
            door.write("a.md", text + "+")

    assert code(act) == "concurrent_modification"
    assert world.files() == {"a.md": "theirs"}


def test_a_target_that_another_program_took_stops_the_whole_transaction(world: World, code: Code) -> None:
    door = fill(world, "a")

    def act() -> None:
        with door.transaction():
            door.move("a.md", "b.md")
            (world.root / "b.md").write_text("theirs")

    assert code(act) == "concurrent_modification"
    assert world.files() == {"a.md": "a", "b.md": "theirs"}


def test_what_cannot_be_written_is_refused_when_it_is_staged(world: World, code: Code) -> None:
    door = fill(world, "a", "b")
    door.write("folder/x.md", "x")
    (world.root / "b.md").chmod(0o444)
    with door.transaction():
        door.write("new", "a file")
        assert code(lambda: door.write("a.md/b.md", "x")) == "path_invalid"
        assert code(lambda: door.write("new/b.md", "x")) == "path_invalid"
        assert code(lambda: door.write("folder", "x")) == "path_invalid"
        assert code(lambda: door.write("b.md", "x")) == "acl_denied"
        door.write("deep/y.md", "y")
        assert code(lambda: door.write("deep", "x")) == "path_invalid"
    assert world.files() == {"a.md": "a", "b.md": "b", "folder/x.md": "x", "new": "a file", "deep/y.md": "y"}
    (world.root / "b.md").chmod(0o644)


def test_one_transaction_inside_another_belongs_to_the_outer_one(world: World) -> None:
    door = fill(world, "a")

    def act() -> None:
        with door.transaction():
            with door.transaction():
                door.write("a.md", "new")
            assert world.files() == {"a.md": "a"}
            raise RuntimeError

    with pytest.raises(RuntimeError):
        act()
    assert world.files() == {"a.md": "a"}


def test_modes_and_hashes_are_checked_against_the_staged_state(world: World, code: Code) -> None:
    door = fill(world, "a")
    with door.transaction():
        staged = door.write("a.md", "new")
        assert staged.prev_hash == sha256(b"a").hexdigest()
        assert (
            code(lambda: door.write("a.md", "x", prev_hash=sha256(b"a").hexdigest()))
            == "concurrent_modification"
        )
        assert code(lambda: door.write("a.md", "newer", prev_hash=staged.hash)) == "ok"
        assert code(lambda: door.write("a.md", "x", mode="create")) == "note_exists"
        door.delete("a.md")
        assert code(lambda: door.write("a.md", "x", mode="overwrite")) == "note_not_found"
        assert code(lambda: door.write("a.md", "last", mode="create")) == "ok"
        assert code(lambda: door.move("b.md", "c.md")) == "note_not_found"
        assert code(lambda: door.delete("b.md")) == "note_not_found"
        door.write("b.md", "b")
        assert code(lambda: door.move("b.md", "a.md")) == "note_exists"
    assert world.files() == {"a.md": "last", "b.md": "b"}


def test_two_spellings_of_a_new_name_are_one_file(world: World) -> None:
    door = world.door()
    with door.transaction():
        door.write("Café.md", "one")
        assert door.write("Cafe\u0301.md", "two").path == "Café.md"
    assert world.files() == {"Café.md": "two"}


def test_before_and_after_are_told_once_for_all(world: World) -> None:
    told: list[list[tuple[object, ...]]] = []
    fill(world, "a", "b", "c")
    door = world.door(
        before=lambda all: told.append([(b.op, b.path, b.data, b.target) for b in all]),
        changed=lambda all: told.append([(c.path, c.data, c.stat is not None, c.moved_from) for c in all]),
    )
    with door.transaction():
        door.move("a.md", "d.md")
        door.edit("d.md", lambda text: text + "+")
        door.write("b.md", "new")
        door.delete("c.md")
    assert told == [
        [
            ("move", "a.md", b"a", "d.md"),
            ("write", "d.md", None, None),
            ("delete", "c.md", b"c", None),
            ("write", "b.md", b"b", None),
        ],
        [
            ("a.md", None, False, None),
            ("d.md", b"a+", True, "a.md"),
            ("c.md", None, False, None),
            ("b.md", b"new", True, None),
        ],
    ]


NAMES = ("a.md", "b.md", "c.md", "x/a.md", "x/y/b.md")
Step = tuple[str, str, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "append", "move", "replace", "trash", "unlink"]),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
    ),
    min_size=1,
    max_size=12,
)
INITIAL = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["1", "2"]), max_size=5)


def act_on_model(model: dict[str, str], step: Step, content: str) -> None:
    """What a step does to a plain dictionary; one that cannot be done does nothing."""
    verb, path, other = step
    if verb == "write":
        model[path] = content
    elif path not in model:
        return
    elif verb == "append":
        model[path] += content
    elif verb in ("trash", "unlink"):
        del model[path]
    elif path != other and (verb == "replace" or other not in model):
        model[other] = model.pop(path)


def act_on_door(door: Door, step: Step, content: str) -> None:
    verb, path, other = step
    try:
        if verb == "write":
            door.write(path, content)
        elif verb == "append":
            door.edit(path, lambda text: text + content)
        elif verb in ("trash", "unlink"):
            door.delete(path, hard=verb == "unlink")
        else:
            door.move(path, other, overwrite=verb == "replace")
    except ToolError as error:
        if error.code not in ("note_not_found", "note_exists"):
            raise


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(initial=INITIAL, steps=STEPS, portable=st.booleans(), fails=st.booleans())
def test_all_of_a_transaction_or_none_of_it(
    make_world: Callable[..., World], initial: dict[str, str], steps: list[Step], portable: bool, fails: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder) / "Vault", Path(folder) / "cache", portable)
        door = world.door()
        for path, content in initial.items():
            door.write(path, content)
        model = dict(initial)
        try:
            with door.transaction():
                for number, step in enumerate(steps):
                    act_on_door(door, step, str(number))
                    act_on_model(model, step, str(number))
                    assert {e.path: door.read(e.path).text for e in door.walk()} == model
                if fails:
                    raise RuntimeError
        except RuntimeError:
            model = initial
        assert world.files() == model
        assert world.litter() == []
        assert not world.journal.recover(world.disk)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(initial=INITIAL, steps=STEPS, portable=st.booleans(), at=st.integers(0, 40))
def test_all_or_none_also_when_the_process_dies_at_any_step(
    make_world: Callable[..., World],
    dies: Callable[..., bool],
    initial: dict[str, str],
    steps: list[Step],
    portable: bool,
    at: int,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder) / "Vault", Path(folder) / "cache", portable)
        door = world.door()
        for path, content in initial.items():
            door.write(path, content)
        final = dict(initial)
        for number, step in enumerate(steps):
            act_on_model(final, step, str(number))

        def act() -> None:
            with door.transaction():
                for number, step in enumerate(steps):
                    act_on_door(door, step, str(number))

        died = dies(act, at)
        recovery = world.journal.recover(world.disk)
        assert recovery.conflicts == []
        assert recovery.failed == []
        assert world.files() in ((initial, final) if died and not recovery.completed else (final,))
        assert not world.journal.recover(world.disk)


def test_a_rehearsal_is_refused_where_the_real_change_is_and_changes_nothing(
    world: World, code: Code
) -> None:
    door = world.door()
    door.write("a.md", "1")
    door.write("b.md", "2")
    before = world.files()
    with door.rehearsal():
        door.move("a.md", "c.md")
        assert door.edit("c.md", lambda text: text + "+").prev_hash is not None
        assert code(lambda: door.move("c.md", "b.md")) == "note_exists"
        assert code(lambda: door.read("a.md")) == "note_not_found"
    assert world.files() == before
    assert door.read("a.md").text == "1"


def test_what_the_server_has_to_know_is_read_whoever_may_read_it(world: World, code: Code) -> None:
    world.door().write("closed/a.md", "1")
    world.door().write("closed/b.md", b"\xff")
    door = world.door(Acl(read_paths=["open/**"]))
    assert code(lambda: door.read("closed/a.md")) == "acl_denied"
    assert [door.known_text(f"closed/{name}.md") for name in "abc"] == ["1", None, None]
