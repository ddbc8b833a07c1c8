"""What the page about engines says of the bridges is what their own tests prove."""

from __future__ import annotations

import importlib
import re

import pytest

from benchmarks.conformance import PAGE
from devtools.docs.pages import registered
from devtools.members import ROOT
from knapper.config.model import BridgeSettings
from knapper_bridge_commands import BarePalette, Palette
from tests.every_bridge import EveryBridge

TEXT = PAGE.read_text("utf-8")
BRIDGES = registered(ROOT).bridges
KEYS = sorted(BRIDGES.keys() - {"companion", "commands"})


def rows(heading: str, columns: int) -> dict[str, list[str]]:
    """The rows of the table whose header begins so, by what stands in their first column."""
    lines = TEXT.split(f"\n| {heading} |")[1].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    assert all(len(row) == columns for row in cells)
    return {row[0].strip("`"): row[1:] for row in cells}


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def proved(key: str) -> type[EveryBridge]:
    """The tests of a bridge."""
    module = importlib.import_module(f"tests.bridge_{key}.test_bridge_{key}")
    found = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, EveryBridge)]
    return next(one for one in found if one is not EveryBridge)


TABLE = rows("key | plugin in Obsidian", 4)


def test_the_page_lists_every_bridge_in_order() -> None:
    assert list(TABLE) == sorted(BRIDGES.keys() - {"companion"})


@pytest.mark.parametrize("key", KEYS)
def test_its_plugin_its_routes_and_its_patience_are_those_that_its_tests_prove(key: str) -> None:
    tests = proved(key)
    plugin, routes, timeout = TABLE[key]
    assert named(plugin) == [tests.plugin_id] == [BRIDGES[key].plugin_id]
    assert named(routes) == list(dict.fromkeys(ask.route for ask in tests.asks))
    assert named(timeout) == [tests.timeout]
    assert tests.timeout in BridgeSettings.model_fields


def test_the_methods_of_every_engine_are_on_the_page_as_they_are_called() -> None:
    table = rows("key | methods", 2)
    for key in KEYS:
        called = {ask.method for ask in proved(key).asks}
        assert called == set(re.findall(r"`(\w+)\(", table[key][0])), key


def test_the_palette_has_two_engines_with_the_methods_on_the_page() -> None:
    methods = set(re.findall(r"`(\w+)\(", rows("key | methods", 2)["commands"][0]))
    for engine in (Palette, BarePalette):
        assert {name for name in vars(engine) if not name.startswith("_")} == methods == {"list", "execute"}
