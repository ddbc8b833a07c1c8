"""Scripts while the server runs: looked at several times a second, loaded when they are trusted, gone when they are not."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from knapper import Tool, ToolError
from knapper.runtime import Runtime
from knapper.vault.files import Entry
from knapper.vaults import Vault
from knapper_scripts import files, making
from knapper_scripts.domain import ScriptSettings, log, scripts
from knapper_scripts.trust import Key, Trust

LOOK_SECONDS = 0.25


class Script(NamedTuple):
    """What became of a file: a tool, or a reason why there is none. Looked at again when the file or its trust changes."""

    seen: Entry | None
    trusted: str | None
    tool: Tool | None = None
    level: int = logging.DEBUG
    said: str = ""


class Loader:
    """The scripts of all vaults of one server."""

    def __init__(self, runtime: Runtime, settings: ScriptSettings) -> None:
        self._runtime = runtime
        self._settings = settings
        self._trust = Trust(runtime.state)
        self._scripts: dict[Key, Script] = {}
        self._said: dict[Key, str] = {}

    def look(self) -> None:
        """Bring the tools level with the files and with what is trusted."""
        trusted, before = self._trust.hashes(), self._scripts
        self._scripts = {
            key: self._kept(key, entry, trusted.get(key)) or self._loaded(vault, entry, trusted.get(key))
            for vault in self._runtime.vaults
            for entry in files.found(vault.disk, self._settings.of(vault.id))
            for key in [(vault.id, entry.path)]
        }
        tools, late = self._named()
        self._runtime.offer(scripts, tools.values())
        self._say(late)
        _drop(_modules(before) - _modules(self._scripts))

    def close(self) -> None:
        """Let go of every script."""
        _drop(_modules(self._scripts))

    def _kept(self, key: Key, entry: Entry, trusted: str | None) -> Script | None:
        known = self._scripts.get(key)
        return known if known and known.seen == entry and known.trusted == trusted else None

    def _loaded(self, vault: Vault, entry: Entry, trusted: str | None) -> Script:
        try:
            source = files.read(vault.disk, entry.path)
        except ToolError as error:
            return Script(None, trusted, level=logging.WARNING, said=f"cannot be read: {error.message}")
        known = self._scripts.get((vault.id, entry.path))
        if known and known.tool and known.trusted == trusted == source.hash:
            return known._replace(seen=entry)  # only touched: nothing to execute again
        if not source.has_tool:
            return Script(entry, trusted)
        if source.hash != trusted:
            why = "has changed since it was trusted" if trusted else "is not trusted"
            return Script(entry, trusted, level=logging.WARNING, said=f"{why}; see `knapper scripts`")
        try:
            name = files.tool_name(entry.path, self._settings.of(vault.id))
            tool = making.make(source, vault.id, name)
        except making.Broken as error:
            return Script(entry, trusted, level=logging.ERROR, said=f"is broken: {error}")
        return Script(entry, trusted, tool, logging.INFO, f"is the tool {name!r}")

    def _named(self) -> tuple[dict[str, Tool], set[Key]]:
        """One tool a name, that of the first script that has it, if no plugin does; and the scripts that came too late."""
        tools: dict[str, Tool] = {}
        late: set[Key] = set()
        for key, script in self._scripts.items():
            tool = script.tool
            if tool is None:
                continue
            if tool.name in tools or not self._runtime.free_name(tool.name, scripts):
                late.add(key)
            else:
                tools[tool.name] = tool
        return tools, late

    def _say(self, late: set[Key]) -> None:
        """Log what is new; a file that is no tool is not mentioned."""
        said = {}
        for key, (_, _, tool, level, text) in self._scripts.items():
            if key in late and tool is not None:
                level, text = logging.ERROR, f"would be the tool {tool.name!r}, which is there already"
            if text and self._said.get(key) != text:
                log.log(level, "script %s of vault %s %s", key[1], key[0], text)
            said[key] = text
        self._said = said


def _modules(found: dict[Key, Script]) -> set[str]:
    return {
        making.module_name(one.tool.home, one.tool.name, one.trusted or "")
        for one in found.values()
        if one.tool
    }


def _drop(modules: set[str]) -> None:
    for module in modules:
        sys.modules.pop(module, None)


@contextmanager
def running(runtime: Runtime) -> Iterator[None]:
    """Follow the scripts for as long as the server runs, where the configuration wants them at all."""
    settings: ScriptSettings = runtime.section(scripts)
    if not settings.enabled:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(
        target=_follow, args=(Loader(runtime, settings), stop), name="scripts", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(making.LOAD_SECONDS)


def _follow(loader: Loader, stop: threading.Event) -> None:
    """Look until the server stops; what fails in a look is said once, and tried again."""
    failure = ""
    while not stop.is_set():
        try:
            loader.look()
            failure = ""
        except Exception as error:  # noqa: BLE001 (a disk or a database may fail in any way, and come back)
            if failure != (failure := repr(error)):
                log.exception("the scripts could not be looked at")
        stop.wait(LOOK_SECONDS)
    loader.close()
