"""A process that lets copies of itself be killed at chosen places inside one tool's call, and says what each left.

A copy is killed by SIGKILL just ahead of a change to the file system, so every place is met without chance or waiting.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from knapper import Caller
from knapper.caller import LOCAL
from knapper.domain import Domain
from knapper.runtime import Runtime
from knapper.testing import Calls
from knapper_attachments import attachments
from knapper_bulk import bulk
from knapper_history import history
from knapper_links import links
from knapper_memory import memory
from knapper_notes import notes
from knapper_obsidian import obsidian
from knapper_templater import templater

ANN = Caller("ann", LOCAL, authenticated=True, session="one")
CHANGES = frozenset({"os.rename", "os.link", "os.remove", "os.mkdir"})
NODES = [{"id": "1", "type": "file", "file": "Left.md"}, {"id": "2", "type": "file", "file": "pic.png"}]
FILES = {
    "Left.md": "left [[Right]] [[Left]]\n",
    "Right.md": "right [[Left]]\n",
    "pic.png": "no picture",
    "plan.canvas": json.dumps({"nodes": NODES}),
    "tpl/Move.md": '<% await tp.file.move("/deep/Left") %><% await tp.file.create_new("made", "Made") %>more\n',
    ".obsidian/community-plugins.json": '["templater-obsidian"]',
    ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "tpl"}',
    **{f"links/{n}.md": f"{n} [[Left|shown]] [md](../Left.md) ![[pic.png]]\n" for n in range(3)},
}
Ask = Callable[..., Any]


class Case(NamedTuple):
    """A tool's call, and what has to be there before it."""

    domains: tuple[Domain, ...]
    act: Callable[[Ask], Any]
    prepare: Callable[[Ask], Any] = lambda ask: None
    settings: dict[str, Any] = {}  # noqa: RUF012 (of a tuple, which is never changed)


def _worked(ask: Ask) -> None:
    ask("move_note", **{"from": "Left.md", "to": "deep/New.md"})
    ask("append_note", path="Right.md", content="more")
    ask("write_note", path="Fresh.md", content="fresh", mode="create")


def _known(ask: Ask) -> None:
    company = ask("create_entity", name="Acme", type="company")["entity_id"]
    for name in ("Ann", "Bob"):
        person = ask("create_entity", name=name, type="person")["entity_id"]
        ask("link_entities", source_id=person, target_id=company, relation_type="works_at")


def _renamed(ask: Ask) -> None:
    company = ask("get_entity", name="Acme", type="company")
    ask("rename_entity", entity_id=company["entity_id"], name="Acme Ltd")


SWAP = [
    {"from": "Left.md", "to": "Right.md"},
    {"from": "Right.md", "to": "Left.md"},
    {"from": "links/0.md", "to": "deep/0.md"},
]
CASES = {
    "move_note": Case((notes,), lambda ask: ask("move_note", **{"from": "Left.md", "to": "deep/New.md"})),
    "bulk_move_notes": Case((bulk,), lambda ask: ask("bulk_move_notes", moves=SWAP, dry_run=False)),
    "move_attachment": Case(
        (attachments,), lambda ask: ask("move_attachment", **{"from": "pic.png", "to": "img/new.png"})
    ),
    "obsidian_rename_note": Case(
        (obsidian,), lambda ask: ask("obsidian_rename_note", path="Left.md", name="New")
    ),
    "obsidian_move_note": Case(
        (obsidian,), lambda ask: ask("obsidian_move_note", path="Left.md", to="deep/New.md")
    ),
    "rewrite_link": Case(
        (links,), lambda ask: ask("rewrite_link", from_target="Left", to_target="Right", dry_run=False)
    ),
    "undo_session": Case((history, notes), lambda ask: ask("undo_session", dry_run=False), _worked),
    "rename_entity": Case((memory,), _renamed, _known),
    "execute_template": Case(
        (templater,),
        lambda ask: ask("execute_template", template="tpl/Move.md", target="Left.md", overwrite=True),
        settings={"templater": {"allow_file_changes": True}},
    ),
}


class Place:
    """A vault and its cache, which can be put back to how they were."""

    def __init__(self, root: Path) -> None:
        self.vault, self.cache, self._kept = root / "vault", root / "cache", root / "kept"

    def keep(self) -> None:
        for folder in (self.vault, self.cache):
            shutil.copytree(folder, self._kept / folder.name)

    def put_back(self) -> None:
        for folder in (self.vault, self.cache):
            shutil.rmtree(folder)
            shutil.copytree(self._kept / folder.name, folder)

    def files(self) -> dict[str, str]:
        found = {
            path.relative_to(self.vault).as_posix(): path for path in self.vault.rglob("*") if path.is_file()
        }
        return {name: path.read_text("utf-8") for name, path in found.items() if "/." not in f"/{name}"}


def _asking(runtime: Runtime) -> Ask:
    def ask(tool: str, **arguments: Any) -> Any:
        runtime.vaults.get("main").index.reconcile()
        outcome = runtime.call(tool, arguments, ANN, ask=lambda question: True)
        assert outcome.error is None, outcome.error
        return json.loads(outcome.payload)

    return ask


def in_a_copy(act: Callable[[], object]) -> int:
    """Do something in a copy of this process; how that ended."""
    copy = os.fork()
    if copy:
        return os.waitpid(copy, 0)[1]
    try:
        act()
    except BaseException as error:  # noqa: BLE001 (a copy never goes on as its original)
        sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    os._exit(0)


def run(case: Case, place: Place, act: Callable[[Ask], object]) -> None:
    calls = Calls(place.vault, place.cache)
    calls.settings = case.settings
    act(_asking(calls.runtime(*case.domains)))
    calls.close()


class Executioner:
    """Counts the changes to the file system, and kills this process ahead of one of them."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.count = 0
        sys.addaudithook(self._heard)

    def _heard(self, event: str, values: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(values[2], int) and values[2] & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES or writes:
            self.count += 1
            if self.count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)


def act_until(case: Case, place: Place, at: int) -> None:
    def act(ask: Ask) -> None:
        executioner = Executioner(at)
        case.act(ask)
        (place.vault.parent / "count").write_text(str(executioner.count))

    run(case, place, act)


def main(tool: str, root: str, kills: int) -> None:
    sys.dont_write_bytecode = True  # a first run would make files that no other makes
    case, place = CASES[tool], Place(Path(root))
    for name, text in FILES.items():
        (place.vault / name).parent.mkdir(parents=True, exist_ok=True)
        (place.vault / name).write_text(text, "utf-8")
    assert in_a_copy(lambda: run(case, place, case.prepare)) == 0
    place.keep()
    before = place.files()
    assert in_a_copy(lambda: act_until(case, place, 0)) == 0
    after, count = place.files(), int((place.vault.parent / "count").read_text())
    left = []
    for at in sorted({1 + number * (count - 1) // max(kills - 1, 1) for number in range(kills)}):
        place.put_back()
        assert in_a_copy(partial(act_until, case, place, at)) == signal.SIGKILL
        assert in_a_copy(lambda: run(case, place, lambda ask: None)) == 0  # the next start
        left.append(place.files())
    sys.stdout.write(json.dumps({"before": before, "after": after, "left": left}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
