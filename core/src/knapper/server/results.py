"""A tool's outcome as the protocol sends it: text, structured content, pictures, links, or the error."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from knapper.context import Embedded, Image
from knapper.errors import CODES
from knapper.server import eras
from knapper.server.wire import ProtocolError

if TYPE_CHECKING:
    from knapper.context import Attachment
    from knapper.dispatch.call import Outcome
    from knapper.errors import Refusal

MOST_ISSUES = 5


def of_outcome(outcome: Outcome, version: str) -> dict[str, Any]:
    """The result of tools/call; the payload goes in as the bytes it already is."""
    if outcome.error is not None:
        if outcome.refusal is not None:
            raise refused(outcome.error, outcome.refusal)
        return failure(outcome.error)
    content: list[dict[str, Any]] = [{"type": "text", "text": outcome.payload.decode()}]
    content += [_content(item, version, outcome.vault) for item in outcome.attachments]
    return {"content": content, "structuredContent": msgspec.Raw(outcome.payload), "isError": False}


def failure(error: dict[str, Any]) -> dict[str, Any]:
    """An error that the model reads; a contract that publishes a number for it gets it as a JSON-RPC error."""
    known = CODES.get(error["code"])
    if known is not None and known.number is not None:
        data = {"errorCode": error["code"], "retryable": error["retryable"]}
        raise ProtocolError(known.number, error["message"], data | {"details": error.get("details", {})})
    return {
        "content": [{"type": "text", "text": error_text(error)}],
        "structuredContent": error,
        "isError": True,
    }


def refused(error: dict[str, Any], refusal: Refusal) -> ProtocolError:
    """An error as the contract of its tool publishes it: a number, and a name in the data beside the details."""
    data = {
        **error.get("details", {}),
        **{k: error[k] for k in ("code", "retryable", "recovery") if k in error},
    }
    data["errorCode"] = refusal.name or error["code"].upper()
    return ProtocolError(refusal.number, error["message"], data)


def error_text(error: dict[str, Any]) -> str:
    """The error in words, since many clients show a model nothing else."""
    retryable = " (retryable)" if error["retryable"] else ""
    lines = [f"Error [{error['code']}]: {error['message']}{retryable}"]
    details = error.get("details", {})
    if issues := details.get("issues"):
        rest = [text for text in map(_issue, issues) if text not in error["message"]]
    else:
        rest = [str(one) for one in details.get("candidates") or details.get("suggestions") or []]
    lines += [f"- {text}" for text in rest[:MOST_ISSUES]]
    if len(rest) > MOST_ISSUES:
        lines.append(f"…and {len(rest) - MOST_ISSUES} more")
    if "incomplete" in details:
        lines.append(str(details["incomplete"]))
    if "recovery" in error:
        lines.append(error["recovery"])
    return "\n".join(lines)


def _issue(issue: Any) -> str:
    if isinstance(issue, dict) and "field" in issue:
        return f"{issue['field']}: {issue.get('message', '')}"
    return str(issue)


def _content(item: Attachment, version: str, vault: str) -> dict[str, Any]:
    if isinstance(item, Image):
        kind = "audio" if item.mime.startswith("audio/") else "image"
        return {"type": kind, "data": base64.b64encode(item.data).decode(), "mimeType": item.mime}
    if isinstance(item, Embedded):
        return embedded(item)
    uri = uri_of(vault, item.path)
    if not eras.knows_links(version):
        return {"type": "text", "text": uri}
    return {"type": "resource_link", "uri": uri, "name": item.path, "mimeType": item.mime}


def embedded(item: Embedded) -> dict[str, Any]:
    """A content under an address of its own, as the protocol embeds it."""
    if isinstance(item.content, str):
        body = {"text": item.content}
    else:
        body = {"blob": base64.b64encode(item.content).decode()}
    return {"type": "resource", "resource": {"uri": item.uri, "mimeType": item.mime, **body}}


def uri_of(vault: str, path: str) -> str:
    """The address of a vault's file as a resource."""
    return f"knapper://{vault}/{quote(path, safe='/')}"
