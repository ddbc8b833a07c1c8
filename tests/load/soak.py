"""The soak: many clients on one vault while another program edits it, and every answer is checked.

python -m tests.load.soak [--seconds 600] [--http 16] [--stdio 4] [--notes 1000] [--report FILE]

Each worker owns notes that it alone changes through the tools, so it knows what each answer has to be: what it reads,
what it finds after each write and no longer finds, where its notes are after a move. All share logs they append to and
a counter they raise by compare-and-swap, so a lost write shows as a missing line or a number. A program beside them
writes notes in place and by rename, as Obsidian and sync programs do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.load import editor, report
from tests.load.clients import OverHttp, OverPipes, Session
from tests.load.workers import COUNTER, Worker
from tests.security.wire import Site, end
from tests.server.conftest import Pipe, Web

SETTLE_SECONDS = 120.0
FILLER = "Words that are in every note, and a [[Filler {other}]] for the graph. #filler\n"
TROUBLE = (" ERROR ", " CRITICAL ", "Traceback", "database is locked", "SQLITE_BUSY")


class Soak:
    """Servers on one vault, their workers, and the program beside them."""

    def __init__(
        self, root: Path, *, http: int, stdio: int, notes: int, pause: float, **settings: Any
    ) -> None:
        self.site = Site(root, vaults=[{"id": "home", "path": str(root / "home")}], **settings)
        self.vault = root / "home"
        self._fill(notes)
        self.web = self.site.web()
        self.pipes = [self.site.pipe() for _ in range(stdio)]
        over_pipes: list[Session] = [OverPipes(pipe) for pipe in self.pipes]
        over_http: list[Session] = [OverHttp(self.web) for _ in range(http)]
        self.workers = [Worker(number, one) for number, one in enumerate(over_http + over_pipes)]
        self.sessions = [OverHttp(self.web), *over_pipes]  # one of each process
        self.samples: list[report.Sample] = []
        self.seconds = 0.0
        self.edits = 0
        self._pause = pause
        self._versions: dict[int, int] = {}

    @property
    def servers(self) -> list[Web | Pipe]:
        return [self.web, *self.pipes]

    def _fill(self, notes: int) -> None:
        for folder in ("Shared", "Obsidian", "Filler"):
            (self.vault / folder).mkdir()
        (self.vault / COUNTER).write_text("count 0\n")
        for note in range(editor.NOTES):
            editor.edit(self.vault / "Obsidian", note, 1)
        for note in range(notes):
            text = FILLER.format(other=(note * 7) % notes) * 10
            (self.vault / f"Filler/Filler {note}.md").write_text(f"# Filler {note}\n\n{text}")

    def run(self, *, acts: int | None = None, seconds: float = float("inf")) -> None:
        """Have every worker act so often, or for so long, beside the editor."""
        command = [sys.executable, editor.__file__, str(self.vault / "Obsidian"), "1", str(self._pause)]
        beside = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        began = time.monotonic()
        threads = [
            threading.Thread(target=self._work, args=(worker, acts, began + seconds))
            for worker in self.workers
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self._sample(time.monotonic() - began)
            for thread in threads:
                thread.join(5 / len(threads))
        self.seconds = time.monotonic() - began
        told = json.loads(beside.communicate()[0])
        self.edits = told["edits"]
        self._versions = {int(note): version for note, version in told["versions"].items()}

    def _work(self, worker: Worker, acts: int | None, until: float) -> None:
        try:
            worker.begin()
            done = 0
            while (acts is None or done < acts) and time.monotonic() < until:
                worker.act()
                done += 1
        except Exception as error:  # noqa: BLE001 - a client that cannot go on is a finding like any other
            worker.told.wrong.append(f"worker {worker.number} ended: {type(error).__name__}: {error}")

    def _sample(self, at: float) -> None:
        for place, server in enumerate(self.servers):
            name = "http" if place == 0 else f"stdio {place}"
            found = report.memory(server.process.pid)
            if found is not None:
                self.samples.append(report.Sample(at, name, *found))

    def problems(self) -> list[str]:
        """All that was wrong during the run, and all that is wrong after it."""
        return [
            *(text for worker in self.workers for text in worker.told.wrong),
            *self.lost(),
            *self._stale(),
            *self._unhealthy(),
            *self._logged(),
        ]

    def lost(self) -> list[str]:
        """Writes that were acknowledged and are not on the disk."""
        found = []
        for worker in self.workers:
            found += [
                f"{path} is not as it was written"
                for path, text in worker.expected().items()
                if not (self.vault / path).is_file() or (self.vault / path).read_text() != text
            ]
        wanted: dict[str, list[str]] = defaultdict(list)
        for worker in self.workers:
            for log, line in worker.told.appended:
                wanted[log].append(line)
        for log, promised in sorted(wanted.items()):
            lines = (self.vault / log).read_text().splitlines()
            if sorted(lines) != sorted(promised):
                found.append(f"{log} has {len(lines)} lines and not {len(promised)}, or others")
        raised = sum(worker.told.raised for worker in self.workers)
        if (self.vault / COUNTER).read_text() != f"count {raised}\n":
            found.append(f"the counter is not {raised}")
        return found

    def _stale(self) -> list[str]:
        """What a process does not find where it is, once it had the time to see the other program's last edits."""
        wanted = {path: mark for worker in self.workers for path, mark in worker.marks().items()}
        edited = {
            f"Obsidian/{editor.name(note)}": editor.mark(note, version)
            for note, version in self._versions.items()
        }
        found = []
        for place, session in enumerate(self.sessions):
            until = time.monotonic() + SETTLE_SECONDS
            for path, mark in {**wanted, **edited}.items():
                while (got := _paths(session, mark)) != [path]:
                    if path in wanted or time.monotonic() > until:
                        found.append(f"process {place} finds {mark} in {got} and not in {path}")
                        break
                    time.sleep(0.1)
        return found

    def _unhealthy(self) -> list[str]:
        found = []
        for place, session in enumerate(self.sessions):
            health = session.call("server_health")
            if (health["index"]["state"], health["index"]["write_failures"]) != ("ready", 0):
                found.append(f"process {place}: {health['index']}")
            lost = [
                f"process {place}: {one['name']}{one['labels']} is {one['value']}"
                for one in session.call("get_metrics")["metrics"]
                if one["name"].endswith(("_failed_total", "_dropped_total", "_failures_total"))
                and one["value"]
            ]
            found += lost
        return found

    def _logged(self) -> list[str]:
        lines = [*self.web.errors, *(raw.decode() for pipe in self.pipes for raw in pipe.errors)]
        return [f"logged: {line.rstrip()}" for line in lines if any(word in line for word in TROUBLE)]

    def close(self) -> None:
        end(*self.servers)


def _paths(session: Session, mark: str) -> list[str]:
    return [item["path"] for item in session.call("search_text", query=mark)["items"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--http", type=int, default=16)
    parser.add_argument("--stdio", type=int, default=4)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(
            Path(folder),
            http=options.http,
            stdio=options.stdio,
            notes=options.notes,
            pause=0.05,
            plugins={},
            observability={"cloudevents": {"spool": True}},
        )
        try:
            soak.run(seconds=options.seconds)
            problems = soak.problems()
        finally:
            soak.close()
    text = report.written(soak, problems)
    if options.report:
        options.report.write_text(text)
    sys.stdout.write(text)
    return 1 if problems or report.growth_problems(soak.samples, soak.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
