"""The server's log: on standard error, in words or as JSON, and never with a note's text, a query, a key or a path in it.

Our own messages are written so. What they quote is not: an error holds whatever it met, so of every exception only the
kind and the places it went through are told, and of other libraries' messages only where they were said.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

import msgspec

from knapper.config.paths import expanded, located
from knapper.errors import ToolError

OURS = "knapper"
PLAIN = ("uvicorn", "watchfiles")  # libraries that speak of sockets and watches, and of nothing they carry
MOST_PLACES = 20
# Two or more parts after a root, and no address: "http://host/a/b" and "/mcp" are none.
ABSOLUTE = re.compile(r"""(?<![\w:/\\.\]])(?:[A-Za-z]:)?[\\/](?:[^\s'"<>|:,;()\\/]+[\\/])+[^\s'"<>|:,;()]*""")
log = logging.getLogger("knapper")


class Reduced(logging.Formatter):
    """A record in words that may be shown to anybody."""

    def __init__(self, roots: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._roots = tuple(sorted(filter(None, roots), key=len, reverse=True))

    def format(self, record: logging.LogRecord) -> str:
        raised = self.raised(record)
        more = f" ({raised['type']} at {' > '.join(raised['at'])})" if raised else ""
        return f"{self.formatTime(record)} {record.levelname} {record.name}: {self.message(record)}{more}"

    def message(self, record: logging.LogRecord) -> str:
        library = record.name.partition(".")[0]
        if not library.startswith(OURS) and library not in PLAIN:
            return f"said at {record.module}:{record.lineno}"
        arguments = record.args
        if isinstance(arguments, tuple):
            arguments = tuple(map(_said, arguments))
        elif isinstance(arguments, Mapping):
            arguments = {name: _said(value) for name, value in arguments.items()}
        text = str(record.msg) % arguments if arguments else str(record.msg)
        for root in self._roots:
            text = text.replace(root, "…")
        return ABSOLUTE.sub("…", text)

    def raised(self, record: logging.LogRecord) -> dict[str, Any] | None:
        """The kind of an exception, and the places it went through, without what it says."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return None
        kinds = [_said(one) for one in _chain(error)]
        return {"type": " from ".join(kinds), "at": list(_places(error.__traceback__))[-MOST_PLACES:]}


class Json(Reduced):
    """One object a line, with the fields of a message beside it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": record.created,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.message(record),
            **getattr(record, "fields", {}),
        }
        raised = self.raised(record)
        if raised is not None:
            line["exception"] = raised
        return msgspec.json.encode(line).decode()


def _said(argument: Any) -> Any:
    """An argument of a message; an error's own words may quote a note."""
    if isinstance(argument, ToolError):
        return f"ToolError {argument.code}"
    return type(argument).__name__ if isinstance(argument, BaseException) else argument


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _places(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        frame = traceback.tb_frame
        yield f"{frame.f_globals.get('__name__', '?')}:{traceback.tb_lineno} {frame.f_code.co_name}"
        traceback = traceback.tb_next


def _worth_it(record: logging.LogRecord) -> bool:
    """What other libraries say below a warning is about themselves."""
    return record.levelno >= logging.WARNING or record.name.startswith(OURS)


def configure(settings: Any) -> None:
    """Log as the configuration says, whoever logs, warns, or ends a thread with an exception."""
    watched = settings.observability
    roots = [str(located(settings)), *(str(expanded(vault.path)) for vault in settings.vaults)]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter((Json if watched.log_format == "json" else Reduced)(tuple(roots)))
    handler.addFilter(_worth_it)
    logging.basicConfig(handlers=[handler], level=watched.log_level.upper(), force=True)
    logging.captureWarnings(True)
    threading.excepthook = _thread_ended
    sys.excepthook = _ended(sys.excepthook)


def _thread_ended(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not issubclass(ended.exc_type, SystemExit):
        log.error(
            "the thread %s ended",
            ended.thread.name if ended.thread else "?",
            exc_info=(ended.exc_type, ended.exc_value, ended.exc_traceback),
        )


def _ended(before: Callable[..., Any]) -> Callable[..., Any]:
    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if issubclass(kind, Exception):
            log.critical("the server ended", exc_info=(kind, error, traceback))
        else:
            before(kind, error, traceback)

    return hook
