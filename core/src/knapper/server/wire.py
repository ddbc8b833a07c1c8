"""JSON-RPC as bytes: each message is read once and written once."""

from __future__ import annotations

from typing import Any

import msgspec

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
STOPPING = -32000
UNAUTHORISED = -32001
RESOURCE_NOT_FOUND = -32002
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

ENCODER = msgspec.json.Encoder()
Id = int | str


class ProtocolError(Exception):
    """A request that is answered with a JSON-RPC error instead of a result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            body["data"] = self.data
        return body


def decode(line: bytes) -> Any:
    """The message on a line, or the error that JSON-RPC has for what is none."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, f"Parse error: {error}") from None


def check(message: Any) -> dict[str, Any]:
    """A single message of JSON-RPC 2.0, or the error that says what it is not."""
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: a message is an object")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0"')
    if "method" not in message:
        if "result" in message or "error" in message:
            return message
        raise ProtocolError(INVALID_REQUEST, 'Invalid request: it has no "method"')
    if not isinstance(message["method"], str):
        raise ProtocolError(INVALID_REQUEST, 'Invalid request: "method" must be a string')
    if "id" in message and as_id(message["id"]) is None:
        raise ProtocolError(INVALID_REQUEST, 'Invalid request: "id" must be a string or an integer')
    if not isinstance(message.get("params", {}), dict):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: they must be an object")
    return message


def known_id(message: Any) -> Id | None:
    """The id to answer an invalid message under, where it has a usable one."""
    return as_id(message.get("id")) if isinstance(message, dict) else None


def as_id(given: Any) -> Id | None:
    """An id where the value can be one; 1.0 and true, which Python takes for 1, are none."""
    return given if isinstance(given, (int, str)) and not isinstance(given, bool) else None


def reply(id: Id | None, result: Any) -> bytes:
    return ENCODER.encode({"jsonrpc": "2.0", "id": id, "result": result})


def refusal(id: Id | None, error: ProtocolError) -> bytes:
    return ENCODER.encode({"jsonrpc": "2.0", "id": id, "error": error.body()})


def notification(method: str, params: dict[str, Any]) -> bytes:
    return ENCODER.encode({"jsonrpc": "2.0", "method": method, "params": params})


def request(id: Id, method: str, params: dict[str, Any]) -> bytes:
    return ENCODER.encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
