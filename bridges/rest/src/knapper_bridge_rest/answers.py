"""What /bridge/v1 answers with: JSON, and one shape for everything that is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from starlette.responses import Response

ERRORS = {
    400: ("Invalid request body", "INVALID_ARGUMENTS"),
    401: ("Unauthorized", "UNAUTHORIZED"),
    403: ("Forbidden", "FORBIDDEN"),
    404: ("Not found", "NOT_FOUND"),
    405: ("Method not allowed", "METHOD_NOT_ALLOWED"),
    413: ("Request body too large", "BODY_TOO_LARGE"),
    500: ("Internal server error", "EXECUTION_ERROR"),
}


class Refused(Exception):
    """A request that no tool was asked about, or that does not fit the tool it names."""

    def __init__(
        self, status: int, message: str, *, error: tuple[str, str] | None = None, details: Any = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error, self.code = error or ERRORS[status]
        self.message = message
        self.details = details

    def response(self, **headers: str) -> Response:
        body = {"error": self.error, "code": self.code, "message": self.message}
        if self.details is not None:
            body["details"] = self.details
        return json(body, self.status, **headers)


def refuse(status: int, message: str) -> Response:
    """A refusal of the server itself, in the words of this surface."""
    return Refused(status, message).response()


def json(value: Any, status: int = 200, **headers: str) -> Response:
    from starlette.responses import Response

    return Response(msgspec.json.encode(value), status, headers, media_type="application/json; charset=utf-8")


def nothing(**headers: str) -> Response:
    from starlette.responses import Response

    return Response(None, 204, headers)
