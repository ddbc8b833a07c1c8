"""What a template cannot do here, what it may not do, and that then nothing is written."""

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_templater import templater


def test_a_run_may_take_more_than_the_trial_before_it(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"] = "<%* let n = 0; for (const a of 'x'.repeat(60000)) { n += 1 } %><% n %>"
    call.confirmed(templater, "execute_template", template="T.md", target="New.md")
    assert vault["New.md"] == "60000"


def refused(call: Calls, vault: VaultFolder, template: str, **arguments: Any) -> ToolError:
    """The error of a template, of which no trace is left in the vault."""
    vault["T.md"] = template
    before = {path: vault.bytes(path) for path in vault}
    with pytest.raises(ToolError) as raised:
        call.confirmed(templater, "execute_template", template="T.md", target="New.md", **arguments)
    assert {path: vault.bytes(path) for path in vault} == before
    return raised.value


@pytest.mark.parametrize(
    ("template", "construct", "line"),
    [
        ("a\n<% tp.web.daily_quote() %>", "tp.web.daily_quote()", 2),
        ("<% tp.web.request('https://a') %>", "tp.web.request()", 1),
        ("<% tp.user.mine(1) %>", "tp.user.mine()", 1),
        ("<% tp.obsidian.moment() %>", "tp.obsidian.moment()", 1),
        ("<% tp.app.vault.getName() %>", "tp.app.vault", 1),
        ("<% tp.hooks.on_all_templates_executed(() => 1) %>", "tp.hooks.on_all_templates_executed()", 1),
        ("<% tp.later.thing %>", "tp.later.thing", 1),
        ("<% tp.file.path() %>", "tp.file.path() without relative = true", 1),
        ("<% tp.file.unknown %>", "tp.file.unknown", 1),
        ("<% tp.date.unknown() %>", "tp.date.unknown()", 1),
        ("<% tp.system.exec('ls') %>", "tp.system.exec()", 1),
        ("<% app.vault %>", "app", 1),
        ("<%* console.log(1) %>", "console", 1),
        ("<%* while (true) {} %>", "while", 1),
        ("\n\n<%* function f() {} %>", "function", 3),
        ("<%* try { } catch (e) { } %>", "try", 1),
        ("<%* const {a} = tp.frontmatter %>", "destructuring", 1),
        ("<%* const a = {b: 1} %>", "object literal", 1),
        ("<%* let i = 0; i++ %>", "assignment (++)", 1),
        ("<% new Date() %>", "new", 1),
        ("<% eval('1') %>", None, 1),
        ("<%* if (false) { tp.web.request() } %>\n<% tp.user.f() %>", "tp.user.f()", 2),
        ("<% tp.web.random_picture() %>\n<%* while (1) {} %>", "tp.web.random_picture", 1),
        ("<% 'a'.constructor.constructor('return 1')() %>", None, 1),
        ("<% tp.file.title.__proto__ %>", None, 1),
    ],
)
def test_what_needs_more_is_named_with_its_line(
    call: Calls, vault: VaultFolder, template: str, construct: str | None, line: int
) -> None:
    if construct is None:  # what JavaScript's objects have and ours do not is simply not there
        try:
            error = refused(call, vault, template)
        except pytest.fail.Exception:
            assert vault["New.md"] == "undefined"
            return
        assert error.code == "invalid_input"
        return
    for engine in ("auto", "native"):
        error = refused(call, vault, template, engine=engine)
        assert (error.code, error.details["plugin"]) == ("plugin_missing", "templater")
        assert (error.details["construct"], error.details["line"]) == (construct, line)
        assert f"'T.md' uses {construct} in line {line}" in error.message


@pytest.mark.parametrize(
    ("template", "reason", "line"),
    [
        ("a\n<% tp.file.title", "SyntaxError: a command is not closed with %>", 2),
        ("<% %>", "SyntaxError: Unexpected ')'", 1),
        ("<% (1 %>", "SyntaxError", 1),
        ("\n<%* if (true) { %>", "SyntaxError: Unexpected 'the end'", 2),
        ("<% missing %>", "missing is not defined", 1),
        ("<% tp.frontmatter.a.b %>", "Cannot read properties of undefined", 1),
        ("<% tp.date.now('YYYY', 0, 'nonsense') %>", "Invalid reference date 'nonsense'", 1),
        ("<% tp.date.now('YYYY', 0, 'soon', 'YYYY') %>", "Invalid reference date", 1),
        ("<% tp.date.now('YYYY', 'P1X') %>", "'P1X' is not a duration", 1),
        ("<% tp.date.now('YYYY', 1e300) %>", "beyond the calendar", 1),
        ("<% tp.date.weekday('YYYY') %>", "needs the number of a weekday", 1),
        ("<% tp.file.include('Part') %>", "provide an obsidian link", 1),
        ("<% tp.file.include('[[Part#Nowhere]]') %>", "has no part '#Nowhere'", 1),
        ("<% tp.file.include('[[Part#^nope]]') %>", "has no part '#^nope'", 1),
        ("<% tp.system.suggester(['a'], [1, 2]) %>", "as many labels as items", 1),
        ("text\n<% 'x' + \n null.y %>", "Cannot read properties of null", 2),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    call: Calls, vault: VaultFolder, template: str, reason: str, line: int
) -> None:
    vault["Part.md"] = "part\n"
    error = refused(call, vault, template)
    assert error.code == "invalid_input"
    assert reason in error.message
    assert (error.details["template"], error.details["line"]) == ("T.md", line)


def test_an_error_in_an_included_template_names_that_one(call: Calls, vault: VaultFolder) -> None:
    vault["Part.md"] = "\n\n<% nothing %>"
    error = refused(call, vault, "<% tp.file.include('[[Part]]') %>")
    assert error.message == "line 3 of the template 'Part.md': nothing is not defined"


def test_what_an_included_template_needs_is_named_with_that_template(call: Calls, vault: VaultFolder) -> None:
    vault["Part.md"] = "\n\n<%* while (true) {} %>"
    error = refused(call, vault, "<% tp.file.include('[[Part]]') %>")
    assert (error.details["template"], error.details["line"]) == ("Part.md", 3)
    assert "'Part.md' uses while in line 3" in error.message


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("<% tp.file.include('[[Nowhere]]') %>", "note_not_found"),
        ("<% tp.file.include('[[]]') %>", "note_not_found"),
        ("<% tp.file.include('[[../../etc/passwd]]') %>", "note_not_found"),
        ("<% tp.file.include('[[/etc/passwd]]') %>", "note_not_found"),
        ("<% tp.file.include('[[.obsidian/app.json]]') %>", "note_not_found"),
        ("<% tp.file.exists('../../etc/passwd') %>", "path_invalid"),
        ("<% tp.file.move('../out') %>", "path_invalid"),
        ("<% tp.file.move('a/../../out') %>", "path_invalid"),
        ("<% tp.file.move('%2e%2e/out') %>", "path_invalid"),
        ("<% tp.file.move('..\\\\out') %>", "path_invalid"),
        ("<% tp.file.move('C:/out') %>", "path_invalid"),
        ("<% tp.file.move('.obsidian/app') %>", "acl_denied"),
        ("<% tp.file.move('.git/hooks/x') %>", "acl_denied"),
        ("<% tp.file.move('a\\u0000b') %>", "path_invalid"),
        ("<% tp.file.move('x'.repeat(5000)) %>", "path_invalid"),
        ("<% tp.file.move('Taken') %>", "note_exists"),
        ("<% tp.file.rename('Taken') %>", "note_exists"),
        ("<% tp.file.rename('../x') %>", "invalid_input"),
        ("<% tp.file.rename('a:b') %>", "invalid_input"),
        ("<% tp.file.create_new('x', '../../x') %>", "path_invalid"),
        ("<% tp.file.create_new('x', 'y', false, '../..') %>", "path_invalid"),
        ("<% tp.file.create_new('x', 'app', false, '.obsidian') %>", "acl_denied"),
        ("<% tp.file.move('Other', tp.file.find_tfile('Taken')) %>", "plugin_missing"),
    ],
)
def test_paths_lead_nowhere_but_into_the_vault(
    call: Calls, vault: VaultFolder, template: str, code: str
) -> None:
    call.settings = {"templater": {"allow_file_changes": True}}
    vault["Taken.md"], vault[".obsidian/app.json"] = "taken", "{}"
    assert refused(call, vault, template).code == code


@pytest.mark.parametrize(
    "template",
    [
        "<% tp.file.include('[[T]]') %>",
        "<% tp.file.include('[[Ping]]') %>",
        "<%* const a = 'x'.repeat(1000).split(''); for (const x of a) for (const y of a) for (const z of a) { tR = z } %>",
        "<%* const f = (x) => f(x); f(1) %>",
        "<%* let s = 'x'; for (const a of 'x'.repeat(900000)) { tR += s } %>",
        "<%* const s = 'x'.repeat(900000); const a = []; for (const c of s) a.push(s + c) %>",
        "<% " + "(" * 5000 + "1" + ")" * 5000 + " %>",
        "<%* " + "if (1) {" * 5000 + "}" * 5000 + " %>",
        "<% " + "[" * 50_000 + " %>",
        "<%* for (const a of 'x'.repeat(100000)) tp.file.include('[[Leaf]]') %>",
        "<%* for (const a of 'x'.repeat(1000)) tp.file.create_new('x') %>",
        "<% 1 %>" * 30_000,
        "<%* /* " + "/*" * 80_000 + " %>",
        "<% /(a+)+$/.test('" + "a" * 40 + "!') %>",
        "<% tp.date.now('Y'.repeat(900000)).length %>" * 200,
    ],
)
def test_a_hostile_template_ends_within_its_budget(call: Calls, vault: VaultFolder, template: str) -> None:
    call.settings = {"templater": {"allow_file_changes": True}}
    vault["Ping.md"], vault["Pong.md"] = (
        "<% tp.file.include('[[Pong]]') %>",
        "<% tp.file.include('[[Ping]]') %>",
    )
    vault["Leaf.md"] = "<%* for (const b of 'x'.repeat(10000)) tR += b %>"
    assert refused(call, vault, template).code in ("compute_budget_exceeded", "invalid_input")


def test_templates_that_include_each_other_are_stopped_by_name(call: Calls, vault: VaultFolder) -> None:
    error = refused(call, vault, "<% tp.file.include('[[T]]') %>")
    assert error.code == "compute_budget_exceeded"
    assert error.message == "the template 'T.md' was stopped: templates include each other more than 10 deep"


def test_a_template_may_include_ten_deep(call: Calls, vault: VaultFolder) -> None:
    for number in range(10):
        vault[f"P{number}.md"] = f"{number}<% tp.file.include('[[P{number + 1}]]') %>"
    vault["P10.md"] = "end"
    call.confirmed(templater, "execute_template", template="P0.md", target="New.md")
    assert vault["New.md"] == "0123456789end"


@pytest.mark.parametrize("name", ["rename('x')", "move('x')", "create_new('x', 'y')"])
def test_files_change_only_where_the_operator_permits_it(call: Calls, vault: VaultFolder, name: str) -> None:
    error = refused(call, vault, f"<% tp.file.{name} %>")
    assert error.code == "forbidden"
    assert "templater.allow_file_changes" in error.message


def test_what_the_caller_may_not_read_cannot_be_included_found_or_run(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"acl": {"read_paths": ["T.md", "New.md", "open/**"]}}
    vault["closed/Secret.md"] = "secret"
    assert refused(call, vault, "<% tp.file.include('[[Secret]]') %>").code == "note_not_found"
    assert refused(call, vault, "<% tp.file.include('[[closed/Secret]]') %>").code == "note_not_found"
    with pytest.raises(ToolError) as denied:
        call(templater, "execute_template", template="closed/Secret.md", target="New.md")
    assert denied.value.code in ("acl_denied", "note_not_found")
    vault["T.md"] = "<% tp.file.exists('closed/Secret.md') %> <% tp.file.find_tfile('Secret') %>"
    call.confirmed(templater, "execute_template", template="T.md", target="New.md")
    assert vault["New.md"] == "false null"


def test_a_template_writes_only_where_the_caller_may(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"write_paths": ["New.md", "open/**"]}, "templater": {"allow_file_changes": True}}
    assert refused(call, vault, "<% tp.file.move('closed/x') %>").code == "acl_denied"
    assert refused(call, vault, "<% tp.file.create_new('x', 'x', false, 'closed') %>").code == "acl_denied"


def test_a_template_that_is_not_there_is_said_before_anybody_is_asked(
    call: Calls, vault: VaultFolder
) -> None:
    with pytest.raises(ToolError) as missing:
        call(templater, "execute_template", template="Nope.md", target="New.md")
    assert missing.value.code == "note_not_found"
