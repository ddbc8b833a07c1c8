"""The vault's files as resources, `knapper://vault/path`, and what domains offer under addresses of their own."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urlsplit

from knapper.context import Context
from knapper.domain import Resource
from knapper.errors import ToolError
from knapper.page import Record
from knapper.params import ReadPath
from knapper.server.exchange import Exchange
from knapper.server.listing import cacheable
from knapper.server.results import uri_of
from knapper.server.surface import core, governed, through_gates
from knapper.server.wire import INVALID_PARAMS, ProtocolError

PAGE = 500
NOTES = ("md", "markdown")
TYPES = {  # what besides notes may be read: the kinds of files that Obsidian shows
    "base": "text/yaml", "canvas": "application/json", "pdf": "application/pdf",
    "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "png": "image/png", "svg": "image/svg+xml", "webp": "image/webp",
    "flac": "audio/flac", "m4a": "audio/mp4", "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav",
    "mkv": "video/x-matroska", "mov": "video/quicktime", "mp4": "video/mp4", "ogv": "video/ogg", "webm": "video/webm",
}  # fmt: skip
TEMPLATE = {
    "uriTemplate": "knapper://{vault}/{+path}",
    "name": "file",
    "title": "File of a vault",
    "description": "A note or attachment by its path.",
}


class Listed(Record, rename="camel"):
    """A resource as the list shows it."""

    uri: str
    name: str
    mime_type: str
    title: str | None = None
    description: str | None = None
    size: int | None = None


class Resources(Record, rename="camel"):
    """One page of resources."""

    resources: list[Listed]
    next_cursor: str | None = None


class Content(Record, rename="camel"):
    """A resource as it is read: text, or bytes in base64."""

    uri: str
    mime_type: str
    text: str | None = None
    blob: str | None = None


class Contents(Record):
    """What resources/read answers."""

    contents: list[Content]


def list_(exchange: Exchange) -> dict[str, Any]:
    """What can be read: resources of domains first, then notes in the order of their paths."""
    raw = {"start": exchange.offset()}
    return cacheable(exchange, through_gates(exchange, governed(page_of_resources, core), raw, "resource"))


def templates(exchange: Exchange) -> dict[str, Any]:
    found = [TEMPLATE]
    for resource in exchange.host.runtime.registry.resources.values():
        if "{" in resource.uri:
            shown = {"uriTemplate": resource.uri, "name": resource.name, "mimeType": resource.mime}
            found.append(shown | {"description": resource.description})
    return cacheable(exchange, {"resourceTemplates": found})


def read(exchange: Exchange) -> dict[str, Any]:
    return cacheable(exchange, _governed(exchange, exchange.text("uri"), look=False))


def readable(exchange: Exchange, uri: str) -> bool:
    """Whether this caller may read, and so watch, what stands under an address."""
    try:
        _governed(exchange, uri, look=True)
    except ProtocolError:
        return False
    return True


def subscribe(exchange: Exchange) -> dict[str, Any]:
    """Only what may be read may be watched, so the same gates decide."""
    uri = exchange.text("uri")
    _governed(exchange, uri, look=True)
    exchange.host.changes.watch(exchange.session, uri)
    return {}


def unsubscribe(exchange: Exchange) -> dict[str, Any]:
    exchange.host.changes.unwatch(exchange.session, exchange.text("uri"))
    return {}


def _governed(exchange: Exchange, uri: str, *, look: bool) -> dict[str, Any]:
    runtime = exchange.host.runtime
    if not uri.startswith("knapper:"):
        resource, variables = _offered(runtime.registry.resources, uri)
        tool = governed(read_offered, resource.domain, resource.scopes)
        return through_gates(exchange, tool, {"uri": uri, "variables": variables}, "resource")
    vault, path = parse(uri)
    own = exchange.caller.vault or runtime.vaults.default
    if vault != own:
        tool = governed(refuse_other_vault, core, ("read:notes",))
        return through_gates(exchange, tool, {"named": vault, "own": own}, "resource")
    extension = path.rpartition(".")[2].lower()
    scope = "read:notes" if extension in NOTES else "read:attachments"
    tool = governed(look_at_file if look else read_file, core, (scope,), vault=True)
    return through_gates(exchange, tool, {"path": path, "vault": vault}, "resource")


def parse(uri: str) -> tuple[str, str]:
    """The vault and the path of an address."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path.removeprefix("/"), errors="strict")
    except ValueError:  # a host that cannot be one, or bytes that are not UTF-8
        raise _no_address(uri) from None
    if parts.scheme != "knapper" or not parts.netloc or not path or parts.query or parts.fragment:
        raise _no_address(uri)
    return parts.netloc, path


def _no_address(uri: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, "Invalid params: an address is knapper://vault/path", {"uri": uri})


def page_of_resources(ctx: Context, start: int) -> Resources:
    """One page of resources."""
    if not ctx.caller.may("read:notes"):
        return Resources(resources=[])
    offered = [r for r in ctx.server.resources if "{" not in r.uri and all(map(ctx.caller.may, r.scopes))]
    shown = [_shown(r) for r in offered[start : start + PAGE]]
    skip, most = max(0, start - len(offered)), PAGE - len(shown)
    rows = ctx.index.rows(
        f"SELECT f.path, f.name, f.title, f.size FROM files f WHERE f.note = 1 AND {ctx.index.may('f.path')} "
        "ORDER BY f.path LIMIT ? OFFSET ?",
        (most + 1, skip),
    )
    vault = ctx.vault.vault
    for path, name, title, size in rows[:most]:
        shown.append(
            Listed(uri=uri_of(vault, path), name=name, title=title, mime_type="text/markdown", size=size)
        )
    return Resources(resources=shown, next_cursor=str(start + PAGE) if len(rows) > most else None)


def _shown(resource: Resource) -> Listed:
    return Listed(
        uri=resource.uri, name=resource.name, description=resource.description, mime_type=resource.mime
    )


def look_at_file(ctx: Context, path: ReadPath) -> Contents:
    """Whether a file is there and may be read."""
    ctx.vault.stat(path)
    return Contents(contents=[])


def read_file(ctx: Context, path: ReadPath) -> Contents:
    """A file of the vault, if it is of a kind that Obsidian shows and not too large to send."""
    extension = path.rpartition(".")[2].lower()
    mime = "text/markdown" if extension in NOTES else TYPES.get(extension)
    if mime is None:
        raise ToolError(
            "acl_denied", f"files like {path!r} are not readable as resources", path=path, op="read"
        )
    size, limit = ctx.vault.stat(path).size, ctx.server.settings.governor.max_response_bytes
    if size > limit:
        raise ToolError(
            "invalid_input",
            f"{path!r} has {size} bytes, {limit} are allowed",
            path=path,
            size=size,
            limit=limit,
        )
    data = ctx.vault.read(path).data
    return Contents(contents=[_content(uri_of(ctx.vault.vault, path), mime, data)])


def refuse_other_vault(ctx: Context, named: str, own: str) -> Contents:
    """Refuse an address in another vault than the caller's."""
    raise ToolError(
        "forbidden", f"resources are read from the vault {own!r} only", vault=named, bound_vault=own
    )


def read_offered(ctx: Context, uri: str, variables: dict[str, str]) -> Contents:
    """What a domain offers under an address of its own."""
    resource, _ = _offered({r.uri: r for r in ctx.server.resources}, uri)
    return Contents(contents=[_content(uri, resource.mime, resource.fn(ctx, **variables))])


def _content(uri: str, mime: str, data: str | bytes) -> Content:
    if isinstance(data, str):
        return Content(uri=uri, mime_type=mime, text=data)
    try:
        if mime.startswith("text/") or mime in ("application/json", "image/svg+xml"):
            return Content(uri=uri, mime_type=mime, text=data.decode())
    except UnicodeDecodeError:
        mime = "application/octet-stream"
    return Content(uri=uri, mime_type=mime, blob=base64.b64encode(data).decode())


def _offered(resources: dict[str, Resource], uri: str) -> tuple[Resource, dict[str, str]]:
    for resource in resources.values():
        found = _pattern(resource.uri).fullmatch(uri)
        if found:
            return resource, {name: unquote(value) for name, value in found.groupdict().items()}
    raise ProtocolError(INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})


@lru_cache(maxsize=256)
def _pattern(uri: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", uri)
    return re.compile("".join(re.escape(p) if n % 2 == 0 else f"(?P<{p}>[^/]+)" for n, p in enumerate(parts)))
