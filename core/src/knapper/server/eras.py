"""The revisions of the protocol, and what changed between them."""

from __future__ import annotations

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # agreed on once, by `initialize`
MODERN = ("2026-07-28",)  # said anew in the `_meta` of every request
LATEST_HANDSHAKE = HANDSHAKE[-1]
LATEST = MODERN[-1]

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def takes_batches(version: str | None) -> bool:
    """Batches came with JSON-RPC itself and went with 2025-06-18."""
    return version in ("2024-11-05", "2025-03-26")


def knows_links(version: str) -> bool:
    """Whether a client of this revision understands resource links among a tool's content."""
    return version >= "2025-06-18"


def knows_elicitation(version: str) -> bool:
    return version >= "2025-06-18"


def has_envelope(params: object) -> bool:
    """Whether a request carries the envelope of the modern revisions; its version key alone decides."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION in meta
