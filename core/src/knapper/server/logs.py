"""The server's log: on standard error, in words or as JSON, and never with a note's text in it."""

from __future__ import annotations

import logging
import sys
from typing import Any

import msgspec

QUIET = (
    "mcp",
    "uvicorn",
    "watchfiles",
    "sse_starlette",
    "httpx",
)  # what they say below a warning is about themselves


class Json(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": record.created,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def configure(settings: Any) -> None:
    """Log as the configuration says."""
    handler = logging.StreamHandler(sys.stderr)
    words = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(Json() if settings.log_format == "json" else words)
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
