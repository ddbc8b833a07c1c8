"""What a server can say before its plugins are loaded, kept from the start before.

It is kept beside the index and holds for one configuration on one set of installed distributions. Anything that could
change the answer changes the key or one of the files it names, and then it is made anew: distributions that come, go or
are upgraded, the source of an editable plugin or of the core, the configuration, its environment and the command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.config.paths import data_dir, find, folder_for, located

if TYPE_CHECKING:
    from knapper.runtime import Runtime

FORMAT = 1
INSTALLED = (".dist-info", ".egg-info", ".egg-link", ".pth")
Stamp = tuple[str, int, int]  # a file, when it was changed, how large it is


class Catalogue(msgspec.Struct):
    """What initialize, server/discover and tools/list answer for the local user, and where to listen."""

    min_protocol_version: str | None
    instructions: str
    tools: list[bytes]
    stdio: bool
    http: bool
    key: str = ""
    files: list[Stamp] = []


class Source:
    """What a server was started with, and where its catalogue belongs."""

    def __init__(self, path: str | None, flags: Mapping[str, Any], env: Mapping[str, str]) -> None:
        self.env = {name: value for name, value in env.items() if name.startswith("KNAPPER_")}
        self.flags = dict(flags)
        self.config = find(path, env)
        self.text = self.config.read_bytes() if self.config is not None and self.config.is_file() else b""

    @property
    def file(self) -> Path:
        """One file for each way of starting, so that two clients with two ways do not displace each other."""
        way = msgspec.json.encode([str(self.config), self.flags, self.env, sys.prefix], order="deterministic")
        return self._folder() / f"catalogue-{sha256(way).hexdigest()[:12]}.bin"

    def key(self) -> str:
        """Equal as long as nothing changed but, perhaps, the files that a catalogue names."""
        facts = [FORMAT, sys.version, sys.prefix, str(self.config), self.flags, self.env, list(_installed())]
        return sha256(msgspec.json.encode(facts, order="deterministic") + self.text).hexdigest()

    def _folder(self) -> Path:
        named = self.flags.get("cache_dir") or self.env.get("KNAPPER_CACHE_DIR") or self._named_in_file()
        if named is not None:
            return located(msgspec.defstruct("Named", ["cache_dir"])(str(named)))
        if self.config is not None and self.config.is_dir():
            return folder_for(self.config)
        return data_dir()

    def _named_in_file(self) -> Any:
        """The configured folder, without a look at what else the file holds."""
        if b"cache_dir" not in self.text and b"cacheDir" not in self.text:
            return None
        assert self.config is not None
        if self.config.suffix == ".json":
            settings = msgspec.json.decode(self.text.removeprefix(b"\xef\xbb\xbf"))
        else:
            import tomllib

            settings = tomllib.loads(self.text.removeprefix(b"\xef\xbb\xbf").decode())
        return settings.get("cache_dir", settings.get("cacheDir"))


def read(source: Source) -> Catalogue | None:
    """The catalogue that was kept, if nothing that it rests on has changed."""
    try:
        kept = msgspec.msgpack.decode(source.file.read_bytes(), type=Catalogue)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    if kept.key != source.key() or any(_stamp(path) != (path, at, size) for path, at, size in kept.files):
        return None
    return kept


def build(runtime: Runtime) -> Catalogue:
    """The catalogue of a loaded server."""
    from knapper.caller import LOCAL, Caller
    from knapper.server.facade import items
    from knapper.server.instructions import text

    settings = runtime.settings
    return Catalogue(
        min_protocol_version=settings.mcp.min_protocol_version,
        instructions=text(settings),
        tools=items(runtime, Caller("stdio", LOCAL, authenticated=True)),
        stdio=settings.transports.stdio,
        http=settings.transports.http.enabled,
    )


def keep(made: Catalogue, source: Source, runtime: Runtime, key: str, since: float) -> bool:
    """Keep a catalogue for the next start: not where a plugin failed, nor where something changed while it loaded."""
    if runtime.registry.plugins.failed or key != source.key():
        return False
    packages = {"knapper", *(plugin.module.partition(".")[0] for plugin in runtime.registry.plugins.all)}
    files = sorted({stamp for path in _sources(packages) if (stamp := _stamp(path)) is not None})
    if any(at >= since * 1e9 for _, at, _ in files):
        return False
    file = source.file
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(msgspec.msgpack.encode(msgspec.structs.replace(made, key=key, files=files)))
    part.replace(file)
    return True


def _installed() -> Iterator[tuple[str, str, int]]:
    """Every installed distribution, by the names and times of what installers write beside the modules."""
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                found = [(e.name, e.stat().st_mtime_ns) for e in entries if e.name.endswith(INSTALLED)]
        except OSError:
            continue
        yield from ((folder, name, at) for name, at in sorted(found))


def _sources(packages: set[str]) -> Iterator[str]:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name.partition(".")[0] in packages:
            yield file


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (several hundred of them)
    except OSError:
        return None
    return path, found.st_mtime_ns, found.st_size
