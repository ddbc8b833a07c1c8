"""A vault on disk with its door, and a way to die in the middle of a change."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from knapper.errors import ToolError
from knapper.vault.acl import Acl
from knapper.vault.disk import Disk
from knapper.vault.door import Door
from knapper.vault.files import Before, Change
from knapper.vault.journal import Journal

NOON = 1_780_000_000.0  # 2026-05-28


@dataclass
class World:
    root: Path
    cache: Path
    portable: bool = False
    befores: list[Before] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.disk = Disk(self.root, portable=self.portable)
        self.journal = Journal(self.cache, "home")

    def door(self, acl: Acl | None = None, **more: Any) -> Door:
        given: dict[str, Any] = {
            "before": self.befores.extend,
            "changed": self.changes.extend,
            "clock": lambda: NOON,
        }
        return Door("home", "Home", self.disk, acl or Acl(), self.journal, **(given | more))

    def files(self) -> dict[str, str]:
        """All files of the vault but what is hidden, by path."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes().decode()
            for path in self.root.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(self.root).parts)
        }

    def litter(self) -> list[str]:
        return [path.name for path in self.root.rglob(".knapper-*")]


@pytest.fixture(params=["posix", "portable"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return World(tmp_path / "Vault", tmp_path / "cache", request.param == "portable")


@pytest.fixture
def make_world() -> Callable[..., World]:
    return World


@pytest.fixture
def code() -> Callable[[Callable[[], object]], str]:
    """The code of the ToolError that a call raises; `ok` where it raises none."""

    def run(act: Callable[[], object]) -> str:
        try:
            act()
        except ToolError as error:
            return error.code
        return "ok"

    return run


@pytest.fixture
def dies() -> Callable[..., bool]:
    """Run an act in a child process that dies, without any clean-up, at the nth change it makes on disk."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")

    def run(act: Callable[[], object], at: int, armed_by: str = "") -> bool:
        child = os.fork()
        if child == 0:
            try:
                sys.addaudithook(_Bomb(at, armed_by))
                act()
            except BaseException:  # noqa: BLE001 (a child must not return into pytest)
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 9)
        return status == 9

    return run


class _Bomb:
    """Counts the changes that a process makes on disk and ends it before the nth."""

    def __init__(self, at: int, armed_by: str) -> None:
        self._left = at
        self._armed_by = armed_by

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if not _changes_something(event, args):
            return
        if self._armed_by:
            if any(str(arg).endswith(self._armed_by) for arg in args):
                self._armed_by = ""
            return
        self._left -= 1
        if self._left < 0:
            os._exit(9)


def _changes_something(event: str, args: tuple[object, ...]) -> bool:
    if event == "open":
        flags = args[2]
        return isinstance(flags, int) and bool(flags & os.O_EXCL)
    return event in ("os.rename", "os.remove", "os.mkdir", "os.link")
