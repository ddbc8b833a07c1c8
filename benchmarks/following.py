"""How soon a server sees what other programs do to its vault, with the server started as a client starts it.

    python benchmarks/following.py VAULT [--saves 60] [--checkout 5000]

VAULT is copied. Two servers share the copy over stdio. What is timed ends with an answer of the one that does not index:
a note that was saved, a `git checkout` that changes thousands, the same after the one that indexes was killed, and what
becomes of an index that is truncated, overwritten or deleted under both. An answer that is wrong ends it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST = 300.0
PAUSE, SELDOM = 0.002, 0.25  # asking all the time would take the processor from the one that indexes
SURE = 50  # what is damaged may be in memory still: so many answers in a row have to be right
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}


class Server:
    """One `knapper serve` over stdio, asked one thing at a time."""

    def __init__(self, vault: Path, cache: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "knapper",
            "serve",
            str(vault),
            "--cache-dir",
            str(cache),
            "--facade",
            "flat",
        ]
        command += ["--set", "throttle.enabled=false"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._asked = 0
        self._ask("initialize", CLIENT)

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._asked += 1
        message = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self._asked:
            pass
        return answer["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers; None where it asks to try again."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if not answer.get("isError"):
            return answer["structuredContent"]
        error = answer["content"][0]["text"]
        if "index_unavailable" in error:
            return None
        raise SystemExit(f"{tool}: {error}")

    def index(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("server_health")["index"]
        return found

    def holds(self, word: str, limit: int = 20) -> list[str] | None:
        """The notes with a word; None where the answer says that it does not cover everything."""
        answer = self.call("search_text", query=word, limit=limit)
        return (
            None if answer is None or answer.get("incomplete") else [item["path"] for item in answer["items"]]
        )


def until(true: Callable[[], bool], pause: float = PAUSE) -> float:
    """Milliseconds until something is so."""
    began = time.perf_counter()
    while not true():
        if time.perf_counter() - began > LONGEST:
            raise SystemExit("it never came about")
        time.sleep(pause)
    return (time.perf_counter() - began) * 1000


def saves(vault: Path, server: Server, count: int, notes: list[Path]) -> list[float]:
    """How long after a program has saved a note it is found, half of them saved in place, half by a rename."""
    found = []
    for number in range(count):
        note, word = notes[number % len(notes)], f"savedtoken{time.time_ns()}"
        text = note.read_text() + f"\n{word}\n"
        if number % 2:
            note.write_text(text)
        else:
            beside = note.with_name(f".{note.name}.tmp")
            beside.write_text(text)
            beside.replace(note)
        wanted = [note.relative_to(vault).as_posix()]
        found.append(until(lambda w=word, p=wanted: server.holds(w) == p))  # type: ignore[misc]
        time.sleep(0.05)  # another save is another event
    return found


def checkout(vault: Path, server: Server, count: int) -> tuple[float, float]:
    """Seconds that a `git checkout` of thousands of changed notes takes, and that the index takes after it."""

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=b", "-c", "user.email=b@b", *words],
            cwd=vault,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    git("init", "-q", "-b", "one")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-q", "-b", "two")
    changed = sorted(vault.rglob("*.md"))[:count]
    for note in changed:
        note.write_text(note.read_text() + "\nbranchtoken\n")
    git("commit", "-qam", "two")
    git("checkout", "-q", "one")
    until(lambda: server.holds("branchtoken") == [])
    began = time.perf_counter()
    git("checkout", "-q", "two")
    took = time.perf_counter() - began
    after = until(lambda: count_of(server, "branchtoken") == count, SELDOM)
    return took, after / 1000


def count_of(server: Server, word: str) -> int:
    """How many notes hold a word, through all pages."""
    found = 0
    more: dict[str, str] = {}
    while (answer := server.call("search_text", query=word, limit=1000, **more)) is not None:
        found += len(answer["items"])
        if "cursor" not in answer:
            return found
        more = {"cursor": answer["cursor"]}
    return -1


def truncate(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.truncate(20_000)


def overwrite(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.write(b"\xa5" * 200_000)


def delete(file: Path) -> None:
    for one in file.parent.glob(f"{file.name}*"):
        one.unlink()


def harm(server: Server, file: Path, how: Callable[[Path], None], total: int, common: str) -> float:
    """Seconds after which an index that was harmed answers in full; no answer before may be wrong and look right."""
    how(file)
    in_a_row = 0

    def stays() -> bool:
        nonlocal in_a_row
        in_a_row = in_a_row + 1 if _in_full(server, total, common) else 0
        return in_a_row == SURE

    return until(stays) / 1000


def _in_full(server: Server, total: int, common: str) -> bool:
    answer = server.call("list_notes", limit=1)
    if answer is None or answer.get("incomplete"):
        return False
    if answer["total_count"] != total:
        raise SystemExit(f"an answer looked right and was not: {answer['total_count']} notes of {total}")
    return bool(server.holds(common))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--saves", type=int, default=60)
    parser.add_argument("--checkout", type=int, default=5000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault, cache = Path(folder, "vault"), Path(folder, "cache")
        shutil.copytree(options.vault, vault)
        notes = sorted(vault.rglob("*.md"))
        leader = Server(vault, cache)
        until(lambda: leader.index()["notes_ready"])
        reader = Server(vault, cache)
        try:
            _measure(vault, cache, notes, leader, reader, options)
        finally:
            for server in (leader, reader):
                server.process.kill()
                server.process.wait()


def _measure(
    vault: Path, cache: Path, notes: list[Path], leader: Server, reader: Server, options: argparse.Namespace
) -> None:
    until(lambda: leader.index()["vectors_ready"])
    until(lambda: bool(leader.index().get("watching", True)))
    times = saves(vault, reader, options.saves, notes)
    print(f"a save is found after: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")
    took, after = checkout(vault, reader, min(options.checkout, len(notes)))
    print(
        f"a checkout of {min(options.checkout, len(notes)):,} notes takes git {took:.1f} s and is in the index {after:.1f} s later"
    )
    leader.process.kill()
    leader.process.wait()
    times = saves(vault, reader, 1, notes)
    print(f"a save after the process that indexes was killed is found after {times[0] / 1000:.1f} s")
    times = saves(vault, reader, options.saves, notes)
    print(f"and the next ones after: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")
    file = next(cache.rglob("index/*.db"))
    for how in (truncate, overwrite, delete):
        seconds = harm(reader, file, how, len(notes), "the")
        print(
            f"an index that is gone ({how.__name__}) under a running server answers in full after {seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
