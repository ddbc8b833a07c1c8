"""A server killed in the middle of a stream of writes loses nothing it has confirmed, and leaves nothing half done."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.security.wire import Site, end

KILLS = int(os.environ.get("KNAPPER_KILLS", "15"))
FRIENDS = 5

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


def stamped(number: int, size: int) -> str:
    """A text whose first line proves that the rest of it is whole."""
    body = f"{number}\n{'x' * size}\n"
    return f"{sha256(body.encode()).hexdigest()}\n{body}"


def is_whole(text: str) -> bool:
    stamp, _, body = text.partition("\n")
    return sha256(body.encode()).hexdigest() == stamp


class Story:
    """What was asked of the servers of one vault, what they confirmed, and what must therefore be there."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.vault = site.root / "home"
        self.number = 0
        self.hub = 0
        self.asked: dict[int, tuple[str, dict[str, Any]]] = {}
        self.confirmed: set[int] = set()
        (self.vault / "log.md").write_text("begin\n")
        (self.vault / "Hub 0.md").write_text("# Hub\n")
        for friend in range(FRIENDS):
            (self.vault / f"friend {friend}.md").write_text("see [[Hub 0]] and [[Hub 0|it]]\n")

    def next_call(self, chance: random.Random, moving: bool) -> tuple[int, str, dict[str, Any]]:
        self.number += 1
        number, kind = self.number, chance.choice(["create", "create", "append", "move"])
        key = f"key-{number}"
        if kind == "append":
            tool, arguments = (
                "append_note",
                {"path": "log.md", "content": f"line {number}\n", "idempotency_key": key},
            )
        elif kind == "move" and not moving:
            # All links in five notes follow the hub to its next name, or none does.
            tool, arguments = "move_note", {"from": f"Hub {self.hub}.md", "to": f"Hub {self.hub + 1}.md"}
        else:
            content = stamped(number, chance.choice([10, 3_000, 60_000]))
            path = f"made/{number % 7}/note {number}.md"
            tool, arguments = "write_note", {"path": path, "content": content, "idempotency_key": key}
        self.asked[number] = (tool, arguments)
        return number, tool, arguments

    def answered(self, message: dict[str, Any]) -> bool:
        """Take in an answer; whether it was the move that we waited for."""
        number = message.get("id")
        if not isinstance(number, int) or number not in self.asked:
            return False
        tool, arguments = self.asked[number]
        result = message["result"]
        assert not result.get("isError"), result["structuredContent"]
        self.confirmed.add(number)
        if tool == "move_note":
            self.hub = int(re.findall(r"\d+", arguments["to"])[0])
        return tool == "move_note"

    def check(self) -> None:
        """Everything confirmed is there, everything there is whole, and the hub is where all links say."""
        notes = {path.name: path.read_text() for path in self.vault.rglob("note *.md")}
        assert all(map(is_whole, notes.values()))
        for number in self.confirmed:
            tool, arguments = self.asked[number]
            if tool == "write_note":
                assert notes[Path(arguments["path"]).name] == arguments["content"]
        lines = (self.vault / "log.md").read_text().split("\n")
        assert lines[0] == "begin"
        assert lines[-1] == ""
        assert len(lines) == len(set(lines)), "a line was added twice"
        appended = {number for number in self.confirmed if self.asked[number][0] == "append_note"}
        assert {f"line {number}" for number in appended} <= set(lines)
        self._check_hub()

    def _check_hub(self) -> None:
        hubs = [path.stem for path in self.vault.glob("Hub *.md")]
        assert len(hubs) == 1
        friends = {path.read_text() for path in self.vault.glob("friend *.md")}
        assert friends == {f"see [[{hubs[0]}]] and [[{hubs[0]}|it]]\n"}
        assert int(hubs[0].split()[1]) >= self.hub
        self.hub = int(hubs[0].split()[1])


def run_and_kill(story: Story, chance: random.Random) -> None:
    """Keep a server busy with several calls at a time, then kill it anywhere in its work."""
    pipe = story.site.pipe()
    moving, waiting, enough = False, 0, chance.randint(3, 40)
    while enough > 0:
        while waiting < 4:
            number, tool, arguments = story.next_call(chance, moving)
            moving = moving or tool == "move_note"
            call = {"name": tool, "arguments": arguments}
            pipe.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
            waiting += 1
        if story.answered(pipe.read()):
            moving = False
        waiting -= 1
        enough -= 1
    time.sleep(chance.random() * 0.01)  # anywhere inside a change, not only after an answer
    pipe.process.send_signal(signal.SIGKILL)
    pipe.process.wait()
    for message in pipe.rest():
        story.answered(message)


def restart_and_retry(story: Story) -> None:
    """The next server finishes what was decided; a retry of every unanswered call is done once at most."""
    pipe = story.site.pipe()
    try:
        assert (
            pipe.call("first", "note_exists", path="log.md")["result"]["structuredContent"]["exists"] is True
        )
        story.check()
        for number, (tool, arguments) in sorted(story.asked.items()):
            if number in story.confirmed or tool == "move_note":
                continue
            answer = pipe.call(number, tool, **arguments)["result"]
            if answer.get("isError"):
                assert answer["structuredContent"]["code"] in (
                    "idempotency_in_flight",
                    "indeterminate_outcome",
                )
            else:
                story.confirmed.add(number)
        story.check()
    finally:
        end(pipe)
    for number in [n for n in story.asked if n not in story.confirmed]:
        del story.asked[number]


@pytest.mark.timeout(60 + KILLS * 10)
def test_a_killed_server_loses_no_confirmed_change_and_leaves_no_half_file(tmp_path: Path) -> None:
    seed = int(os.environ.get("KNAPPER_SEED", str(random.randrange(1 << 30))))
    chance = random.Random(seed)
    story = Story(Site(tmp_path, watch={"enabled": False}, index={"processes": 1, "vectors": False}))
    for kill in range(KILLS):
        run_and_kill(story, chance)
        try:
            restart_and_retry(story)
        except BaseException as error:
            error.add_note(f"KNAPPER_SEED={seed}, kill {kill}")
            raise
    with sqlite3.connect(tmp_path / "cache/state.db") as state:
        assert state.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        audited = {row[0] for row in state.execute("SELECT DISTINCT tool FROM event_log WHERE status = 'ok'")}
        keys = state.execute("SELECT count(*) FROM idempotency_keys WHERE state = 'completed'").fetchone()[0]
    assert {"write_note", "append_note"} <= audited
    assert keys >= len([n for n in story.confirmed if story.asked[n][0] != "move_note"])
