"""What a tool gets as its first argument."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from knapper.errors import PluginError, ToolError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from knapper.caller import Caller
    from knapper.dispatch.call import Call
    from knapper.index.view import IndexView
    from knapper.server.view import ServerView
    from knapper.store.state import DomainStore
    from knapper.vault.door import Door


class Image(msgspec.Struct, frozen=True):
    """A picture, or a sound, that goes to the client beside the answer."""

    data: bytes
    mime: str


class ResourceLink(msgspec.Struct, frozen=True):
    """A pointer to a vault file that goes to the client beside the answer."""

    path: str
    mime: str = "text/markdown"


class Embedded(msgspec.Struct, frozen=True):
    """Text or bytes under an address of their own that go to the client beside the answer."""

    uri: str
    content: str | bytes
    mime: str = "text/plain"


Attachment = Image | ResourceLink | Embedded


class Client(Protocol):
    """The client that waits for a call's answer, as far as a tool may use it."""

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client says it can do."""

    def log(self, level: str, data: Any, logger: str) -> None:
        """Send a log message, if the client wants messages of this level."""

    def ask(self, requests: Mapping[str, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        """The client's answers to requests of (method, params), by name.

        A client of the modern era is asked by ending the call, which then runs again from its beginning: ask before
        the first change.
        """


class Context:
    """One call's view of the server: its vault, index and store, its caller, and ways to ask and to report."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.caller: Caller = call.caller
        self.args_hash: str = call.args_hash

    @cached_property
    def vault(self) -> Door:
        """The only door to files; every operation checks the folder rules of this caller."""
        return self._call.open_door()

    @cached_property
    def index(self) -> IndexView:
        """Answers from what is indexed, limited to what this caller may read."""
        return self._call.open_index()

    def find_note(self, given: str) -> str:
        """The path of the note that a path, a name or an alias means, for paths that are not parameters of their own."""
        return self._call.vault.find_note(given, self.caller, self.vault)

    @cached_property
    def store(self) -> DomainStore:
        """The domain's own tables."""
        return self._call.runtime.state.domain(self._call.tool.domain.slug)

    @property
    def settings(self) -> Any:
        """The domain's own section of the configuration, as its settings model."""
        return self._call.runtime.section(self._call.tool.domain)

    @property
    def server(self) -> ServerView:
        """What is known about the server itself: health, plugins, metrics, folder rules."""
        return self._call.runtime.view

    @property
    def scopes(self) -> frozenset[str]:
        return self.caller.scopes

    @property
    def vault_settings(self) -> BaseModel:
        """The configuration of the vault this call is for."""
        settings: BaseModel = self._call.vault.settings
        return settings

    @property
    def session(self) -> str | None:
        """The session the server observed for this caller."""
        return self.caller.session

    def now(self) -> float:
        """Seconds since the epoch, by the server's clock."""
        return self._call.runtime.clock()

    def stamp(self, seconds: float | None = None) -> str:
        """A time of the server's clock, now where none is given, as an ISO 8601 text in UTC."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now() if seconds is None else seconds))

    def confirm(self, needed: bool, change: dict[str, Any] | None = None, *, diff: str = "") -> None:
        """Where needed, go on only if a person has confirmed exactly this call; call it before the first change."""
        if not self._call.tool.asks:
            raise PluginError(
                f"{self._call.name} asks for a confirmation and does not say so: add confirm='…'"
            )
        if needed:
            self._call.confirm(change or {}, diff)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the client how far this call is; also stops here if the client has cancelled."""
        self.check_cancelled()
        if self._call.on_progress is not None:
            self._call.on_progress(done, total, message)

    @property
    def cancelled(self) -> bool:
        return self._call.cancelled()

    def check_cancelled(self) -> None:
        if self.cancelled:
            raise ToolError("aborted", "the call was cancelled")

    def service(self, name: str) -> Callable[..., Any]:
        """A function that another domain offers, or plugin_missing where none does."""
        return self._call.runtime.service(name)

    def bridge(self, key: str) -> Any:
        """The live engine of an Obsidian plugin for this vault, or the error that says what is missing."""
        return self._call.runtime.bridge(key, self._call.vault)

    def takes_effect(self) -> None:
        """Say that something beyond the vault's door is about to change; a repeated key then never does it twice."""
        self._call.takes_effect()

    @property
    def embed(self) -> Any:
        """The configured embedding model, loaded on first use."""
        return self._call.runtime.embedding()

    @property
    def client(self) -> Client | None:
        """The client behind this call; None where it did not come over the protocol."""
        return self._call.client

    def log(self, level: str, data: Any) -> None:
        """Tell the client something while the call runs; levels are those of syslog, in lower case."""
        if self._call.client is not None:
            self._call.client.log(level, data, self._call.name)

    def attach(self, content: Attachment) -> None:
        """Send an image, a link to a file, or a content of its own beside the answer."""
        self._call.attachments.append(content)
