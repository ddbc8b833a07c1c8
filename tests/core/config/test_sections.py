"""The sections of plugins: checked by their own models, and never lost with the plugin that failed."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from knapper import Context, Domain, Section, hookimpl
from knapper.config.model import Settings
from knapper.config.sections import sections
from knapper.errors import ConfigError
from knapper.plugins import Plugins
from knapper.registry import Registry
from knapper.testing import Calls


class BirdSettings(Section):
    most_seen: int = 5
    favourite: str = "wren"


birds = Domain("birds", summary="Birds.", settings=BirdSettings)


@birds.tool(vault=False)
def favourite(ctx: Context) -> str:
    """Say which bird is the favourite."""
    return f"{ctx.settings.favourite} {ctx.settings.most_seen}"


class Birds:
    @hookimpl
    def knapper_domains(self) -> Domain:
        return birds


class Broken:
    @hookimpl
    def knapper_domains(self) -> Domain:
        raise OSError("torn")


def read(given: dict[str, Any], *plugins: tuple[str, Any]) -> dict[str, Any]:
    found = Plugins()
    for name, plugin in plugins:
        found.add(plugin, name)
    settings = Settings.model_validate({"vaults": [{"id": "main", "path": "/"}], **given})
    return dict(sections(settings, Registry(found)))


def issues(given: dict[str, Any], *plugins: tuple[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        read(given, *plugins)
    return raised.value.issues


def test_a_section_is_what_a_tool_of_the_domain_sees(call: Calls) -> None:
    call.settings = {"birds": {"mostSeen": 7}}
    assert call(birds, "favourite") == "wren 7"


def test_a_domain_without_a_section_has_its_defaults() -> None:
    assert read({}, ("birds", Birds())) == {"birds": BirdSettings()}


def test_every_wrong_key_of_a_section_is_named() -> None:
    given = {"birds": {"most_sen": 1, "favourite": 5}}
    assert issues(given, ("birds", Birds())) == [
        "birds.favourite: input should be a valid string",
        "birds.most_sen: is not a setting; did you mean 'most_seen'?",
    ]


def test_a_section_that_nobody_owns_is_an_error_with_the_nearest_name() -> None:
    assert issues({"brids": {}}, ("birds", Birds())) == ["brids: is not a setting; did you mean 'birds'?"]
    assert issues({"acll": {}}) == ["acll: is not a setting; did you mean 'acl'?"]
    assert issues({"zzzz": 1}) == ["zzzz: is not a setting"]


def test_the_section_of_a_plugin_that_failed_does_not_stop_the_server() -> None:
    assert read({"trees": {"a": 1}}, ("trees", Broken()), ("birds", Birds())) == {"birds": BirdSettings()}


def test_a_section_that_may_belong_to_a_failed_plugin_of_another_name_is_only_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="knapper.config"):
        read({"shrubs": {"a": 1}}, ("trees", Broken()))
    assert caplog.messages == [
        "plugin trees failed and is left out: OSError in knapper_domains: torn",
        "the section 'shrubs' belongs to no plugin that could be loaded",
    ]


def test_a_misspelt_section_is_an_error_even_where_a_plugin_failed() -> None:
    assert issues({"brids": {}}, ("trees", Broken()), ("birds", Birds())) == [
        "brids: is not a setting; did you mean 'birds'?"
    ]


def test_the_section_of_a_disabled_plugin_is_left_alone(tmp_path: Path) -> None:
    found = Plugins.discover(only=[])
    installed = [plugin.name for plugin in found.all]
    given = {installed[0].replace("-", "_"): {"a": 1}} if installed else {}
    settings = Settings.model_validate({"vaults": [{"id": "main", "path": str(tmp_path)}], **given})
    assert sections(settings, Registry(found)) == {}
