"""Every hook, code, setting, command and tool is documented, as it is now."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from devtools.docs.examples import EXAMPLES
from devtools.docs.pages import pages, registered
from devtools.docs.settings import keys, nested
from devtools.members import ROOT
from knapper import __all__ as public
from knapper.cli.app import COMMANDS, cli
from knapper.cli.checks.configuration import VARIABLES
from knapper.config.load import NAMED
from knapper.config.meanings import MEANINGS, meaning
from knapper.config.model import Settings
from knapper.errors import CODES
from knapper.plugins import HOOKS

DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wanted() -> dict[Path, str]:
    return pages(ROOT)


def test_the_committed_pages_are_what_would_be_generated_now(wanted: dict[Path, str]) -> None:
    stale = [
        str(file.relative_to(ROOT))
        for file, text in wanted.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run: python3 dev.py docs"


def test_there_is_no_page_of_a_domain_that_is_gone(wanted: dict[Path, str]) -> None:
    assert [file.name for file in (DOCS / "domains").glob("*.md") if file not in wanted] == []


@pytest.mark.parametrize(
    ("page", "tool", "asks"),
    [
        ("notes.md", "delete_note", "on every call"),
        ("templater.md", "execute_template", "on every call"),
        ("quickadd.md", "trigger_quickadd", "on every call"),
        ("canvas.md", "create_canvas", "overwrite"),
        ("templater.md", "list_templates", "never"),
    ],
)
def test_a_tools_page_says_when_a_person_is_asked(page: str, tool: str, asks: str) -> None:
    section = text(f"domains/{page}").partition(f"\n## {tool}\n")[2].partition("\n## ")[0]
    assert f" Asks a person: {asks}. " in section


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented(hook: str) -> None:
    assert f"### {hook}\n" in text("hooks.md")
    assert f"| `{hook}` |" in text("hooks.md")


def test_every_error_code_is_documented_with_what_to_do() -> None:
    registered(ROOT)  # loading the domains adds their codes
    page = text("errors.md")
    assert [code for code in CODES if f"| `{code}` |" not in page] == []
    assert [code for code, known in CODES.items() if not known.meaning or not known.recovery] == []


def test_every_setting_has_a_meaning() -> None:
    assert [
        f"{section.__name__}.{name}"
        for section in nested(Settings).values()
        for name in keys(section)
        if not meaning(section, name)
    ] == []


def test_no_meaning_is_left_of_a_setting_that_is_gone() -> None:
    assert [
        f"{section.__name__}.{name}"
        for section, meanings in MEANINGS.items()
        for name in meanings
        if name not in section.model_fields
    ] == []


def test_every_setting_is_documented() -> None:
    page = text("configuration.md")
    for place, section in nested(Settings).items():
        assert f"### {place or 'At the top'}\n" in page
        assert [name for name in keys(section) if f"| `{name}` |" not in page] == []


def test_every_variable_is_documented() -> None:
    page = text("configuration.md")
    assert [name for name in {**NAMED, **VARIABLES} if f"| `{name}` |" not in page] == []


def test_every_command_is_documented() -> None:
    page = text("cli.md")
    context = click.Context(cli)
    for name in COMMANDS:
        assert f"### knapper {name}\n" in page
        command = cli.get_command(context, name)
        for inner in command.list_commands(context) if isinstance(command, click.Group) else []:
            assert f"### knapper {name} {inner}\n" in page


def test_every_tool_is_documented_on_the_page_of_its_domain() -> None:
    for tool in registered(ROOT).tools.values():
        assert f"## {tool.name}\n" in text(f"domains/{tool.domain.slug}.md")


def test_every_domain_shows_a_call_and_what_it_really_answers() -> None:
    """Without Obsidian and without a plur server, two domains can only say what they miss."""
    with_tools = {tool.domain.slug for tool in registered(ROOT).tools.values()}
    assert with_tools == EXAMPLES.keys()
    refused = {slug for slug in EXAMPLES if '"recovery"' in text(f"domains/{slug}.md")}
    assert refused == {"commands", "plur"}


def test_every_public_name_is_in_the_documentation() -> None:
    everything = "".join(text(page.name) for page in DOCS.glob("*.md"))
    known = {
        "ConfigError",
        "KnapperError",
        "PluginError",
        "Image",
        "ResourceLink",
        "Tool",
        "CallRecord",
        "Event",
    }
    assert [name for name in public if name not in everything and name not in known] == []


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f"(docs/{page.name})" not in readme] == []


def test_no_page_names_a_machine_or_a_person_it_should_not() -> None:
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        content = page.read_text(encoding="utf-8")
        assert str(ROOT) not in content
        assert "/root/" not in content
