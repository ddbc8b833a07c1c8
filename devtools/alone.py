"""Each distribution alone: its wheel, the core's and nothing else of this tree, in a fresh environment; its tests pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from devtools import environment
from devtools.environment import Installer, executable, say
from devtools.members import Member, group, members, siblings


@dataclass
class Outcome:
    """What came of one distribution's tests."""

    name: str
    passed: bool
    output: str
    seconds: float

    @property
    def line(self) -> str:
        last = self.output.strip().rpartition("\n")[2].strip("= ")
        return f"{'ok    ' if self.passed else 'FAILED'} {self.name:32} {self.seconds:5.1f} s   {last}"


@dataclass
class Bench:
    """What all the runs share: the wheels, the installer, and as many environments as run at once.

    The environments keep their paths from one distribution to the next, so that bytecode, kept apart by
    PYTHONPYCACHEPREFIX, is compiled once a run and not once a distribution.
    """

    root: Path
    python: Path
    tools: Installer
    wheels: dict[str, Path]
    tree: list[Member]
    free: SimpleQueue[Path] = field(default_factory=SimpleQueue)

    @property
    def scratch(self) -> Path:
        return self.root / ".build" / "alone"

    def test(self, member: Member) -> Outcome:
        """Install the member alone and run its tests."""
        start = time.monotonic()
        with self._environment() as env:
            passed, output = self._install_and_test(member, env)
        return Outcome(member.name, passed, output, time.monotonic() - start)

    def _install_and_test(self, member: Member, env: Path) -> tuple[bool, str]:
        try:
            self.tools.create(env, str(self.python))
            self.tools.install(env, *self._requirements(member), compile_bytecode=False)
        except SystemExit as error:
            return False, f"cannot be installed: {error}"
        command = [
            str(executable(env, "python")),
            "-P",
            "-m",
            "pytest",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
        ]
        done = subprocess.run(
            [*command, str(member.tests)],
            cwd=self.root,
            env=self._variables(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode == 0, done.stdout

    def _requirements(self, member: Member) -> list[str]:
        extra = "[test]" if member.test_dependencies else ""
        own = [
            f"{m.name}{extra if m is member else ''} @ {self.wheels[m.name].as_uri()}"
            for m in siblings(member, self.tree)
        ]
        return ["--constraint", str(self.root / "constraints.txt"), *own, *group(self.root, "test")]

    def _variables(self, env: Path) -> dict[str, str]:
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("KNAPPER_", "PYTHON", "VIRTUAL_ENV"))
        }
        path = os.pathsep.join([str(executable(env, "python").parent), kept.get("PATH", "")])
        return kept | {"PATH": path, "PYTHONPYCACHEPREFIX": str(self.scratch / "bytecode")}

    @contextmanager
    def _environment(self) -> Iterator[Path]:
        env = self.free.get()
        try:
            yield env
        finally:
            self.free.put(env)


def run(root: Path, names: list[str]) -> int:
    """Test the named distributions alone, or all of them; the exit code says whether all passed."""
    env, tree = environment.ensure(root), members(root)
    chosen = [choose(tree, name) for name in names] or tree
    python = executable(env, "python")
    bench = Bench(root, python, environment.installer(root, env), build_wheels(root, python, tree), tree)
    shutil.rmtree(bench.scratch, ignore_errors=True)
    workers = min(os.cpu_count() or 1, len(chosen))
    for number in range(workers):
        bench.free.put(bench.scratch / f"env{number}")
    with ThreadPoolExecutor(workers) as pool:
        failed = [outcome.name for outcome in pool.map(bench.test, chosen) if not _report(outcome)]
    say(
        f"{len(chosen) - len(failed)} of {len(chosen)} distributions pass alone."
        + (f" Failed: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


def choose(tree: list[Member], name: str) -> Member:
    """The member that goes by that name: its distribution's, its entry point's or its folder's."""
    for member in tree:
        if name.rstrip("/") in (member.name, member.slug, member.folder):
            return member
    raise SystemExit(f"no distribution is called {name!r}; there are: {', '.join(m.slug for m in tree)}")


def build_wheels(root: Path, python: Path, tree: list[Member]) -> dict[str, Path]:
    """Build the wheel of every member into a folder of its own."""
    out = root / ".build" / "wheels"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    command = [str(python), "-m", "devtools.builds", str(out), *(str(member.path) for member in tree)]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit("a wheel could not be built")
    return {member.name: Path(line) for member, line in zip(tree, done.stdout.split("\n"), strict=False)}


def _report(outcome: Outcome) -> bool:
    if not outcome.passed:
        say(outcome.output)
    say(outcome.line)
    return outcome.passed
