"""What the proxy is told: the command line first, then the environment, then the defaults."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn
from urllib.parse import urlsplit

USAGE = """usage: knapper-stdio [options]

  --url URL            the host's MCP endpoint (http://127.0.0.1:8765/mcp)
  --transport NAME     how to talk to it: auto, mcp or v1 (auto)
  --api-key-env NAME   the variable that holds the host's key (KNAPPER_STDIO_API_KEY)
  --poll SECONDS       how often the host's tools are compared with those shown (5)
  --timeout SECONDS    how long a call may stay without a word from the host (600)
  --cache-dir FOLDER   where the last known tools are kept
  --version            say which version this is
"""
HOST, PORT, PATH = "127.0.0.1", 8765, "/mcp"
TRANSPORTS = ("auto", "mcp", "v1")
POLL_SECONDS, CALL_SECONDS = 5.0, 600.0
PREFIXES = ("KNAPPER_STDIO_", "OBSIDIAN_MCP_")  # the second is another bridge's, whose users may keep it
NAMES = ("--url", "--transport", "--api-key-env", "--poll", "--timeout", "--cache-dir")


class Options(NamedTuple):
    """Where the host is, how it is talked to, and how patiently."""

    url: str = f"http://{HOST}:{PORT}{PATH}"
    transport: str = "auto"
    api_key: str = ""
    poll_seconds: float = POLL_SECONDS
    call_seconds: float = CALL_SECONDS
    cache_dir: str | None = None

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


def note(text: str) -> None:
    """Say something to whoever reads the log; standard output is the protocol's."""
    sys.stderr.write(f"knapper-stdio: {text}\n")
    sys.stderr.flush()


def read(arguments: list[str], env: Mapping[str, str], note: Callable[[str], None] = note) -> Options:
    """The options; a value that cannot be used is noted and its default taken, an unknown option ends the program."""
    given = _given(arguments)
    key_name = given.get("--api-key-env")
    if key_name is not None and not env.get(key_name):
        note(f"the variable {key_name} of --api-key-env is not set; no key is sent")
    return Options(
        url=_url(given["--url"]) if "--url" in given else _address(env, note),
        transport=_transport(given.get("--transport") or _variable(env, "TRANSPORT"), note),
        api_key=_key(env.get(key_name, "") if key_name is not None else _variable(env, "API_KEY"), note),
        poll_seconds=_seconds("--poll", given.get("--poll"), POLL_SECONDS, note),
        call_seconds=_seconds("--timeout", given.get("--timeout"), CALL_SECONDS, note),
        cache_dir=given.get("--cache-dir") or env.get("KNAPPER_CACHE_DIR") or None,
    )


def _given(arguments: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            sys.stderr.write(USAGE)
            raise SystemExit(0)
        if word == "--version":
            from knapper import __version__

            sys.stdout.write(f"knapper-stdio {__version__}\n")
            raise SystemExit(0)
        if name not in NAMES:
            _usage(f"what is {word!r}?")
        found = value if equals else next(rest, None)
        if not found:
            _usage(f"{name} needs a value")
        given[name] = found
    return given


def _usage(problem: str) -> NoReturn:
    sys.stderr.write(f"knapper-stdio: {problem}\n{USAGE}")
    raise SystemExit(2)


def _variable(env: Mapping[str, str], name: str) -> str:
    return next((value for prefix in PREFIXES if (value := env.get(prefix + name, "").strip())), "")


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        named = parts.hostname and "@" not in parts.netloc  # a password would end up in the log
        usable = parts.scheme in ("http", "https") and named and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        _usage(f"{text!r} is not an address such as http://{HOST}:{PORT}{PATH}")
    return text if parts.path.strip("/") else f"{parts.scheme}://{parts.netloc}{PATH}"


def _address(env: Mapping[str, str], note: Callable[[str], None]) -> str:
    host = _variable(env, "HOST") or HOST
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"http://{name}:{_port(_variable(env, 'PORT'), note)}{PATH}"


def _port(text: str, note: Callable[[str], None]) -> int:
    if text and not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) < 65_536):
        note(f"{text!r} is not a port; {PORT} is used")
        return PORT
    return int(text) if text else PORT


def _key(text: str, note: Callable[[str], None]) -> str:
    if not (text.strip().isascii() and text.strip().isprintable()):
        note("the key has characters that no header can carry; no key is sent")
        return ""
    return text.strip()


def _transport(text: str, note: Callable[[str], None]) -> str:
    if text and text.lower() not in TRANSPORTS:
        note(f"{text!r} is not a transport ({', '.join(TRANSPORTS)}); {TRANSPORTS[0]} is used")
        return TRANSPORTS[0]
    return text.lower() or TRANSPORTS[0]


def _seconds(name: str, text: str | None, default: float, note: Callable[[str], None]) -> float:
    try:
        found = float(text) if text is not None else default
    except ValueError:
        found = 0.0
    if not 0.01 <= found <= 86_400:
        note(f"{text!r} is no number of seconds for {name}; {default:g} is used")
        return default
    return found
