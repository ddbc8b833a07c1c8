from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from knapper import __version__
from knapper.cli.app import COMMANDS
from tests.core.cli.conftest import Run, add
from tests.core.conftest import Install

BROKEN = "raise ImportError('built for another Python')"
TOOL = """
    from knapper import Context, Domain, hookimpl

    {name} = Domain("{name}", summary="Counts.")

    @{name}.tool("read:notes", confirm="where it is {name}")
    def count_{name}(ctx: Context, words: list[str]) -> int:
        '''Count {name}. Then say how many.'''
        return len(words)

    @hookimpl
    def knapper_domains():
        return {name}
"""


def test_every_command_has_a_module_and_a_sentence_of_help(run: Run) -> None:
    shown = run("--help")
    assert shown.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in shown.out
        assert run(name, "--help").code == 0


def test_help_is_a_word_too(run: Run) -> None:
    assert run("help") == run("--help")
    assert run("help", "config", "show") == run("config", "show", "--help")


def test_the_version_is_the_distributions(run: Run) -> None:
    assert run("version") == (0, f"knapper {__version__}\n", "")
    assert run("--version").out == f"knapper {__version__}\n"
    assert run("version", "--json").json["version"] == __version__


def test_a_word_that_is_nothing_is_answered_with_the_nearest_command(run: Run) -> None:
    result = run("dcotor")
    assert result.code == 2
    assert "'dcotor' is neither a command nor a vault that exists. Did you mean 'doctor'?" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    "words", [["config"], ["tools", "--nope"], ["elicit"], ["token", "mint"], ["restore"]]
)
def test_a_mistake_in_usage_exits_2_and_says_nothing_on_stdout(run: Run, words: list[str]) -> None:
    result = run(*words)
    assert (result.code, result.out) == (2, "")
    assert "Usage: knapper" in result.err


def test_it_runs_as_a_process_too(machine: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "knapper", "version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"knapper {__version__}\n")


def test_whoever_reads_only_the_first_line_gets_no_complaint(machine: Path, notes: Path) -> None:
    command = f'"{sys.executable}" -m knapper config explain "{notes}" | head -n 1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_tools_needs_no_configuration(run: Run, install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("geese", TOOL.format(name="geese"))
    monkeypatch.setenv("KNAPPER_PLUGINS__ONLY", '["geese"]')
    (tool,) = run("tools", "--json").json
    assert {
        key: tool[key] for key in ("name", "domain", "scopes", "rate", "repeat", "confirm", "distribution")
    } == {
        "name": "count_geese",
        "domain": "geese",
        "scopes": ["read:notes"],
        "rate": "read",
        "repeat": "pure",
        "confirm": "where it is geese",
        "distribution": "knapper-geese",
    }
    assert tool["summary"] == "Count geese."
    assert tool["input_schema"]["required"] == ["words"]


def test_tools_shows_people_a_table_and_sizes(
    run: Run, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("geese", TOOL.format(name="geese"))
    monkeypatch.setenv("KNAPPER_PLUGINS__ONLY", '["geese"]')
    assert "count_geese" in run("tools").out
    assert run("tools").out.endswith("1 tools\n")
    (size,) = [tool["bytes"] for tool in run("tools", "--json").json]
    assert run("tools", "--size").out.endswith(
        f"1 tools, {size} bytes, about {size // 4} tokens if all are listed\n"
    )


def test_tools_of_a_domain_that_does_not_exist_are_a_mistake_that_is_told(run: Run, install: Install) -> None:
    install("geese", TOOL.format(name="geese"))
    assert [tool["name"] for tool in run("tools", "--domain", "geese", "--json").json] == ["count_geese"]
    result = run("tools", "--domain", "gese")
    assert (result.code, result.out) == (2, "")
    assert "there is no domain 'gese'; did you mean 'geese'? There is: " in result.err


def test_tools_says_which_the_configuration_hides(run: Run, install: Install, config: Path) -> None:
    install("geese", TOOL.format(name="geese"))
    add(config, '[plugins]\nonly = ["geese"]\n[tool_visibility]\ndisabled = ["count_geese"]')
    assert [tool["visibility"] for tool in run("tools", config, "--json").json] == ["disabled_name"]


def test_tools_of_two_plugins_with_one_name_are_an_error_that_names_both(run: Run, install: Install) -> None:
    install("ducks", TOOL.format(name="ducks"), distribution="first-dist")
    install(
        "geese", TOOL.format(name="geese").replace("count_geese", "count_ducks"), distribution="second-dist"
    )
    result = run("tools", "--json")
    assert (result.code, result.out) == (1, "")
    assert "tool 'count_ducks' is defined by both first-dist and second-dist" in result.err
    listed = run("plugins", "--json")
    assert listed.code == 1
    assert "first-dist and second-dist" in listed.err
    assert {"ducks", "geese"} <= {plugin["name"] for plugin in listed.json}


def test_plugins_lists_what_failed_and_why_and_goes_on(run: Run, install: Install) -> None:
    install("torn", BROKEN, distribution="somebodys-plugin", version="2.0")
    result = run("plugins", "--json")
    (torn,) = [plugin for plugin in result.json if plugin["name"] == "torn"]
    assert (result.code, result.err) == (0, "")
    assert torn == {
        "name": "torn",
        "distribution": "somebodys-plugin",
        "version": "2.0",
        "module": "installed_torn",
        "state": "failed",
        "hooks": [],
        "provides": [],
        "error": "ImportError: built for another Python",
    }
    assert "ImportError: built for another Python" in run("plugins").out


def test_plugins_strict_exits_1_at_a_failure(
    run: Run, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("torn", BROKEN, distribution="somebodys-plugin")
    monkeypatch.setenv("KNAPPER_PLUGINS__ONLY", '["torn"]')
    result = run("plugins", "--strict")
    assert (result.code, result.out) == (1, "")
    assert result.err == "knapper: plugin 'torn' of somebodys-plugin: built for another Python\n"


def test_plugins_can_trace_the_hooks(run: Run, install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("geese", TOOL.format(name="geese"))
    monkeypatch.setenv("KNAPPER_PLUGINS__ONLY", '["geese"]')
    result = run("plugins", "--json", "--trace")
    assert "knapper_domains [hook]" in result.err
    assert result.json[0]["name"]


@pytest.mark.parametrize(
    "words", [["plugins"], ["doctor"], ["config", "show"], ["config", "explain"], ["version"]]
)
def test_it_works_with_every_plugin_broken(
    run: Run, install: Install, config: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    for number in range(3):
        install(f"torn{number}", BROKEN)
    add(config, '[plugins]\nonly = ["torn0", "torn1", "torn2"]\n[torn0]\ncolour = "red"')
    monkeypatch.setenv("KNAPPER_CONFIG", str(config))
    result = run(*words)
    assert result.code == 0
    assert "Traceback" not in result.out + result.err
    if words[0] == "config":
        assert "red" in result.out


def test_a_plugin_adds_its_commands(run: Run, install: Install) -> None:
    install(
        "geese",
        """
        import click
        from knapper import hookimpl

        @click.command("honk")
        @click.argument("name")
        def honk(name):
            "Honk at somebody."
            click.echo(f"Honk, {name}!")

        @hookimpl
        def knapper_commands(cli):
            cli.add_command(honk)
        """,
    )
    assert run("honk", "Ann") == (0, "Honk, Ann!\n", "")
    assert "honk       Honk at somebody." in run("--help").out


def test_a_plugins_command_with_words_is_no_vault_even_where_a_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knapper.cli import _serves

    (tmp_path / "honk").mkdir()
    monkeypatch.chdir(tmp_path)
    assert not _serves(["honk", "Ann"])
    for vault in (["honk"], ["honk", "--port", "0"], ["./honk", "more"], ["serve", "honk"]):
        assert _serves(vault)


def test_a_plugin_cannot_take_a_command_of_the_core(run: Run, install: Install) -> None:
    install(
        "geese",
        """
        import click
        from knapper import hookimpl

        @hookimpl
        def knapper_commands(cli):
            cli.add_command(click.Command("doctor", help="Not the real one."))
        """,
    )
    assert "Not the real one." not in run("--help").out
    assert "Examine this installation" in run("doctor", "--help").out


def test_a_plugin_whose_command_hook_fails_costs_no_other_command(run: Run, install: Install) -> None:
    install("torn", "from knapper import hookimpl\n@hookimpl\ndef knapper_commands(cli):\n    1 / 0\n")
    assert run("--help").code == 0


def test_config_show_is_a_file_that_says_the_same_and_hides_secrets(
    run: Run, config: Path, tmp_path: Path
) -> None:
    secret = "a secret of more than thirty-two characters"
    add(config, f'[auth]\nmode = "jwt"\njwt_secret = "{secret}"\n[plugins]\nonly = []')
    shown = run("config", "show", config).out
    assert secret not in shown
    assert tomllib.loads(shown)["auth"]["jwt_secret"] == "<redacted>"
    again = tmp_path / "again.toml"
    again.write_text(shown.replace("<redacted>", secret), encoding="utf-8")
    assert run("config", "show", again).out == shown
    assert run("config", "show", config, "--json").json["auth"]["jwt_secret"] == "<redacted>"


def test_config_show_has_the_sections_of_plugins_with_their_defaults(
    run: Run, install: Install, config: Path
) -> None:
    install(
        "geese",
        """
        from knapper import Domain, Section, hookimpl

        class GeeseSettings(Section):
            flock_size: int = 7
            api_key: str = "hush"

        @hookimpl
        def knapper_domains():
            return Domain("geese", summary="Geese.", settings=GeeseSettings)
        """,
    )
    add(config, '[plugins]\nonly = ["geese"]')
    assert tomllib.loads(run("config", "show", config).out)["geese"] == {
        "flock_size": 7,
        "api_key": "<redacted>",
    }


def test_config_validate_says_that_it_is_well(run: Run, config: Path) -> None:
    result = run("config", "validate", config)
    assert (result.code, result.err) == (0, "knapper.toml: the configuration is valid, with 1 vault(s)\n")


def test_config_validate_names_every_mistake_on_a_line_and_exits_2(run: Run, config: Path) -> None:
    add(config, "[acl]\nreed_only = true\n[governor]\nregex_timeout_ms = 0")
    result = run("config", "validate", config)
    assert (result.code, result.out) == (2, "")
    assert sorted(result.err.splitlines()) == [
        "knapper: acl.reed_only: is not a setting; did you mean 'read_only'?",
        "knapper: governor.regex_timeout_ms: input should be greater than 0",
    ]


def test_config_validate_finds_a_section_nobody_owns_and_a_folder_that_is_gone(
    run: Run, config: Path, notes: Path
) -> None:
    add(config, "[plugins]\nonly = []\n[gesee]\na = 1")
    notes.rename(notes.with_name("Elsewhere"))
    result = run("config", "validate", config)
    assert result.code == 2
    assert result.err.splitlines() == [
        "knapper: gesee: is not a setting",
        "knapper: vaults.0.path: there is no such folder, for the vault 'main'",
    ]


def test_config_explain_names_the_source_of_each_value(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(config, 'security_profile = "hardened"')
    config.write_text(
        'security_profile = "hardened"\n' + config.read_text().replace('security_profile = "hardened"\n', "")
    )
    monkeypatch.setenv("KNAPPER_GOVERNOR__REGEX_TIMEOUT_MS", "9")
    rows = {row["key"]: row for row in run("config", "explain", config, "--json").json}
    expected = {
        "vaults.0.id": ("main", "file"),
        "governor.regex_timeout_ms": (9, "env"),
        "writes.require_cas": (True, "profile"),
        "transports.http.port": (8765, "default"),
    }
    assert {key: (rows[key]["value"], rows[key]["source"]) for key in expected} == expected
    only = run("config", "explain", config, "--source", "env", "--json").json
    assert only == [{"key": "governor.regex_timeout_ms", "value": 9, "source": "env"}]


def test_config_explain_shows_no_secret(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAPPER_API_KEY", "hush" * 10)
    for form in ([], ["--json"]):
        result = run("config", "explain", config, *form)
        assert "hush" not in result.out
        assert "auth.api_key" in result.out


def test_index_brings_the_vault_level_and_says_what_it_did(run: Run, config: Path, notes: Path) -> None:
    add(config, "[plugins]\nonly = []")
    first = run("index", config)
    assert (first.code, first.err) == (0, "main: 1 indexed, 0 removed, 0 unchanged\n")
    assert run("index", config).err == "main: 0 indexed, 0 removed, 1 unchanged\n"
    (notes / "a.md").unlink()
    assert run("index", config).err == "main: 0 indexed, 1 removed, 0 unchanged\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--vault", "other"), "there is no vault 'other'. There is: main."),
        (("--folder", "Porjects"), "there is no folder 'Porjects'; did you mean 'Projects'?"),
        (("--folder", "a.md"), "There is: Projects, Projects/old."),
    ],
)
def test_index_of_what_does_not_exist_is_a_mistake_that_is_told(
    run: Run, config: Path, notes: Path, words: tuple[str, str], told: str
) -> None:
    add(config, "[plugins]\nonly = []")
    (notes / "Projects" / "old").mkdir(parents=True)
    result = run("index", config, *words)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert run("index", config, "--folder", "/Projects/").code == 0


def test_a_client_that_starts_it_without_a_word_is_served_what_is_configured(
    machine: Path, config: Path, install: Install
) -> None:
    add(config, "[plugins]\nonly = []")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    done = subprocess.run(
        [sys.executable, "-m", "knapper"],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        env=os.environ | {"KNAPPER_CONFIG": str(config)},
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "knapper"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal to send")
def test_a_server_that_is_stopped_while_it_starts_ends_without_a_word(
    machine: Path, install: Install, config: Path
) -> None:
    # What a shell starts in the background ignores the signal; at a terminal it is heard.
    heard = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    install("halt", f"import os, signal\n{heard}\nos.kill(os.getpid(), signal.SIGINT)\n")
    add(config, '[plugins]\nonly = ["halt"]')
    command = [sys.executable, "-m", "knapper", "serve", str(config), "--http", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
