from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import knapper_companion
from knapper import Context, Domain, WritePath
from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Asked, Reply, loopback
from knapper_companion.link import link_of
from tests.companion.vaults import PATIENCE, PROBE, companion, ok, without_companion

writing = Domain("writing", summary="Writes notes.")


@writing.tool("write:notes", repeat="keyed")
def put(ctx: Context, path: WritePath, text: str) -> str:
    """Write a note."""
    return ctx.vault.write(path, text, mode="upsert").hash


class Told:
    """A companion whose requests can be waited for."""

    def __init__(self, probe: Callable[[Asked], Reply] = companion, hang_ups: int = 0) -> None:
        self.requests: list[Asked] = []
        self._hang_ups = hang_ups
        self._probe = probe
        self._changed = threading.Condition()

    def __call__(self, asked: Asked) -> Reply:
        with self._changed:
            self.requests.append(asked)
            self._changed.notify_all()
        if asked.method == "GET":
            return self._probe(asked)
        self._hang_ups -= 1
        return Reply(hang_up=True) if self._hang_ups >= 0 else ok({"refreshed": []})

    def wait_for(self, count: int, route: str) -> list[Asked]:
        def found() -> list[Asked]:
            return [asked for asked in self.requests if asked.path == f"/obsidian-tc/v1{route}"]

        with self._changed:
            assert self._changed.wait_for(lambda: len(found()) >= count, 60), self.requests
            return found()


@contextmanager
def serving(call: Calls, vault: VaultFolder, url: str | None, **given: Any) -> Iterator[Runtime]:
    """A server that has started, with the companion's client beside a domain that writes."""
    bridges = {"probe_timeout_ms": PATIENCE, "timeout_ms": PATIENCE}
    base = {"id": "main", "path": str(vault.path), "rest_api_url": url, "bridges": bridges}
    call.settings = {"vaults": [{**base, **given}]}
    call.plugins = [knapper_companion]
    runtime = call.runtime(writing)
    runtime.start()
    try:
        yield runtime
    finally:
        probes_done()


def probes_done() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("probe-"):
            thread.join(60)


def test_a_server_probes_at_its_start_and_again_after_a_reload(call: Calls, vault: VaultFolder) -> None:
    told = Told()
    with loopback(told) as obsidian, serving(call, vault, obsidian.url) as runtime:
        told.wait_for(1, "/probe")
        probes_done()
        assert runtime.view.obsidian(runtime.vaults.get("main")).state == "live"  # type: ignore[union-attr]
        runtime.reload()
        told.wait_for(2, "/probe")


@pytest.mark.parametrize("given", [{"mode": "headless"}, {"rest_api_url": None}])
def test_a_vault_that_needs_no_obsidian_is_not_probed(
    call: Calls, vault: VaultFolder, given: dict[str, Any]
) -> None:
    told = Told()
    with loopback(told) as obsidian, serving(call, vault, obsidian.url, **given):
        probes_done()
        call(writing, "put", path="a.md", text="one")
    assert told.requests == []


def test_an_open_pane_is_told_of_what_a_tool_wrote(call: Calls, vault: VaultFolder) -> None:
    told = Told()
    with loopback(told) as obsidian, serving(call, vault, obsidian.url):
        probes_done()
        call(writing, "put", path="a b.md", text="one")
        told.wait_for(1, "/notes/refresh")
        call(writing, "put", path="c.md", text="two")
        bodies = [asked.body for asked in told.wait_for(2, "/notes/refresh")]
    assert bodies == [{"paths": ["a b.md"]}, {"paths": ["c.md"]}]


def test_where_obsidian_is_not_known_to_answer_nobody_is_told(call: Calls, vault: VaultFolder) -> None:
    told = Told(without_companion)
    with loopback(told) as obsidian, serving(call, vault, obsidian.url):
        probes_done()
        call(writing, "put", path="a.md", text="one")
    assert {asked.path for asked in told.requests} == {"/obsidian-tc/v1/probe"}


def test_after_a_connection_that_failed_obsidian_is_looked_for_again(call: Calls, vault: VaultFolder) -> None:
    told = Told(hang_ups=1)
    with loopback(told) as obsidian, serving(call, vault, obsidian.url):
        probes_done()
        call(writing, "put", path="a.md", text="one")
        told.wait_for(1, "/notes/refresh")
        call(writing, "put", path="b.md", text="two")
        bodies = [asked.body for asked in told.wait_for(2, "/notes/refresh")]
    assert bodies == [{"paths": ["a.md"]}, {"paths": ["b.md"]}]
    assert [asked.method for asked in told.requests] == ["GET", "POST", "GET", "POST"]


def test_a_companion_that_cannot_refresh_costs_the_writer_nothing(call: Calls, vault: VaultFolder) -> None:
    arrived = threading.Event()

    def answer(asked: Asked) -> Reply:
        if asked.method == "GET":
            return companion(asked)
        arrived.set()
        return Reply({"errorCode": 40400}, status=404)

    with loopback(answer) as obsidian, serving(call, vault, obsidian.url):
        probes_done()
        call(writing, "put", path="a.md", text="one")
        assert arrived.wait(60)
        call(writing, "put", path="a.md", text="two")
    assert vault["a.md"] == "two"


@pytest.mark.parametrize(
    ("probe", "given", "messages"),
    [
        (companion, {}, [("INFO", "vault main: Obsidian is reachable, with dataview, text-extractor")]),
        (
            without_companion,
            {},
            [("INFO", "vault main: Obsidian is missing: the plugin knapper-companion is not there")],
        ),
        (
            without_companion,
            {"mode": "live"},
            [("WARNING", "vault main: Obsidian is missing: the plugin knapper-companion is not there")],
        ),
        (
            lambda _: ok({**PROBE, "capabilities": {}, "plugin_version": "1.6.0"}),
            {},
            [
                ("INFO", "vault main: Obsidian is reachable, with no plugin that has a bridge"),
                ("WARNING", "vault main: the companion there is of another version; update it"),
            ],
        ),
        (
            lambda _: ok({**PROBE, "capabilities": {}, "obsidianTcApiVersion": "2"}),
            {},
            [
                ("INFO", "vault main: Obsidian is reachable, with no plugin that has a bridge"),
                ("WARNING", "vault main: the companion there is of another version; update it"),
            ],
        ),
        (
            lambda _: ok({"shape_ok": False, "shape_warnings": ["no commands"]}),
            {},
            [
                ("INFO", "vault main: Obsidian is reachable, with no plugin that has a bridge"),
                ("WARNING", "vault main: the companion says: no commands"),
            ],
        ),
    ],
    ids=["well", "missing", "missing-but-live", "old", "incompatible", "misshapen"],
)
def test_the_log_says_how_obsidian_was_found(
    call: Calls,
    vault: VaultFolder,
    caplog: pytest.LogCaptureFixture,
    probe: Callable[[Asked], Reply],
    given: dict[str, Any],
    messages: list[tuple[str, str]],
) -> None:
    caplog.set_level(logging.INFO, "knapper.companion")
    with loopback(Told(probe)) as obsidian, serving(call, vault, obsidian.url, **given):
        probes_done()
    found = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "knapper.companion"]
    assert found == messages


def test_what_was_found_is_what_later_calls_use(call: Calls, vault: VaultFolder) -> None:
    with loopback(Told()) as obsidian, serving(call, vault, obsidian.url) as runtime:
        probes_done()
        known = link_of(runtime.vaults.get("main").settings).known
    assert known is not None
    assert known.companion == "reachable"
