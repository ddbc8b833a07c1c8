"""One call on its way through the gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from knapper.dispatch.canonical import args_hash
from knapper.errors import Refusal, ToolError
from knapper.sinks import CallRecord

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.context import Attachment, Client, Context
    from knapper.dispatch.confirm import Ask
    from knapper.dispatch.limit import Limit
    from knapper.domain import Tool
    from knapper.index.view import IndexView
    from knapper.runtime import Runtime
    from knapper.store.idempotency import Claimed
    from knapper.store.snapshots import Landing
    from knapper.vault.door import Door
    from knapper.vaults import Vault


class Outcome(msgspec.Struct, kw_only=True):
    """What goes back to the transport: the encoded answer or the error, and what was attached."""

    payload: bytes = b"null"
    wrapped: bool = False
    error: dict[str, Any] | None = None
    refusal: Refusal | None = None
    attachments: list[Attachment] = []
    vault: str = ""
    replayed: bool = False
    duration_us: int = 0
    result_size: int = 0


CURRENT_SESSION = "sessions.current"  # a service: the session of work that a call is part of


def never() -> bool:
    return False


@dataclass(slots=True)
class Call:
    """Everything known about one call; each gate reads it, and most add to it."""

    runtime: Runtime
    name: str
    raw: dict[str, Any]
    caller: Caller
    args_hash: str
    kind: Literal["tool", "resource", "prompt"] = "tool"
    elicit_token: str | None = None
    ask: Ask | None = None
    cancelled: Callable[[], bool] = never
    on_progress: Callable[[float, float | None, str], None] | None = None
    trace: dict[str, str] | None = None
    client: Client | None = None

    tool: Tool = field(init=False)
    args: Any = None
    vault: Vault = field(init=False)
    ctx: Context | None = None
    claim: Claimed | None = None
    limit: Limit | None = None
    effect: bool = False  # something durable may have happened
    confirmed: bool = False
    result: Any = None
    payload: bytes | None = None
    size: int = 0
    overflow: int = 0
    replayed: bool = False
    handler_us: int = 0
    gate: str = ""
    rate: str = "unknown"
    snapshots: list[int] = field(default_factory=list)  # of the change under way
    kept: list[str] = field(default_factory=list)
    landings: list[Landing] = field(
        default_factory=list
    )  # changes that took place and are still to be recorded
    attachments: list[Attachment] = field(default_factory=list)
    _once: Lock = field(default_factory=Lock)

    def begin(self) -> None:
        """Two dispatches of one call would share its caller, its confirmation and its door."""
        if not self._once.acquire(blocking=False):
            raise ToolError("internal", "a call goes through the gates once")

    def context(self) -> Context:
        """The tool's view of this call, made once."""
        if self.ctx is None:
            from knapper.context import Context

            self.ctx = Context(self)
        return self.ctx

    def end(self) -> None:
        """Let go of the context, which holds the call: what was read for it is freed with it, not when Python looks for circles."""
        self.ctx = None

    def confirm(self, change: dict[str, Any], diff: str) -> None:
        from knapper.dispatch.confirm import require

        require(self, lambda: (change, diff))

    def takes_effect(self) -> None:
        """Something durable is about to happen: from here on the key is never forgotten."""
        if self.claim is not None and not self.effect:
            self.runtime.keys.committed(self.claim)
        self.effect = True

    @property
    def session(self) -> str | None:
        """What its changes are kept under: the session of work that the caller has begun, or the connection's."""
        current = self.runtime.registry.services.get(CURRENT_SESSION)
        return (current(self.context()) if current else None) or self.caller.session

    def refusal(self, error: ToolError) -> Refusal | None:
        """How the tool's own contract publishes an error, where it has one."""
        tool = getattr(self, "tool", None)
        return tool.domain.refusal(error.code) if tool else None

    def open_door(self) -> Door:
        return self.vault.door(self)

    def open_index(self) -> IndexView:
        return self.vault.index_view(self.caller)

    @property
    def key(self) -> str | None:
        """The caller's idempotency key, if the tool takes one."""
        return getattr(self.args, "idempotency_key", None)

    def bind(self) -> str:
        """What a cursor of this call belongs to: the tool and its arguments but for the paging ones."""
        rest = {k: v for k, v in self.raw.items() if k not in ("cursor", "limit", "verbosity")}
        return args_hash(self.name, rest)[:10]

    def record(self, started: float, duration_us: int, error: ToolError | None) -> CallRecord:
        tool = getattr(self, "tool", None)
        vault = getattr(self, "vault", None)
        return CallRecord(
            ts=started,
            tool=self.name,
            kind=self.kind,
            vault=vault.id if vault else "",
            caller=self.caller.name,
            caller_hash=self.caller.hash,
            session=self.caller.session,
            scopes=tool.scopes if tool else (),
            rate=self.rate,
            mutating=bool(tool and tool.mutating),
            status=status_of(error),
            error_code=error.code if error else None,
            error_message=error.message if error else None,
            duration_us=duration_us,
            handler_us=self.handler_us,
            result_size=self.size,
            args_hash=self.args_hash,
            confirmed=self.confirmed,
            replayed=self.replayed,
            overflow_bytes=self.overflow,
            idempotency_key=self.key,
            trace=self.trace,
            gate=self.gate if error else "",
        )


DENIED = frozenset(
    {"unauthorized", "forbidden", "acl_denied", "elicit_required", "throttled", "read_only_mode"}
)


def status_of(error: ToolError | None) -> Literal["ok", "denied", "error"]:
    if error is None:
        return "ok"
    return "denied" if error.code in DENIED else "error"
