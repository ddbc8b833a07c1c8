"""A plugin that cannot be used costs only itself, and says why."""

from __future__ import annotations

import logging

import pytest

from knapper import Domain, hookimpl
from knapper.errors import PluginError
from knapper.plugins import HOOKS, Plugins
from knapper.registry import Registry
from tests.core.conftest import Install

GOOD = """
    from knapper import Context, Domain, hookimpl

    good = Domain("{name}", summary="Good.")

    @good.tool(vault=False)
    def do_{name}(ctx: Context) -> int:
        '''Do it.'''
        return 1

    @hookimpl
    def knapper_domains():
        return good
"""


def reason(plugins: Plugins, name: str) -> str | None:
    return next(plugin.error for plugin in plugins.all if plugin.name == name)


def test_a_plugin_that_cannot_be_imported_is_recorded_and_the_others_work(install: Install) -> None:
    install("torn", "import a_module_that_is_not_there")
    install("whole", GOOD.format(name="whole"))
    plugins = Plugins.discover(only=["torn", "whole"])
    registry = Registry(plugins)
    assert reason(plugins, "torn") == "ModuleNotFoundError: No module named 'a_module_that_is_not_there'"
    assert list(registry.tools) == ["do_whole"]
    assert [plugin.name for plugin in plugins.failed] == ["torn"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def broken(:", "SyntaxError: invalid syntax (installed_torn.py, line 1)"),
        ("raise SystemExit('not without a licence')", "SystemExit: not without a licence"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_whatever_a_plugin_does_when_it_is_imported_is_its_reason(
    install: Install, source: str, expected: str
) -> None:
    install("torn", source)
    assert reason(Plugins.discover(only=["torn"]), "torn") == expected


def test_a_failed_plugin_names_its_distribution_and_version_in_the_log(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install("torn", "1 / 0", distribution="somebodys-plugin", version="2.3")
    with caplog.at_level(logging.WARNING, logger="knapper.plugins"):
        plugins = Plugins.discover(only=["torn"])
    (torn,) = plugins.failed
    assert (torn.distribution, torn.version, torn.state) == ("somebodys-plugin", "2.3", "failed")
    assert caplog.messages == [
        "plugin torn of somebodys-plugin failed and is left out: ZeroDivisionError: division by zero"
    ]


def test_a_hook_that_raises_is_named_with_its_reason(install: Install) -> None:
    install(
        "torn",
        """
        from knapper import hookimpl

        @hookimpl
        def knapper_domains():
            raise KeyError("colour")
        """,
    )
    plugins = Plugins.discover(only=["torn"])
    assert Registry(plugins).domains == {}
    assert reason(plugins, "torn") == "KeyError in knapper_domains: 'colour'"


def test_a_plugin_that_fails_in_a_later_hook_leaves_nothing_behind(install: Install) -> None:
    source = (
        GOOD.format(name="torn")
        + "\n    @hookimpl\n    def knapper_sinks():\n        raise OSError('no disk')\n"
    )
    install("torn", source)
    plugins = Plugins.discover(only=["torn"])
    registry = Registry(plugins)
    assert (registry.tools, registry.domains) == ({}, {})
    assert reason(plugins, "torn") == "OSError in knapper_sinks: no disk"


def test_what_is_no_domain_is_refused_with_what_it_was(install: Install) -> None:
    install("odd", "from knapper import hookimpl\n@hookimpl\ndef knapper_domains():\n    return ['birds']\n")
    plugins = Plugins.discover(only=["odd"])
    Registry(plugins)
    assert reason(plugins, "odd") == "PluginError: knapper_domains handed over 'birds', which is not a Domain"


def test_what_is_no_sink_does_not_stop_the_server(install: Install) -> None:
    install("odd", "from knapper import hookimpl\n@hookimpl\ndef knapper_sinks():\n    return 5\n")
    plugins = Plugins.discover(only=["odd"])
    assert Registry(plugins).sinks == {}
    assert reason(plugins, "odd") == "PluginError: knapper_sinks handed over 5, which is not a Sink"


def test_a_hook_may_hand_over_one_object_or_any_iterable_of_them() -> None:
    class Generous:
        @hookimpl
        def knapper_domains(self) -> object:
            return (Domain(slug, summary="One of two.") for slug in ("first", "second"))

    plugins = Plugins(strict=True)
    plugins.add(Generous(), "generous")
    assert list(Registry(plugins).domains) == ["first", "second"]


def test_a_misspelt_hook_is_named_with_the_nearest_real_one(install: Install) -> None:
    install("typo", "from knapper import hookimpl\n@hookimpl\ndef knapper_domain():\n    return []\n")
    assert reason(Plugins.discover(only=["typo"]), "typo") == (
        "PluginError: plugin 'typo' implements 'knapper_domain', which is not a hook; did you mean 'knapper_domains'?"
    )


def test_a_hook_nothing_like_a_real_one_is_answered_with_all_of_them(install: Install) -> None:
    install("typo", "from knapper import hookimpl\n@hookimpl\ndef zzz():\n    return []\n")
    assert reason(Plugins.discover(only=["typo"]), "typo") == (
        f"PluginError: plugin 'typo' implements 'zzz', which is not a hook; the hooks are {', '.join(HOOKS)}"
    )


def test_a_hook_without_its_mark_is_an_error_and_not_silence(install: Install) -> None:
    install("unmarked", "def knapper_domains():\n    return []\n")
    assert reason(Plugins.discover(only=["unmarked"]), "unmarked") == (
        "PluginError: plugin 'unmarked' defines 'knapper_domains' without @hookimpl"
    )


def test_a_hook_with_a_parameter_that_does_not_exist_is_refused_and_asked_by_nobody(install: Install) -> None:
    bad = """
        from knapper import Domain, hookimpl

        @hookimpl
        def knapper_domains():
            return Domain("ghost", summary="Never seen.")

        @hookimpl
        def knapper_sinks(server):
            return []
    """
    install("alpha", bad)
    install("omega", GOOD.format(name="omega"))
    plugins = Plugins.discover(only=["alpha", "omega"])
    registry = Registry(plugins)
    assert "server" in (reason(plugins, "alpha") or "")
    assert list(registry.domains) == ["omega"]


def test_two_tools_of_one_name_are_a_hard_error_that_names_both_distributions(install: Install) -> None:
    install("one", GOOD.format(name="one"), distribution="first-dist")
    install("two", GOOD.format(name="two").replace("do_two", "do_one"), distribution="second-dist")
    with pytest.raises(PluginError) as raised:
        Registry(Plugins.discover(only=["one", "two"]))
    assert str(raised.value) == (
        "tool 'do_one' is defined by both first-dist and second-dist; disable one of them in plugins.disabled"
    )


def test_two_domains_of_one_slug_in_one_plugin_are_an_error_too() -> None:
    class Twice:
        @hookimpl
        def knapper_domains(self) -> list[Domain]:
            return [Domain("same", summary="One."), Domain("same", summary="Two.")]

    plugins = Plugins()
    plugins.add(Twice(), "twice")
    with pytest.raises(PluginError, match="domain 'same' is defined by both twice and twice"):
        Registry(plugins)


def test_two_distributions_with_one_entry_point_name_are_told_apart(install: Install) -> None:
    class Other:
        pass

    install("same", GOOD.format(name="same"), distribution="first-dist")
    plugins = Plugins.discover(only=["same"])
    second = plugins.add(Other(), "same")
    assert second.error == "PluginError: first-dist already has a plugin named 'same'; uninstall one of them"


def test_only_loads_the_named_plugins_and_lists_the_others_as_disabled(install: Install) -> None:
    install("one", GOOD.format(name="one"))
    install("two", GOOD.format(name="two"))
    plugins = Plugins.discover(only=["two"])
    states = {plugin.name: plugin.state for plugin in plugins.all}
    assert (states["one"], states["two"]) == ("disabled", "loaded")
    assert list(Registry(plugins).tools) == ["do_two"]


def test_an_empty_only_loads_nothing(install: Install) -> None:
    install("one", GOOD.format(name="one"))
    assert Registry(Plugins.discover(only=[])).tools == {}


def test_disabled_wins_over_only_and_a_disabled_plugin_is_not_imported(install: Install) -> None:
    install("one", "raise RuntimeError('imported')")
    plugins = Plugins.discover(only=["one"], disabled=["one"])
    assert {plugin.name: plugin.state for plugin in plugins.all}["one"] == "disabled"


def test_strict_raises_at_the_first_failure_and_names_plugin_and_distribution(install: Install) -> None:
    install("torn", "1 / 0", distribution="somebodys-plugin")
    with pytest.raises(PluginError, match=r"plugin 'torn' of somebodys-plugin: division by zero"):
        Plugins.discover(only=["torn"], strict=True)


def test_strict_raises_over_a_hook_too(install: Install) -> None:
    install("torn", "from knapper import hookimpl\n@hookimpl\ndef knapper_sinks():\n    1 / 0\n")
    with pytest.raises(PluginError, match="torn"):
        Registry(Plugins.discover(only=["torn"], strict=True))


def test_every_hook_call_can_be_traced(
    install: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install("one", GOOD.format(name="one"))
    monkeypatch.setenv("KNAPPER_TRACE_HOOKS", "1")
    Registry(Plugins.discover(only=["one"]))
    traced = capsys.readouterr().err
    assert "knapper_domains [hook]" in traced
    assert "finish knapper_domains --> [<domain one>] [hook]" in traced


def test_every_hook_says_when_it_is_called() -> None:
    from knapper import hookspecs

    assert [name for name in HOOKS if not getattr(hookspecs, name).__doc__] == []
    assert HOOKS == (
        "knapper_domains",
        "knapper_embedders",
        "knapper_verifiers",
        "knapper_sinks",
        "knapper_bridges",
        "knapper_routes",
        "knapper_commands",
        "knapper_lifespan",
    )
