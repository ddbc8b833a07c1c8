"""The recorded queries and pages again, this time through the index and the service, as a call takes them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knapper_dataview
from knapper import Caller, Context, Domain, hookimpl
from knapper.config.model import Settings
from knapper.plugins import Plugins
from knapper.runtime import Runtime
from knapper_dataview.answers import DqlRows
from knapper_dataview.engine import typed
from knapper_dataview.engine.context import Context as Surroundings
from knapper_dataview.running import answer, failures
from knapper_dataview.vault import IndexedVault
from tests.dataview.conformance import NOW, RECORDED, recorded_form, shown
from tests.dataview.recorded_vault import VAULT, copy_vault, index_with_recorded_times, utc

__all__ = ["utc"]

pytestmark = pytest.mark.skipif(not VAULT.is_dir(), reason="the recordings are not at hand")

asker = Domain("asker", summary="Runs queries where they stand.")


@asker.tool("read:notes")
def ask(ctx: Context, dql: str, origin: str) -> Any:
    """Give a result in the form of the recordings."""
    with failures():
        return recorded_form(answer(ctx, dql, origin))


@asker.tool("read:notes")
def page(ctx: Context, path: str) -> Any:
    """Give everything that a query can ask of a note."""
    row = Surroundings(IndexedVault(ctx), "", NOW).row(path)
    return None if row is None else typed(shown(row))


@asker.tool("read:notes")
def rows(ctx: Context, dql: str) -> DqlRows:
    """Give a result as other domains get it."""
    found: DqlRows = ctx.service("dql")(ctx, dql)
    return found


class Asker:
    @hookimpl
    def knapper_domains(self) -> Domain:
        return asker


@pytest.fixture
def runtime(utc: None, tmp_path: Path) -> Iterator[Runtime]:
    folder = tmp_path / "vault"
    copy_vault(folder)
    plugins = Plugins(strict=True)
    plugins.add(knapper_dataview)
    plugins.add(Asker(), "asker")
    settings = {
        "vaults": [{"id": "main", "path": str(folder)}],
        "cache_dir": str(tmp_path / "cache"),
        "throttle": {"enabled": False},
        "watch": {"enabled": False},
        "index": {"processes": 1},
    }
    running = Runtime(Settings.model_validate(settings), plugins, clock=NOW.timestamp)
    index_with_recorded_times(running)
    yield running
    running.close()


def call(runtime: Runtime, tool: str, **arguments: str) -> Any:
    outcome = runtime.call(tool, arguments, Caller("test", frozenset({"*"}), authenticated=True))
    if outcome.error is not None:
        return {"$error": outcome.error["code"]}
    found = json.loads(outcome.payload)
    return found.get("result", found)


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RECORDED / name).read_text("utf-8"))["cases"]
    return found


def test_every_recorded_query_is_answered_over_the_index_as_it_was_recorded(runtime: Runtime) -> None:
    different = {}
    for case in cases("dataview-queries.json"):
        expected = case["expected"]
        if "$error" in expected:
            expected = {"$error": "dql_error"}
        found = call(runtime, "ask", dql=case["input"], origin=case["origin"])
        if found != expected:
            different[case["input"]] = (found, expected)
    assert different == {}


def test_the_service_gives_as_many_rows_as_were_recorded(runtime: Runtime) -> None:
    for case in cases("dataview-queries.json"):
        expected = case["expected"]
        if expected.get("type") in ("list", "table", "calendar"):
            found = call(runtime, "rows", dql=case["input"])
            recorded = expected.get("values", expected.get("rows", expected.get("entries")))
            if "this" not in case["input"] and "[[]]" not in case["input"]:
                assert len(found["rows"]) == len(recorded), case["input"]


def test_every_recorded_page_is_in_the_index_as_it_was_recorded(runtime: Runtime) -> None:
    for case in cases("dataview-pages.json"):
        assert call(runtime, "page", path=case["input"]) == case["expected"], case["input"]
