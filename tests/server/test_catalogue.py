"""What is kept from one start for the next: never wrong, whatever changes in between."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import PLUGIN, Pipe, Place, install

Start = Callable[..., Pipe]


def names(one: Pipe) -> set[str]:
    one.initialize()
    found = {tool["name"] for tool in one.ask(1, "tools/list")["result"]["tools"]}
    one.call(2, "add_numbers", a=1, b=1)  # by now the server is loaded, and the catalogue kept
    assert one.leave() == 0
    return found


def kept(place: Place) -> dict[str, int]:
    return {
        f.name: f.stat().st_mtime_ns for f in Path(place.env["KNAPPER_CACHE_DIR"]).glob("catalogue-*.bin")
    }


@pytest.fixture
def warm(pipe: Start, place: Place) -> Start:
    """A server was started before, with plugins older than its start, and has left its catalogue."""
    age(place.site)
    assert "added_later" not in names(pipe())
    assert len(kept(place)) == 1
    return pipe


def age(site: Path, seconds: int = 60) -> None:
    for file in site.rglob("*.py"):
        os.utime(file, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns - seconds * 10**9))


def with_another_tool(place: Place) -> Path:
    source = place.site.parent / "changed.py"
    added = "@fixtures.tool(vault=False)\ndef added_later(ctx: Context) -> int:\n    '''Be new.'''\n    return 1\n\n\n"
    source.write_text(
        PLUGIN.read_text().replace("@hookimpl\ndef knapper_domains", f"{added}@hookimpl\ndef knapper_domains")
    )
    return source


def test_a_second_start_answers_from_what_the_first_one_kept(warm: Start, place: Place) -> None:
    before = kept(place)
    assert "add_numbers" in names(warm())
    assert kept(place) == before


def test_nothing_heavy_is_imported_before_the_first_answers(warm: Start, place: Place) -> None:
    """Everything that initialize and tools/list need is there without what the loaded server needs."""
    script = (
        "import os, sys, threading\n"
        "from knapper.server.host import Host\n"
        "Host.load_in_background = lambda self: None\n"
        "from knapper.server.stdio import Stdio\n"
        "def finish(self):\n"
        "    heavy = {'click', 'pydantic', 'pluggy', 'asyncio', 'mcp', 'sqlalchemy', 'importlib.metadata', 'logging'}\n"
        "    os.write(2, repr(sorted(heavy & sys.modules.keys())).encode())\n"
        "Stdio._finish = finish\n"
        "from knapper.cli import main\n"
        "sys.exit(main())\n"
    )
    one = Pipe([sys.executable, "-c", script, "serve", place.command_path], place.env)
    one.initialize()
    assert len(one.ask(1, "tools/list")["result"]["tools"]) > 5
    assert one.leave() == 0
    assert one.stderr() == "[]"


def test_an_edit_of_an_editable_plugin_is_seen(warm: Start, place: Place) -> None:
    (place.site / "knapper_fixtures.py").write_text(with_another_tool(place).read_text())
    assert "added_later" in names(warm())


def test_an_upgrade_is_seen_even_where_the_module_looks_as_old(warm: Start, place: Place) -> None:
    old = (place.site / "knapper_fixtures.py").stat()
    install(place.site, version="0.2.0", source=with_another_tool(place))
    os.utime(place.site / "knapper_fixtures.py", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert "added_later" in names(warm())


def test_a_newly_installed_plugin_is_seen(warm: Start, place: Place) -> None:
    place.env["KNAPPER_PLUGINS__ONLY"] = '["fixtures", "second"]'
    names(warm())
    (place.site / "second.py").write_text(
        "from knapper import Context, Domain, hookimpl\n"
        "second = Domain('second', summary='A second one.')\n"
        "@second.tool(vault=False)\n"
        "def second_tool(ctx: Context) -> int:\n    '''Be second.'''\n    return 2\n"
        "@hookimpl\ndef knapper_domains():\n    return second\n"
    )
    info = place.site / "second-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: second\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[knapper]\nsecond = second\n")
    assert "second_tool" in names(warm())


def test_a_plugin_that_is_removed_is_gone(warm: Start, place: Place) -> None:
    (place.site / "knapper_fixtures-0.1.0.dist-info" / "entry_points.txt").unlink()
    (place.site / "knapper_fixtures-0.1.0.dist-info").rename(place.site / "elsewhere")
    one = warm()
    one.initialize()
    assert one.ask(1, "tools/list")["result"]["tools"] == []


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["--set", 'tool_visibility.hidden=["shout"]'], {}),
        ([], {"KNAPPER_TOOL_VISIBILITY__HIDDEN": '["shout"]'}),
    ],
)
def test_another_command_line_or_environment_is_another_catalogue(
    warm: Start, arguments: list[str], env: dict[str, str]
) -> None:
    assert "shout" in names(warm())
    assert "shout" not in names(warm(*arguments, **env))
    assert "shout" in names(warm())


def test_a_changed_configuration_file_is_seen(pipe: Start, place: Place) -> None:
    age(place.site)
    config = place.vault.parent / "config.toml"
    text = f'cache_dir = "{place.env.pop("KNAPPER_CACHE_DIR")}"\n[[vaults]]\nid = "main"\npath = "{place.vault}"\n'
    config.write_text(text)
    place.command_path = str(config)
    assert "shout" in names(pipe())
    config.write_text(text + '[tool_visibility]\nhidden = ["shout"]\n')
    assert "shout" not in names(pipe())


def test_a_damaged_catalogue_is_made_anew(warm: Start, place: Place) -> None:
    (name,) = kept(place)
    (Path(place.env["KNAPPER_CACHE_DIR"]) / name).write_bytes(b"\x00 not a catalogue")
    assert "add_numbers" in names(warm())
    assert "add_numbers" in names(warm())


def test_nothing_is_kept_where_a_plugin_failed(pipe: Start, place: Place) -> None:
    """What it lacks may be there at the next start, and nothing that we look at would show it."""
    (place.site / "knapper_fixtures.py").write_text("import not_installed\n")
    age(place.site)
    one = pipe()
    one.initialize()
    assert one.ask(1, "tools/list")["result"]["tools"] == []
    assert one.leave() == 0
    assert kept(place) == {}


def test_bytecode_written_by_the_first_start_does_not_make_it_stale(warm: Start, place: Place) -> None:
    before = kept(place)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(place.site)], check=True)
    names(warm())
    assert kept(place) == before


def test_the_instructions_name_the_vaults_and_the_way_to_call(pipe: Start) -> None:
    said: dict[str, Any] = pipe("--facade", "triad").initialize()["result"]
    assert "main" in said["instructions"]
    assert "find_capability" in said["instructions"]
