"""knapper: governed tools for AI agents on Obsidian vaults. These are the public names, loaded when they are used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knapper.bridge import Bridge
    from knapper.caller import Caller
    from knapper.config.model import Section
    from knapper.context import Context, Image, ResourceLink
    from knapper.domain import Domain, FileText, Tool
    from knapper.embed import Embedder, Model
    from knapper.errors import ConfigError, KnapperError, PluginError, ToolError
    from knapper.hookspecs import hookimpl
    from knapper.index.rows import Note
    from knapper.page import Page, Record
    from knapper.params import (
        Alias,
        DeleteNotePath,
        DeletePath,
        Doc,
        NotePath,
        ReadPath,
        WriteNotePath,
        WritePath,
    )
    from knapper.routes import Route
    from knapper.sinks import CallRecord, Event, Observer, Sink
    from knapper.store.migrations import Migration
    from knapper.verify import Rejected, Verifier

__version__ = "0.1.0"

_HOMES = {
    "Alias": "params",
    "Bridge": "bridge",
    "CallRecord": "sinks",
    "Caller": "caller",
    "ConfigError": "errors",
    "Context": "context",
    "DeleteNotePath": "params",
    "DeletePath": "params",
    "Doc": "params",
    "Domain": "domain",
    "Embedder": "embed",
    "Event": "sinks",
    "FileText": "domain",
    "Image": "context",
    "KnapperError": "errors",
    "Migration": "store.migrations",
    "Model": "embed",
    "Note": "index.rows",
    "NotePath": "params",
    "Observer": "sinks",
    "Page": "page",
    "PluginError": "errors",
    "ReadPath": "params",
    "Record": "page",
    "Rejected": "verify",
    "ResourceLink": "context",
    "Route": "routes",
    "Section": "config.model",
    "Sink": "sinks",
    "Tool": "domain",
    "ToolError": "errors",
    "Verifier": "verify",
    "WriteNotePath": "params",
    "WritePath": "params",
    "hookimpl": "hookspecs",
}

__all__ = [
    "Alias",
    "Bridge",
    "CallRecord",
    "Caller",
    "ConfigError",
    "Context",
    "DeleteNotePath",
    "DeletePath",
    "Doc",
    "Domain",
    "Embedder",
    "Event",
    "FileText",
    "Image",
    "KnapperError",
    "Migration",
    "Model",
    "Note",
    "NotePath",
    "Observer",
    "Page",
    "PluginError",
    "ReadPath",
    "Record",
    "Rejected",
    "ResourceLink",
    "Route",
    "Section",
    "Sink",
    "Tool",
    "ToolError",
    "Verifier",
    "WriteNotePath",
    "WritePath",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'knapper' has no attribute {name!r}")
    value = getattr(import_module(f"knapper.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
