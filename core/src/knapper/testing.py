"""pytest fixtures for plugin authors: a real vault folder, and calls through the real gates.

`vault` is a folder that reads and writes like a dict of paths and texts. `call` runs a tool of a domain through the
whole dispatch with only that domain loaded. `check_domain` says what a domain lacks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from knapper.errors import ToolError

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.dispatch.call import Outcome
    from knapper.domain import Domain
    from knapper.runtime import Runtime

os.environ.setdefault("KNAPPER_STRICT_OUTPUT_SCHEMA", "1")


class VaultFolder(MutableMapping[str, str]):
    """A real folder; what is written through it is written as another program would write it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __setitem__(self, path: str, content: str | bytes) -> None:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def __getitem__(self, path: str) -> str:
        try:
            return (self.path / path).read_bytes().decode()
        except FileNotFoundError:
            raise KeyError(path) from None

    def __delitem__(self, path: str) -> None:
        (self.path / path).unlink()

    def __iter__(self) -> Iterator[str]:
        found = (p for p in self.path.rglob("*") if p.is_file())
        return iter(sorted(p.relative_to(self.path).as_posix() for p in found))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def bytes(self, path: str) -> bytes:
        return (self.path / path).read_bytes()


class Calls:
    """Calls tools as a client would, and hands back decoded results or raises the typed error."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._folder = folder
        self._cache = cache
        self._runtimes: dict[tuple[int, ...], Runtime] = {}
        self.settings: dict[str, Any] = {}
        self.caller: Caller | None = None
        self.plugins: list[Any] = []

    def __call__(self, domain: Domain, tool: str, **arguments: Any) -> Any:
        """The tool's result as JSON, or its ToolError. A trailing underscore in a name is dropped: `from_`."""
        outcome = self.outcome(domain, tool, **arguments)
        if outcome.error is not None:
            details = outcome.error.get("details", {})
            raise ToolError(outcome.error["code"], outcome.error["message"], **details)
        value = msgspec.json.decode(outcome.payload)
        return value["result"] if domain.tools[tool].wraps else value

    def outcome(
        self, domain: Domain, tool: str, *, how: dict[str, Any] | None = None, **arguments: Any
    ) -> Outcome:
        """The whole outcome: payload, error, attachments and what was measured."""
        from knapper.caller import LOCAL, Caller

        runtime = self.runtime(domain)
        for one in runtime.vaults:
            one.index.reconcile()
        caller = self.caller or Caller("test", LOCAL, authenticated=True, session="test")
        return runtime.call(tool, {k.rstrip("_"): v for k, v in arguments.items()}, caller, **(how or {}))

    def confirmed(self, domain: Domain, tool: str, **arguments: Any) -> Any:
        """The same call with a person's approval, given the way a person gives it."""
        try:
            return self(domain, tool, **arguments)
        except ToolError as error:
            if error.code != "elicit_required":
                raise
            self.runtime(domain).approvals.approve(error.details["approval"])
        return self(domain, tool, **arguments)

    def runtime(self, *domains: Domain) -> Runtime:
        """The server behind the calls, with only these domains loaded."""
        key = tuple(id(d) for d in domains)
        if key not in self._runtimes:
            self._runtimes[key] = self._open(domains)
        return self._runtimes[key]

    def _open(self, domains: tuple[Domain, ...]) -> Runtime:
        from knapper.config.model import Settings
        from knapper.hookspecs import hookimpl
        from knapper.plugins import Plugins
        from knapper.runtime import Runtime

        class Given:
            @hookimpl
            def knapper_domains(self) -> list[Domain]:
                return list(domains)

        plugins = Plugins(strict=True)
        plugins.add(Given(), "given")
        for extra in self.plugins:
            plugins.add(extra)
        base: dict[str, Any] = {
            "vaults": [{"id": "main", "path": str(self._folder)}],
            "cache_dir": str(self._cache / str(len(self._runtimes))),
            "throttle": {"enabled": False},
            "watch": {"enabled": False},
            "index": {"processes": 1},
        }
        return Runtime(Settings.model_validate({**base, **self.settings}), plugins)

    def close(self) -> None:
        for runtime in self._runtimes.values():
            runtime.close()


@pytest.fixture
def vault(tmp_path: Path) -> VaultFolder:
    """An empty vault folder that reads and writes like a dict."""
    folder = tmp_path / "vault"
    folder.mkdir()
    return VaultFolder(folder)


@pytest.fixture
def call(vault: VaultFolder, tmp_path: Path) -> Iterator[Calls]:
    """Calls through the real dispatch: `call(domain, "tool", path="a.md")`."""
    calls = Calls(vault.path, tmp_path / "cache")
    yield calls
    calls.close()


def check_domain(domain: Domain) -> None:
    """Fail with what a domain lacks: docs, scopes, path types, portable schemas."""
    from knapper.lint import problems

    found = problems(domain)
    if found:
        pytest.fail("\n".join(found), pytrace=False)
