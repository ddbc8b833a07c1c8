"""Two at once: files swapped under a call, one confirmation spent twice, one key sent by two servers."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from knapper import Context, DeletePath, Domain, ReadPath, WritePath
from knapper.caller import LOCAL, Caller
from knapper.dispatch.canonical import args_hash
from knapper.store.confirmations import Approvals
from knapper.store.state import State
from knapper.testing import Calls, VaultFolder
from tests.security.wire import Site, called, end, in_session

SECRET = "what nobody may see"
ALICE = Caller("alice", LOCAL, authenticated=True)
OPEN = {"acl": {"read_paths": ["Open/**"], "write_paths": ["Open/**"], "delete_paths": ["Open/**"]}}
links = pytest.mark.skipif(os.name == "nt", reason="links need privileges on Windows")

files = Domain("files", summary="Read, write and delete files.")


@files.tool("read:notes")
def look(ctx: Context, path: ReadPath) -> str:
    """Read a file, through more than one door's way."""
    ctx.vault.exists(path)
    return ctx.vault.read(path).text


@files.tool("write:notes")
def put(ctx: Context, path: WritePath, text: str) -> str:
    """Write a file."""
    return ctx.vault.write(path, text).hash


@files.tool("delete:notes")
def drop(ctx: Context, path: DeletePath) -> str:
    """Delete a file."""
    return ctx.vault.delete(path, hard=True).path


@contextmanager
def meanwhile(step: Callable[[], None]) -> Iterator[None]:
    """Do something again and again beside the block; it is done at least once more before the block ends."""
    over = threading.Event()
    failures: list[Exception] = []

    def go() -> None:
        try:
            while not over.is_set():
                step()
        except Exception as error:  # noqa: BLE001 - raised again in the test's own thread
            failures.append(error)

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert failures == []


def swapped(place: Path, *makers: Callable[[Path], None]) -> Callable[[], None]:
    """A step that makes a file be one thing after the other."""
    beside = place.with_name(".swapping")

    def step() -> None:
        for make in makers:
            beside.unlink(missing_ok=True)
            make(beside)
            beside.replace(place)

    return step


@links
@pytest.mark.parametrize("kind", ["a link out", "a link inside", "a hard link"])
def test_a_file_swapped_for_a_link_during_calls_lets_nothing_through(
    call: Calls, vault: VaultFolder, tmp_path: Path, kind: str
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(SECRET)
    vault["Private/secret.md"] = SECRET
    vault["Open/note.md"] = "open"
    call.settings = OPEN
    runtime = call.runtime(files)
    target = outside if kind != "a link inside" else vault.path / "Private/secret.md"

    def plain(place: Path) -> None:
        place.write_text("open")

    def trap(place: Path) -> None:
        if kind == "a hard link":
            os.link(target, place)
        else:
            place.symlink_to(target)

    seen: set[str] = set()
    with meanwhile(swapped(vault.path / "Open/note.md", plain, trap)):
        for number in range(150):
            for tool, more in (("look", {}), ("put", {"text": f"mine {number}"}), ("drop", {})):
                outcome = runtime.call(tool, {"path": "Open/note.md", **more}, ALICE)
                seen.add(outcome.error["code"] if outcome.error else f"{tool} ok")
                assert SECRET not in repr(outcome)
    assert outside.read_text() == SECRET
    assert vault["Private/secret.md"] == SECRET
    assert "internal" not in seen
    assert seen & {"acl_denied", "path_invalid"}, "the trap was never met"


@links
def test_a_folder_swapped_for_a_link_during_calls_lets_nothing_through(
    call: Calls, vault: VaultFolder, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_text(SECRET)
    vault["Open/deep/note.md"] = "open"
    call.settings = OPEN
    runtime = call.runtime(files)
    deep, aside = vault.path / "Open/deep", vault.path / "Open/.aside"

    def step() -> None:
        deep.rename(aside)
        with suppress(FileExistsError):  # a write that found no folder has made one
            deep.symlink_to(outside)
            deep.unlink()
        while aside.exists():
            shutil.rmtree(deep, ignore_errors=True)
            with suppress(OSError):  # and another write has made it again
                aside.rename(deep)

    with meanwhile(step):
        for number in range(200):
            read = runtime.call("look", {"path": "Open/deep/note.md"}, ALICE)
            assert SECRET not in repr(read)
            runtime.call("put", {"path": "Open/deep/note.md", "text": f"mine {number}"}, ALICE)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"note.md": SECRET}


def test_one_confirmation_token_sent_twice_at_once_is_spent_once(tmp_path: Path) -> None:
    site = Site(tmp_path)
    (tmp_path / "home/b.md").write_text("b")
    web = site.web()
    try:
        asked = called(web, "delete_note", {"path": "a.md"})
        assert asked["code"] == "elicit_required"
        state = State.open(tmp_path / "cache/state.db")
        hashed = args_hash("delete_note", {"path": "a.md"})
        assert asked["details"]["args_hash"] == hashed
        token = Approvals(state).mint("home", "delete_note", hashed, "http-local")
        state.close()
        sessions = [web.opened() for _ in range(6)]
        start = threading.Barrier(6)

        def spend(session: str) -> str:
            start.wait()
            said = in_session(web, session, "delete_note", {"path": "a.md", "elicit_token": token})
            return str(said.get("code", "deleted"))

        with ThreadPoolExecutor(6) as pool:
            outcomes = sorted(pool.map(spend, sessions))
        assert outcomes.count("deleted") == 1
        assert set(outcomes) <= {"deleted", "elicit_required", "note_not_found"}
        assert site.file("home/a.md") is None
        assert (
            called(web, "delete_note", {"path": "b.md", "elicit_token": token})["code"] == "elicit_required"
        )
        assert site.file("home/b.md") == "b"
    finally:
        end(web)


def test_one_key_sent_to_two_servers_at_once_takes_effect_once(tmp_path: Path) -> None:
    site = Site(tmp_path)
    (tmp_path / "home/log.md").write_text("begin\n")
    pipes = [site.pipe(), site.pipe()]
    try:
        start = threading.Barrier(2)

        def send(pipe: Any) -> list[str]:
            codes = []
            for number in range(40):
                start.wait()
                arguments = {
                    "path": "log.md",
                    "content": f"line {number}\n",
                    "idempotency_key": f"key {number}",
                }
                answer = pipe.call(number + 1, "append_note", **arguments)["result"]
                codes.append(answer["structuredContent"].get("code", "ok"))
            return codes

        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(send, pipes))
    finally:
        end(*pipes)
    assert site.file("home/log.md") == "begin\n" + "".join(f"line {number}\n" for number in range(40))
    for pair in zip(*outcomes, strict=True):
        assert "ok" in pair
        assert set(pair) <= {"ok", "idempotency_in_flight"}
