"""`knapper serve`: a vault over stdio, or over HTTP."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from knapper.config.model import Settings
    from knapper.runtime import Runtime
    from knapper.server.host import Host

USAGE = """usage: knapper serve [VAULT | CONFIG] [options]

  --config FILE        the configuration file, or a vault folder; the same as naming it first
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
# For libraries that read these when they are imported; who starts the server may say otherwise.
ENVIRONMENT = {
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # it would read every distribution's metadata
    "OPENBLAS_NUM_THREADS": "1",  # threads that wait for each other cost a short question more than they save
}
# How long a thread that computes keeps the others waiting: a call waits for its turn some three times, and Python's own
# five milliseconds would be most of what it takes beside a long query.
SWITCH_SECONDS = 0.0002
# Python looks for circles of objects whenever there are 700 more; an answer of a thousand rows is more than that, and
# what a first run of the index takes in is a million. There are hardly any circles.
NEW_OBJECTS, THEN_OLDER, THEN_ALL = 20_000, 20, 50
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
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(NEW_OBJECTS, THEN_OLDER, THEN_ALL)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if options.flags.get("transports.http.enabled") and not options.flags.get("transports.stdio"):
        return _over_http(options)
    from knapper.server.stdio import Stdio, claim

    pipes = claim()
    host, http, stdio = _host(options)
    if http and not (stdio and _is_piped(pipes[0].fileno())):
        return _over_http(options)
    if not stdio:
        sys.stderr.write("knapper: no transport is enabled; see transports.stdio and transports.http\n")
        return 1
    edge = Stdio(host, *pipes)
    if http:
        from knapper.server.beside import Beside

        edge.beside = Beside(host)
    code = edge.run()
    sys.stderr.flush()
    os._exit(code)  # threads of plugins and libraries do not keep a finished server alive


def _host(options: Options) -> tuple[Host, bool, bool]:
    """The server to be, and whether it listens to HTTP and to stdio."""
    from knapper.catalogue import Source, read
    from knapper.errors import ConfigError
    from knapper.server.host import Host

    try:
        source = Source(options.path, options.flags, os.environ)
        known = read(source)
        if known is not None:
            return Host(lambda: _open(options), known, source), known.http, known.stdio
        transports = _settings(options).transports
        return Host(lambda: _open(options), None, source), transports.http.enabled, transports.stdio
    except ConfigError:  # the client is told, by a server that cannot start
        return Host(lambda: _open(options)), False, True


def _is_piped(descriptor: int) -> bool:
    """Whether somebody is at the other end; a service's standard input is a device that is always at its end."""
    import stat

    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _over_http(options: Options) -> int:
    from knapper.errors import ConfigError, KnapperError
    from knapper.server.host import Host
    from knapper.server.http.listener import Listener

    host = Host(lambda: _open(options))
    try:
        host.load()
        if host.failure is not None:
            raise host.failure
        Listener(host).run()
    except ConfigError as error:
        sys.stderr.write("".join(f"knapper: {issue}\n" for issue in error.issues))
        return 2
    except KnapperError as error:
        sys.stderr.write(f"knapper: {error}\n")
        return 1
    finally:
        host.close()
    return 0


def _settings(options: Options) -> Settings:
    from knapper.config.load import load

    return load(options.path, options.flags).settings


def _open(options: Options) -> Runtime:
    from knapper.runtime import open_runtime
    from knapper.server.logs import configure

    settings = _settings(options)
    configure(settings)
    return open_runtime(settings, source=lambda: _settings(options))
