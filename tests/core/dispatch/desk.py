"""A server with two vaults and one domain whose tools need every gate, on a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from knapper import Context, DeletePath, Domain, ReadPath, ToolError, WritePath, hookimpl
from knapper.caller import LOCAL, Caller
from knapper.config.model import Settings
from knapper.context import Image
from knapper.dispatch.call import Outcome
from knapper.plugins import Plugins
from knapper.runtime import Runtime

ALICE = Caller("alice", LOCAL, authenticated=True, session="s-alice")


class Clock:
    """The time of a test."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def desk_domain(ran: list[str]) -> Domain:
    """One tool for every policy; each notes that its handler ran."""
    desk = Domain("desk", summary="One tool for every policy.")

    def refuse_locked(ctx: Context, args: Any) -> None:
        if args.path.startswith("locked"):
            raise ToolError("forbidden", "it is locked")

    @desk.tool("read:notes")
    def look(ctx: Context, path: ReadPath) -> str:
        """Read a note."""
        ran.append("look")
        return ctx.vault.read(path).text

    @desk.tool(vault=False)
    def knock(ctx: Context) -> str:
        """Say that somebody is there; nobody has to be known for it."""
        ran.append("knock")
        return "here"

    @desk.tool("write:notes", repeat="keyed", precheck=refuse_locked, tags=["inking"])
    def put(ctx: Context, path: WritePath, text: str, pad: int = 0) -> str:
        """Write a note, and answer with as much as is asked for."""
        ran.append("put")
        ctx.vault.write(path, text)
        return "x" * pad

    @desk.tool("write:notes", repeat="keyed")
    def put_and_fail(ctx: Context, path: WritePath, when: str) -> str:
        """Write a note, then fail."""
        ran.append("put_and_fail")
        if when == "before":
            raise ToolError("invalid_input", "not begun")
        ctx.vault.write(path, "written")
        if when == "exit":
            raise SystemExit(3)
        raise ZeroDivisionError("the secret is 42") if when == "inside" else ToolError("conflict", "too late")

    @desk.tool("delete:notes", destructive=True, precheck=refuse_locked)
    def wipe(ctx: Context, path: DeletePath) -> str:
        """Delete a note for good."""
        ran.append("wipe")
        return ctx.vault.delete(path, hard=True).path

    @desk.tool("execute:command", reach="whatever the command does")
    def press(ctx: Context, command: str) -> str:
        """Run a command."""
        ran.append("press")
        return command

    @desk.tool("write:notes", repeat="keyed", confirm="more than ten lines")
    def scribble(ctx: Context, path: WritePath, lines: int) -> int:
        """Write lines."""
        ran.append("scribble")
        ctx.confirm(lines > 10, {"lines": lines}, diff="+line\n" * lines)
        ctx.vault.write(path, "line\n" * lines)
        return lines

    @desk.tool("admin:vault")
    def tune(ctx: Context) -> str:
        """Change no note."""
        ran.append("tune")
        return "tuned"

    @desk.tool("read:notes", vault=False)
    def show(ctx: Context, pictures: int) -> str:
        """Attach pictures of 300 bytes."""
        for _ in range(pictures):
            ctx.attach(Image(b"p" * 300, "image/png"))
        return "shown"

    @desk.tool("read:notes", vault=False)
    def lie(ctx: Context) -> int:
        """Answer with something else than what was promised."""
        return "no number"  # type: ignore[return-value]

    @desk.tool("read:notes", vault=False)
    def blurt(ctx: Context, size: int) -> str:
        """Fail with very much to say."""
        raise ToolError("invalid_input", "m" * size, field="size", all="d" * size)

    @desk.tool("read:notes", vault=False)
    def garble(ctx: Context) -> str:
        """Fail with details that are no JSON."""
        raise ToolError("invalid_input", "odd", thing=object())

    @desk.tool("read:notes", vault=False)
    def meet(ctx: Context, number: int) -> int:
        """Keep the context for the test to look at."""
        desk.met.append(ctx)  # type: ignore[attr-defined]
        return number

    desk.met = []  # type: ignore[attr-defined]
    return desk


class Desk:
    """The server, and calls to it as anybody."""

    def __init__(self, folder: Path, settings: dict[str, Any], ran: list[str]) -> None:
        self.folder = folder
        self.ran = ran
        self.clock = Clock()
        self.domain = desk_domain(ran)
        domain = self.domain

        class Plugin:
            @hookimpl
            def knapper_domains(self) -> Domain:
                return domain

        plugins = Plugins(strict=True)
        plugins.add(Plugin(), "desk")
        base: dict[str, Any] = {
            "vaults": [
                {"id": "home", "path": str(folder / "home")},
                {"id": "work", "path": str(folder / "work")},
            ],
            "cache_dir": str(folder / "cache"),
            "throttle": {"enabled": False},
            "watch": {"enabled": False},
            "index": {"processes": 1},
        }
        self.runtime = Runtime(Settings.model_validate({**base, **settings}), plugins, clock=self.clock)

    def call(
        self, name: str, *, by: Caller = ALICE, how: dict[str, Any] | None = None, **arguments: Any
    ) -> Outcome:
        return self.runtime.call(name, arguments, by, **(how or {}))

    def result(self, name: str, **given: Any) -> Any:
        outcome = self.call(name, **given)
        assert outcome.error is None, outcome.error
        return msgspec.json.decode(outcome.payload)["result"]

    def error(self, name: str, **given: Any) -> dict[str, Any]:
        outcome = self.call(name, **given)
        assert outcome.error is not None, outcome.payload
        return outcome.error

    def code(self, name: str, **given: Any) -> str:
        """`ok`, or the code of the error."""
        outcome = self.call(name, **given)
        return str(outcome.error["code"]) if outcome.error else "ok"

    def approve(self, error: dict[str, Any]) -> None:
        self.runtime.approvals.approve(error["details"]["approval"])

    def audited(self) -> list[tuple[str, str, str | None]]:
        """Tool, status and error code of every call, oldest first."""
        self.runtime.audit.flush()
        rows = self.runtime.view.stats().recent(1000)
        return [(one.row.tool or "", one.row.status, one.row.error_code) for one in reversed(rows)]

    def keys(self) -> list[tuple[str, str, str]]:
        """Vault, key and state of every remembered key."""
        with self.runtime.state.read() as conn:
            rows = conn.exec_driver_sql("SELECT vault_id, key, state FROM idempotency_keys ORDER BY 1, 2")
            return [tuple(row) for row in rows]

    def file(self, path: str) -> str | None:
        place = self.folder / path
        return place.read_text() if place.exists() else None


MakeDesk = Callable[..., Desk]
