"""Running templates: what each command writes, and what comes back."""

import os
import re
from datetime import datetime
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_templater import templater

SETTINGS = ".obsidian/plugins/templater-obsidian/data.json"
THURSDAY = datetime(2026, 3, 5, 14, 7, 9)


def run(
    call: Calls, vault: VaultFolder, template: str, target: str = "Notes/My note.md", **arguments: Any
) -> str:
    """The text that a template writes, on a Thursday in March 2026."""
    vault["Templates/T.md"] = template
    call.runtime(templater).clock = THURSDAY.timestamp
    done = call.confirmed(
        templater, "execute_template", template="Templates/T.md", target=target, **arguments
    )
    return vault[done["target"]]


def test_a_note_is_made_from_a_template(call: Calls, vault: VaultFolder) -> None:
    vault["Templates/T.md"] = "# <% tp.file.title %>\n"
    done = call.confirmed(templater, "execute_template", template="Templates/T.md", target="New/A b.md")
    assert vault["New/A b.md"] == "# A b\n"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", done.pop("created_at"))
    assert done == {
        "template": "Templates/T.md",
        "target": "New/A b.md",
        "content_hash": "80f6c3fb77cba5e7b6334ebbf9c8fc890a57c246c6754010b8e3b381e2978911",
        "expanded_size": 6,
        "engine": "native",
    }


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a<% 1 %>\nb", "a1\nb"),
        ("a\n\n<%- 1 -%>\n\nb", "a\n1\nb"),
        ("a \n\n <%_ 1 _%> \n\n b", "a1b"),
        ("a\n<%-* let x = 1 -%>\nb<% x %>", "ab1"),
        ("a\r\n<%- 1 -%>\r\nb", "a1b"),
        ("<%* let x = 1 %>\n<% x %>", "\n1"),
        ("<%* for (const x of [1, 2]) { %>- <% x %>\n<%* } %>", "- 1\n- 2\n"),
        ("<%* for (const x of ['a', 'b']) { -%>\n- <% x %>\n<%* } -%>\nend", "- a\n- b\nend"),
        ("<%* if (tp.file.title === 'My note') { %>yes<%* } else { %>no<%* } %>", "yes"),
        ("<%* tR += 'out' %>", "out"),
        ("gone<%* tR = '' %>kept", "kept"),
        ("<%* const a = 1\nlet b = 2\ntR += a + b %>", "3"),
        ("<% tp.file.title; %>", "My note"),
        ("<%+ tp.file.title %>", "<%+ tp.file.title %>"),
        ("a\n<%-+ tp.file.title -%>\nb", "a\n<%-+ tp.file.title -%>\nb"),
        ("100 % <b> %> <", "100 % <b> %> <"),
        ("{{date}} {{title}}", "{{date}} {{title}}"),
        ("<% tp.frontmatter.missing %>", "undefined"),
        ("<% null %>|<% [1, 2] %>|<% true %>|<% 1.5 %>", "null|1,2|true|1.5"),
        ("", ""),
        ("é 漢 🎉 <% 'ü' %>\n", "é 漢 🎉 ü\n"),
    ],
)
def test_text_and_commands_are_put_together(
    call: Calls, vault: VaultFolder, template: str, text: str
) -> None:
    assert run(call, vault, template) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("tp.date.now()", "2026-03-05"),
        ('tp.date.now("Do MMMM YYYY")', "5th March 2026"),
        ('tp.date.now("YYYY-MM-DD HH:mm:ss")', "2026-03-05 14:07:09"),
        ('tp.date.now("YYYY-MM-DD", 7)', "2026-03-12"),
        ('tp.date.now("YYYY-MM-DD", -7)', "2026-02-26"),
        ('tp.date.now("YYYY-MM-DD", "P1W")', "2026-03-12"),
        ('tp.date.now("YYYY-MM-DD", "P-1M")', "2026-02-05"),
        ('tp.date.now("YYYY-MM-DD", "-P1M2D")', "2026-02-03"),
        ('tp.date.now("YYYY-MM-DD", "P1Y")', "2027-03-05"),
        ('tp.date.now("YYYY-MM-DD HH:mm", "PT1H30M")', "2026-03-05 15:37"),
        ('tp.date.now("YYYY-MM-DD", "P1M", "2026-01-31")', "2026-02-28"),
        ('tp.date.now("YYYY-MM-DD", 1, "28.02.2024", "DD.MM.YYYY")', "2024-02-29"),
        ('tp.date.now("dddd", 0, tp.file.title.slice(0, 0) || "2026-03-07", "YYYY-MM-DD")', "Saturday"),
        ('tp.date.now("YYYY", undefined, null)', "2026"),
        ("tp.date.tomorrow()", "2026-03-06"),
        ('tp.date.tomorrow("ddd")', "Fri"),
        ('tp.date.yesterday("YY/M/D")', "26/3/4"),
        ('tp.date.weekday("YYYY-MM-DD", 0)', "2026-03-01"),
        ('tp.date.weekday("YYYY-MM-DD", 6)', "2026-03-07"),
        ('tp.date.weekday("YYYY-MM-DD", -7)', "2026-02-22"),
        ('tp.date.weekday("YYYY-MM-DD", 7)', "2026-03-08"),
        ('tp.date.weekday("YYYY-MM-DD", 0, "2026-12-31")', "2026-12-27"),
        ('tp.date.weekday("YYYY-MM-DD", 0, "31.12.2026", "DD.MM.YYYY")', "2026-12-27"),
        ('moment().add(1, "month").format("YYYY-MM")', "2026-04"),
        ('moment("2026-01-01").startOf("week").format("YYYY-MM-DD")', "2025-12-28"),
    ],
)
def test_dates(call: Calls, vault: VaultFolder, expression: str, text: str) -> None:
    assert run(call, vault, f"<% {expression} %>") == text


def test_the_first_day_of_the_week_is_the_vaults(call: Calls, vault: VaultFolder) -> None:
    vault[".obsidian/plugins/calendar/data.json"] = '{"weekStart": "monday"}'
    template = '<% tp.date.weekday("YYYY-MM-DD", 0) %> <% tp.date.weekday("YYYY-MM-DD", 6) %> <% tp.date.now("ww") %>'
    assert run(call, vault, template) == "2026-03-02 2026-03-08 10"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("tp.file.title", "My note"),
        (
            "tp.file.content",
            "---\nstatus: open\nnested: {a: [1, 2]}\nmy key: x\ntags: [one]\n---\nold #two\n",
        ),
        ("tp.file.tags", "#one,#two"),
        ('tp.file.tags.map((tag) => tag.slice(1)).join(" ")', "one two"),
        ("tp.file.folder()", "Inner"),
        ("tp.file.folder(true)", "Notes/Inner"),
        ("tp.file.path(true)", "Notes/Inner/My note.md"),
        ("tp.file.selection()", ""),
        ("tp.file.cursor()", ""),
        ("tp.file.cursor(2)", ""),
        ('tp.file.cursor_append("x")', "x"),
        ('tp.file.exists("Notes/Inner/My note.md")', "true"),
        ('await tp.file.exists("Notes/Inner/My note")', "false"),
        ('tp.file.exists("Notes")', "true"),
        ('tp.file.find_tfile("My note").path', "Notes/Inner/My note.md"),
        ('tp.file.find_tfile("My note").basename', "My note"),
        ('tp.file.find_tfile("nothing")', "null"),
        ("tp.file.creation_date().length", "16"),
        ('tp.file.last_modified_date("YYYY")', "2001"),
        ("tp.frontmatter.status", "open"),
        ('tp.frontmatter["my key"]', "x"),
        ("tp.frontmatter.nested.a[1] + 1", "3"),
        ("tp.frontmatter.nothing ?? 'none'", "none"),
        ("tp.config.template_file.path", "Templates/T.md"),
        ("tp.config.target_file.basename", "My note"),
        ("tp.config.run_mode", "2"),
        ("tp.config.active_file", "undefined"),
        ("`${tp.file.title} of ${tp.file.folder()}`", "My note of Inner"),
        ("tp.file.title.toUpperCase().replace(/ /g, '-')", "MY-NOTE"),
        ("tp.frontmatter.status === 'open' ? 'yes' : 'no'", "yes"),
    ],
)
def test_the_target_and_other_files(call: Calls, vault: VaultFolder, expression: str, text: str) -> None:
    target = "Notes/Inner/My note.md"
    vault[target] = "---\nstatus: open\nnested: {a: [1, 2]}\nmy key: x\ntags: [one]\n---\nold #two\n"
    os.utime(vault.path / target, (1_000_000_000, 1_000_000_000))
    assert run(call, vault, f"<% {expression} %>", target, overwrite=True) == text


def test_a_new_note_has_no_past(call: Calls, vault: VaultFolder) -> None:
    template = "<% tp.file.creation_date() %>|<% tp.file.last_modified_date() %>|<% tp.file.content %>|<% tp.config.run_mode %>|<% tp.file.folder() %>|<% tp.file.folder(true) %>"
    assert run(call, vault, template, "Root.md") == "2026-03-05 14:07|2026-03-05 14:07||0||/"


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ("[[Part]]", "intro My note\n## One\nfirst\n### Deep\nd\n## Two\nsecond ^b1\n"),
        ("[[Part#One]]", "## One\nfirst\n### Deep\nd\n"),
        ("[[Part#One#Deep]]", "### Deep\nd\n"),
        ("[[Templates/Part#two]]", "## Two\nsecond ^b1\n"),
        ("[[Part#^b1]]", "second ^b1"),
        ("![[Part#^b1|shown]]", "second ^b1"),
    ],
)
def test_includes_are_rendered_for_the_same_target(
    call: Calls, vault: VaultFolder, link: str, text: str
) -> None:
    vault["Templates/Part.md"] = "intro <% tp.file.title %>\n## One\nfirst\n### Deep\nd\n## Two\nsecond ^b1\n"
    assert run(call, vault, f'<% await tp.file.include("{link}") %>') == text


def test_a_found_file_can_be_included(call: Calls, vault: VaultFolder) -> None:
    vault["Elsewhere/Part.md"] = "part"
    assert (
        run(call, vault, '<%* const file = tp.file.find_tfile("Part") %><% tp.file.include(file) %>')
        == "part"
    )


def test_cursors_are_taken_out_and_reported(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"] = "a<% tp.file.cursor(1) %>b\n<% tp.file.cursor() %>c<% tp.file.cursor(2) %>"
    done = call.confirmed(templater, "execute_template", template="T.md", target="N.md")
    assert vault["N.md"] == "ab\nc"
    assert done["cursors"] == [
        {"line": 1, "column": 2, "order": 1},
        {"line": 2, "column": 1},
        {"line": 2, "column": 2, "order": 2},
    ]


def test_the_core_plugins_variables_are_filled_in_where_its_folder_is_the_one(
    call: Calls, vault: VaultFolder
) -> None:
    vault[".obsidian/templates.json"] = '{"folder": "Templates", "dateFormat": "DD.MM.YYYY"}'
    template = "{{title}} {{date}} {{Date:YYYY}} {{time}} {{time:HH}} {{other}} <% '{{date}}' %>"
    text = "My note 05.03.2026 2026 14:07 14 {{other}} {{date}}"
    assert run(call, vault, template) == text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_title_is_never_run_as_a_command(call: Calls, vault: VaultFolder) -> None:
    vault[".obsidian/templates.json"] = '{"folder": "Templates"}'
    assert run(call, vault, "{{title}} <% tp.file.title %>", "<% 1 + 1 %>.md") == "<% 1 + 1 %> <% 1 + 1 %>"


def test_a_template_is_found_by_its_name_in_the_folder(call: Calls, vault: VaultFolder) -> None:
    vault[SETTINGS] = '{"templates_folder": "Templates"}'
    vault["Templates/Daily.md"] = "from the folder"
    vault["Notes/Daily.md"] = "a note"
    done = call.confirmed(templater, "execute_template", template="Daily", target="A.md")
    assert (done["template"], vault["A.md"]) == ("Templates/Daily.md", "from the folder")


def test_a_note_that_is_there_stays_unless_it_may_be_overwritten(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"], vault["N.md"] = "new", "old"
    with pytest.raises(ToolError, match="there already") as refused:
        call.confirmed(templater, "execute_template", template="T.md", target="N.md")
    assert (refused.value.code, vault["N.md"]) == ("note_exists", "old")
    call.confirmed(templater, "execute_template", template="T.md", target="N.md", overwrite=True)
    assert vault["N.md"] == "new"


def test_every_run_asks_a_person(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"] = "x"
    with pytest.raises(ToolError) as refused:
        call(templater, "execute_template", template="T.md", target="N.md")
    assert (refused.value.code, "N.md" in vault) == ("elicit_required", False)


def test_the_same_key_runs_a_template_once(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"] = "x"
    arguments = {"template": "T.md", "target": "N.md", "idempotency_key": "k"}
    first = call.confirmed(templater, "execute_template", **arguments)
    vault["N.md"] = "edited since"
    assert call(templater, "execute_template", **arguments) == first
    assert vault["N.md"] == "edited since"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(templater)
