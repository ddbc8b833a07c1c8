"""What a tool really opens: the paths that its parameters declare, or what it says it reaches beyond them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from knapper.dispatch import answer
from knapper.dispatch.call import Call
from knapper.dispatch.canonical import args_hash
from knapper.dispatch.pipeline import GATES, run
from knapper.domain import Tool
from knapper.touches import Access
from knapper.vault.door import Door
from tests.contract.surface import ALICE, FILES, Server, arguments, tools, usual_paths

EVERY = pytest.mark.parametrize("tool", tools().values(), ids=list(tools()))


class Watch:
    """Notes what is asked of doors, and files of the vault that are opened by their absolute names."""

    def __init__(self, folder: str) -> None:
        self.inside = f"{folder}/"
        self.asked: set[tuple[str, str]] = set()
        self.behind: list[str] = []
        self.on = False

    def heard(self, event: str, args: tuple[Any, ...]) -> None:
        if self.on and event in ("open", "os.remove", "os.rename", "os.mkdir", "os.listdir", "os.scandir"):
            self.behind += [one for one in args[:2] if isinstance(one, str) and one.startswith(self.inside)]


WATCHES: list[Watch] = []


def _tell(event: str, args: tuple[Any, ...]) -> None:
    for watch in WATCHES:
        watch.heard(event, args)


sys.addaudithook(_tell)


@pytest.fixture
def watch(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    found = Watch(str(server.folder))
    check, walk = Door.check, Door.walk

    def checked(door: Door, op: Any, path: str) -> None:
        if found.on:
            found.asked.add((op, path))
        check(door, op, path)

    def walked(door: Door, folder: str = "", **how: Any) -> Any:
        if found.on:
            found.asked.add(("walk", folder))
        return walk(door, folder, **how)

    monkeypatch.setattr(Door, "check", checked)
    monkeypatch.setattr(Door, "walk", walked)
    WATCHES.append(found)
    yield found
    WATCHES.remove(found)


@contextmanager
def fresh(server: Server) -> Iterator[None]:
    """The vault as it was, whatever the last tool did."""
    for path in [p for p in server.folder.rglob("*") if p.is_file()]:
        if str(path.relative_to(server.folder)) not in FILES:
            path.unlink()
    for name, text in FILES.items():
        if not (server.folder / name).exists() or (server.folder / name).read_text() != text:
            (server.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (server.folder / name).write_text(text)
    server.runtime.vaults.get("home").index.reconcile()
    yield


def variants(tool: Tool) -> list[dict[str, Any]]:
    """Calls of a tool: with what it needs on free and on taken paths, and with everything it takes."""
    usual = usual_paths(tool)

    def taken(access: Access) -> str:
        return usual(access._replace(op="read"))

    def free(access: Access) -> str:
        return usual(access) if access.op != "write" else "Open/new/free.md"

    return [
        arguments(tool),
        arguments(tool, taken),
        arguments(tool, free),
        arguments(tool, taken, whole=True),
        arguments(tool, taken, text="Open/Fern note.md", whole=True),
    ]


def dispatched(server: Server, tool: Tool, given: dict[str, Any], watch: Watch) -> set[tuple[str, str]]:
    """Take a call through the gates with a person's yes, and say which accesses its arguments declare."""
    declared: set[tuple[str, str]] = set()

    def handle(call: Call) -> None:
        def note(access: Access, path: str) -> str:
            declared.add((access.op, path))
            return path

        call.tool.signature.visit(call.args, note)
        watch.on = True
        try:
            answer.handle(call)
        finally:
            watch.on = False

    gates: tuple[Callable[[Call], None], ...] = tuple(
        handle if gate is answer.handle else gate for gate in GATES
    )
    call = Call(
        server.runtime, tool.name, given, ALICE, args_hash(tool.name, given), ask=lambda question: True
    )
    run(call, gates)
    return declared


@EVERY
def test_it_opens_what_it_declares(server: Server, tool: Tool, watch: Watch) -> None:
    for given in variants(tool):
        with fresh(server):
            watch.asked.clear()
            declared = dispatched(server, tool, given, watch)
            named = {path for _, path in declared}
            beyond = {
                (op, path)
                for op, path in watch.asked
                if (op, path) not in declared
                and not (op == "read" and path in named)
                and path not in tool.domain.exempt
            }
            assert not beyond or tool.reach, (
                f"{given} opened {sorted(beyond)}: declare them, or say reach='…'"
            )
            assert watch.behind == [], "a file of the vault was opened past the door"
