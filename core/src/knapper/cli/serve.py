"""`knapper serve`: a vault over stdio, or over HTTP."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from knapper.config.model import Settings
    from knapper.runtime import Runtime

USAGE = """usage: knapper serve [VAULT | CONFIG] [options]

  --config FILE        the configuration file, or a vault folder
  --http               serve over HTTP instead of stdio
  --host HOST          the address to listen on (127.0.0.1); implies --http
  --port PORT          the port to listen on (8765; 0 takes a free one); implies --http
  --facade MODE        what tools/list shows: triad, domain or flat
  --read-only          refuse every change
  --cache-dir FOLDER   where the index and the state are kept
  --log-level LEVEL    debug, info, warning or error
  --strict             stop where a plugin cannot be used
  --set KEY=VALUE      any setting, by its dotted name
"""
VALUES = {
    "--host": "transports.http.host",
    "--port": "transports.http.port",
    "--facade": "tool_facade.mode",
    "--cache-dir": "cache_dir",
    "--log-level": "observability.log_level",
}
SWITCHES = {"--http": "transports.http.enabled", "--read-only": "acl.read_only", "--strict": "plugins.strict"}


class Options:
    """What was asked for: where the configuration is, and which settings the command line sets."""

    def __init__(self, arguments: list[str]) -> None:
        self.path: str | None = None
        self.flags: dict[str, Any] = {}
        rest = iter(arguments)
        for word in rest:
            name, equals, value = word.partition("=")
            if name in SWITCHES and not equals:
                self.flags[SWITCHES[name]] = True
            elif name in VALUES or name in ("--set", "--config"):
                given = value if equals else next(rest, None)
                if given is None:
                    _usage(f"{name} needs a value")
                self._set(name, given)
            elif word.startswith("-") or self.path is not None:
                _usage(f"what is {word!r}?")
            else:
                self.path = word
        if {"transports.http.host", "transports.http.port"} & self.flags.keys():
            self.flags["transports.http.enabled"] = True
        if self.flags.get("transports.http.enabled"):
            self.flags.setdefault("transports.stdio", False)

    def _set(self, name: str, given: str) -> None:
        if name == "--config":
            self.path = given
        elif name == "--set":
            key, equals, value = given.partition("=")
            if not equals:
                _usage("--set needs KEY=VALUE")
            self.flags[key] = _literal(value)
        else:
            self.flags[VALUES[name]] = _literal(given) if name == "--port" else given


def _literal(value: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


def _usage(problem: str) -> NoReturn:
    sys.stderr.write(f"knapper: {problem}\n{USAGE}")
    raise SystemExit(2)


def serve(arguments: list[str]) -> int:
    """Serve until the client leaves or the process is stopped."""
    options = Options(arguments)
    if options.flags.get("transports.http.enabled") and not options.flags.get("transports.stdio"):
        return _over_http(options)
    from knapper.server.stdio import Stdio, claim

    pipes = claim()
    from knapper.catalogue import Source, read
    from knapper.errors import ConfigError
    from knapper.server.host import Host

    try:
        source = Source(options.path, options.flags, os.environ)
        known = read(source)
        host = Host(lambda: _open(options), known, source)
    except ConfigError:
        known, host = (
            None,
            Host(lambda: _open(options)),
        )  # which fails in the same way, and is told to the client
    code = Stdio(host, *pipes).run()
    sys.stderr.flush()
    os._exit(code)  # threads of plugins and libraries do not keep a finished server alive


def _over_http(options: Options) -> int:
    raise SystemExit("knapper: HTTP is not there yet")


def _open(options: Options) -> Runtime:
    from knapper.config.load import load
    from knapper.runtime import open_runtime

    def read() -> Settings:
        return load(options.path, options.flags).settings

    return open_runtime(read(), source=read)
