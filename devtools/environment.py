"""The checkout's one environment, .venv: made when it is missing, mended when a pyproject or a pin has changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devtools.members import Member, group, members, requirement_name

_BIN, _EXE = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")


def executable(env: Path, name: str) -> Path:
    """Where an environment keeps a command."""
    return env / _BIN / (name + _EXE)


def say(text: str) -> None:
    """Tell the person at the terminal; stdout stays free for what a command prints."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Installer:
    """Makes environments and installs into them, with uv where there is one and with pip where not."""

    uv: str | None

    def create(self, env: Path, python: str, *, pip: bool = False) -> None:
        """Make an empty environment in place of whatever is there; `pip` puts pip into it where uv would not."""
        if self.uv:
            _run(
                [
                    self.uv,
                    "venv",
                    "--quiet",
                    "--clear",
                    *(["--seed"] if pip else []),
                    "--python",
                    python,
                    str(env),
                ]
            )
        else:
            _run([python, "-m", "venv", "--clear", str(env)])

    def install(self, env: Path, *arguments: str, compile_bytecode: bool = True) -> None:
        _run(
            [
                *self._command(env, "install"),
                *(["--compile-bytecode"] if self.uv and compile_bytecode else []),
                *arguments,
            ]
        )

    def uninstall(self, env: Path, *names: str) -> None:
        _run([*self._command(env, "uninstall"), *([] if self.uv else ["--yes"]), *names])

    def _command(self, env: Path, verb: str) -> list[str]:
        python = str(executable(env, "python"))
        if self.uv:
            return [self.uv, "pip", verb, "--quiet", "--python", python]
        return [python, "-m", "pip", verb, "--quiet"]


def ensure(root: Path) -> Path:
    """Make .venv agree with the tree, and return it; costs milliseconds where it already does."""
    env = root / ".venv"
    if not _is_fresh(root, env):
        with _one_at_a_time(root):
            if not _is_fresh(root, env):
                _mend(root, env)
    return env


def add_weights(root: Path) -> None:
    """Put the weights of optional models into .venv; where they cannot be had, go on without them.

    They come without what they depend on, which is a gigabyte of code to run them that nobody here uses.
    """
    env = ensure(root)
    try:
        installer(root, env).install(env, "--no-deps", *group(root, "weights"), compile_bytecode=False)
    except SystemExit as failed:
        say(f"The weights of optional models cannot be had here ({failed}); their tests are skipped.")


def installer(root: Path, env: Path) -> Installer:
    """An installer for `env`, which must exist; fetches uv into it once, where uv can be had."""
    own = executable(env, "uv")
    if own.is_file() or (found := shutil.which("uv")) is None:
        return Installer(str(own) if own.is_file() or _fetch_uv(root, env) else None)
    return Installer(found)


def _mend(root: Path, env: Path) -> None:
    if not executable(env, "python").exists():
        say(f"Making {env} ...")
        Installer(shutil.which("uv")).create(env, sys.executable, pip=True)
    tools, tree = installer(root, env), members(root)
    before, now = _stamp(env), _fingerprints(root)
    wanted = requirements(root, tree, uv=tools.uv is not None)
    now["third party"] = _digest("\n".join([now["constraints.txt"], *wanted]).encode())
    if before.get("third party") != now["third party"]:
        say("Installing what the tree depends on ...")
        tools.install(env, "--constraint", str(root / "constraints.txt"), *wanted)
    _install_members(tools, env, [m for m in tree if before.get(m.folder) != now[m.folder]])
    gone = [name for name in before.get("names", "").split() if name not in {m.name for m in tree}]
    if gone:
        tools.uninstall(env, *gone)
    now["names"] = " ".join(m.name for m in tree)
    _stamp_file(env).write_text(json.dumps(now, indent=1), encoding="utf-8")


def _install_members(tools: Installer, env: Path, changed: list[Member]) -> None:
    if not changed:
        return
    say(f"Installing {len(changed)} of this tree's distributions, editable ...")
    editable = [argument for member in changed for argument in ("--editable", str(member.path))]
    # Their dependencies and hatchling are there already: neither is looked for again, fifty times.
    tools.install(env, "--no-deps", "--no-build-isolation", *editable, compile_bytecode=False)


def requirements(root: Path, tree: list[Member], *, uv: bool = True) -> list[str]:
    """Everything from outside the tree: what members need, what their tests need, and the tools."""
    own = {member.name for member in tree}
    named = {r for member in tree for r in member.dependencies + member.test_dependencies}
    tools = group(root, "dev") + (group(root, "uv") if uv else [])
    return sorted({r for r in named if requirement_name(r) not in own} | set(tools))


def _fetch_uv(root: Path, env: Path) -> bool:
    pinned = ["--constraint", str(root / "constraints.txt")]
    uv = next(requirement for requirement in group(root, "uv") if requirement_name(requirement) == "uv")
    pip = [str(executable(env, "python")), "-m", "pip"]
    if _succeeds([*pip, "install", "--quiet", *pinned, uv]):
        if finds_packages(str(executable(env, "uv")), env, *pinned, uv):
            return True
        _succeeds([*pip, "uninstall", "--quiet", "--yes", "uv"])
    say("uv cannot be had here; going on with pip, which is slower.")
    return False


def finds_packages(uv: str, env: Path, *wanted: str) -> bool:
    """Whether this uv gets what it is asked for: mirrors and certificates that only pip was told of are unknown to it."""
    python = str(executable(env, "python"))
    return _succeeds(
        [uv, "pip", "install", "--dry-run", "--reinstall", "--no-deps", "--python", python, *wanted]
    )


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _is_fresh(root: Path, env: Path) -> bool:
    stamp = _stamp(env)
    seen = {key: value for key, value in stamp.items() if key not in ("names", "third party")}
    return bool(stamp) and seen == _fingerprints(root) and executable(env, "python").exists()


def _fingerprints(root: Path) -> dict[str, str]:
    files = {member.folder: member.pyproject for member in members(root)}
    files |= {name: root / name for name in ("constraints.txt", "pyproject.toml")}
    return {key: _digest(file.read_bytes()) for key, file in files.items()}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _stamp_file(env: Path) -> Path:
    return env / "knapper-dev.json"


def _stamp(env: Path) -> dict[str, str]:
    try:
        stamp: dict[str, str] = json.loads(_stamp_file(env).read_bytes())
    except (OSError, ValueError):
        return {}
    return stamp


def _run(command: list[str]) -> None:
    if code := subprocess.run(command, check=False).returncode:
        raise SystemExit(
            f"{Path(command[0]).name} failed with exit code {code}: {' '.join(command[1:4])} ..."
        )


@contextmanager
def _one_at_a_time(root: Path) -> Iterator[None]:
    """Two set-ups at once would install over each other."""
    try:
        import fcntl
    except ImportError:  # Windows: whoever starts two at once there waits by hand
        yield
        return
    lock = root / ".build" / "setup.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
