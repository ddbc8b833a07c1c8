from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from knapper import Caller
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_scripts import making, scripts
from tests.scripts.conftest import COUNT, Run, Tools, saying

MARK = "import pathlib\npathlib.Path({!r}).write_text('ran')\n"


def test_a_trusted_script_is_a_tool(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["a.md"] = "three small words"
    vault["mcp-tools/count-words.py"] = COUNT
    run("trust", "count-words.py")
    assert tools.look() == ["count_words"]
    assert tools.call("count_words", path="a.md") == 3
    assert tools.runtime.tools["count_words"].description == "Count the words of a note."


def test_what_is_not_trusted_is_never_executed(
    tools: Tools, vault: VaultFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ran = tmp_path / "ran"
    vault["mcp-tools/evil.py"] = MARK.format(str(ran)) + saying("x")
    with caplog.at_level(logging.INFO, "knapper.scripts"):
        for _ in range(2):
            assert tools.look() == []
    assert caplog.messages == ["script mcp-tools/evil.py of vault main is not trusted; see `knapper scripts`"]
    assert not ran.exists()


def test_a_changed_script_is_gone_until_it_is_trusted_again(
    tools: Tools, run: Run, vault: VaultFolder, caplog: pytest.LogCaptureFixture
) -> None:
    vault["mcp-tools/say.py"] = saying("one")
    run("trust", "say.py")
    assert (tools.look(), tools.call("say")) == (["say"], "one")
    vault["mcp-tools/say.py"] = saying("two!")
    assert tools.look() == []
    assert caplog.messages[-1] == (
        "script mcp-tools/say.py of vault main has changed since it was trusted; see `knapper scripts`"
    )
    assert tools.call("say") == "not_found"
    run("trust", "say.py")
    assert (tools.look(), tools.call("say")) == (["say"], "two!")


def test_the_bytes_that_run_are_those_that_were_hashed(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/say.py"] = saying("one")
    run("trust", "say.py")
    tools.look()
    (vault.path / "mcp-tools/say.py").write_bytes(saying("bad").encode())
    assert tools.call("say") == "one"
    assert tools.look() == []


def test_a_deleted_or_renamed_script_takes_its_tool_along(tools: Tools, run: Run, vault: VaultFolder) -> None:
    for name in ("one", "two"):
        vault[f"mcp-tools/{name}.py"] = saying(name)
    run("trust", "one.py", "two.py")
    assert tools.look() == ["one", "two"]
    del vault["mcp-tools/one.py"]
    (vault.path / "mcp-tools/two.py").rename(vault.path / "mcp-tools/three.py")
    assert tools.look() == []
    run("trust", "three.py")
    assert (tools.look(), tools.call("three")) == (["three"], "two")
    assert [name for name in sys.modules if name.startswith("knapper_scripts_of.main.two")] == []


def test_trust_that_is_taken_back_takes_the_tool_along(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/say.py"] = saying("one")
    run("trust", "say.py")
    assert tools.look() == ["say"]
    assert run("untrust", "say.py") == "untrusted  mcp-tools/say.py\n"
    assert tools.look() == []


BROKEN = {
    "syntax": ("def tool(ctx) -> str\n", "SyntaxError: "),
    "zero": ('def tool(ctx) -> str:\n    """\0"""\n', "SyntaxError: "),
    "raises": ("1 / 0\n" + saying("x"), "ZeroDivisionError: division by zero"),
    "exits": ("raise SystemExit(3)\n" + saying("x"), "SystemExit: 3"),
    "imports": ("import no_such_module\n" + saying("x"), "ModuleNotFoundError: "),
    "no_scopes": ('def tool(ctx) -> str:\n    """Say."""\n    return ""\n', "SCOPES does not say what"),
    "odd_scope": (
        'SCOPES = ("notes",)\ndef tool(ctx) -> str:\n    """Say."""\n    return ""\n',
        "scope 'notes' is not",
    ),
    "no_ctx": (
        'SCOPES = ("read:notes",)\ndef tool() -> str:\n    """Say."""\n    return ""\n',
        "the first parameter",
    ),
    "no_doc": (
        'SCOPES = ("read:notes",)\ndef tool(ctx) -> str:\n    return ""\n',
        "tool 'no_doc' of domain 'scripts' has no docstring",
    ),
    "no_return": ('SCOPES = ("read:notes",)\ndef tool(ctx):\n    """Say."""\n', "its return type is missing"),
    "schema": (
        'SCOPES = ("read:notes",)\ndef tool(ctx, a: object()) -> str:\n    """Say."""\n',
        "TypeError: ",
    ),
    "hints": (
        'SCOPES = ("read:notes",)\ndef tool(ctx, a: "Missing") -> str:\n    """Say."""\n',
        "NameError: ",
    ),
    "reach": (
        'SCOPES = ("write:notes",)\ndef tool(ctx) -> str:\n    """Say."""\n    return ""\n',
        "it changes something, but",
    ),
    "value": ("def tool(ctx): pass\ntool = 1\n", "tool is not a plain function"),
    "Capital": (saying("x"), "'Capital' is no name of a tool"),
}


def test_a_broken_script_costs_only_itself(
    tools: Tools, run: Run, vault: VaultFolder, caplog: pytest.LogCaptureFixture
) -> None:
    vault["mcp-tools/good.py"] = saying("good")
    for name, (text, _) in BROKEN.items():
        vault[f"mcp-tools/{name}.py"] = text
    run("trust", "good.py", *(f"{name}.py" for name in BROKEN))
    assert (tools.look(), tools.call("good")) == (["good"], "good")
    said = {record.args[0]: record.getMessage() for record in caplog.records if record.args}  # type: ignore[index]
    for name, (_, reason) in BROKEN.items():
        assert f" of vault main is broken: {reason}" in said[f"mcp-tools/{name}.py"]
    modules = {name.split(".")[2] for name in sys.modules if name.startswith("knapper_scripts_of.main.")}
    assert "good" in modules
    assert modules.isdisjoint(BROKEN)


def test_a_script_that_never_ends_loading_holds_nobody_up(
    tools: Tools, run: Run, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "LOAD_SECONDS", 0.2)
    vault["mcp-tools/endless.py"] = "import threading\nthreading.Event().wait()\n" + saying("x")
    vault["mcp-tools/good.py"] = saying("good")
    run("trust", "endless.py", "good.py")
    assert tools.look() == ["good"]


def test_files_without_a_tool_are_skipped_in_silence(
    tools: Tools, vault: VaultFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ran = tmp_path / "ran"
    vault["mcp-tools/helper.py"] = MARK.format(str(ran)) + "def other(): pass\n"
    vault["mcp-tools/notes.md"] = "def tool(\n"
    with caplog.at_level(logging.DEBUG, "knapper.scripts"):
        assert tools.look() == []
    assert caplog.messages == []
    assert not ran.exists()


def test_folders_below_are_part_of_the_name(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/text/shout-out.py"] = saying("hey")
    run("trust", "mcp-tools/text/shout-out.py")
    assert (tools.look(), tools.call("text_shout_out")) == (["text_shout_out"], "hey")


def test_a_name_that_is_taken_stays_with_its_owner(
    tools: Tools, run: Run, vault: VaultFolder, caplog: pytest.LogCaptureFixture
) -> None:
    for path, text in (("a-b", "first"), ("a_b", "second"), ("find_capability", "third")):
        vault[f"mcp-tools/{path}.py"] = saying(text)
    run("trust", "a-b.py", "a_b.py", "find_capability.py")
    for _ in range(2):
        assert (tools.look(), tools.call("a_b")) == (["a_b"], "first")
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "script mcp-tools/a_b.py of vault main would be the tool 'a_b', which is there already",
        "script mcp-tools/find_capability.py of vault main would be the tool 'find_capability', which is there already",
    ]
    del vault["mcp-tools/a-b.py"]
    assert (tools.look(), tools.call("a_b")) == (["a_b"], "second")


def test_who_lists_tools_is_told_of_changes_and_of_nothing_else(
    tools: Tools, run: Run, vault: VaultFolder
) -> None:
    vault["mcp-tools/say.py"] = saying("one")
    tools.look()
    assert tools.told == 0
    run("trust", "say.py")
    for _ in range(2):
        tools.look()
    assert tools.told == 1
    vault["mcp-tools/say.py"] = saying("one")  # touched, and the same
    tools.look()
    assert tools.told == 1
    vault["mcp-tools/say.py"] = saying("one", "Say it better.")
    tools.look()
    run("trust", "say.py")
    tools.look()
    assert tools.told == 3
    assert tools.runtime.tools["say"].description == "Say it better."


WRITE = '''
from knapper import Context, Record, WritePath

SCOPES = ["write:notes"]
CONFIRM = "where the note is there"


class Done(Record):
    result: str


def tool(ctx: Context, path: WritePath) -> Done:
    """Write a note."""
    ctx.confirm(ctx.vault.exists(path) is not None, {"path": path})
    return Done(result=ctx.vault.write(path, "written").path)
'''


def test_every_gate_holds_for_a_script(call: Calls, tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/write.py"] = WRITE
    vault["there.md"] = "there"
    run("trust", "write.py")
    tools.look()
    reader = Caller("reader", frozenset({"read:*"}), authenticated=True)
    assert tools.call("write", reader, path="a.md") == "forbidden"
    assert tools.call("write", Caller("x", frozenset({"*"})), path="a.md") == "unauthorized"
    assert tools.call("write", path="../a.md") == "path_invalid"
    assert tools.call("write", path=".obsidian/a.md") == "acl_denied"
    assert tools.call("write", path=5) == "validation_error"
    assert tools.call("write", path="there.md") == "elicit_required"
    assert tools.call("write", path="a.md") == "a.md"
    assert (vault["a.md"], vault["there.md"]) == ("written", "there")
    tools.runtime.audit.flush()
    with tools.runtime.state.read() as conn:
        rows = conn.exec_driver_sql("SELECT tool, error_code FROM event_log ORDER BY id").all()
    assert sorted(row.error_code or "ok" for row in rows if row.tool == "write") == [
        "acl_denied",
        "elicit_required",
        "forbidden",
        "ok",
        "path_invalid",
        "unauthorized",
        "validation_error",
    ]


@pytest.mark.parametrize("acl", [{"read_only": True}, {"write_paths": ["Open/**"]}])
def test_a_script_writes_nothing_that_the_rules_forbid(
    call: Calls, config: Path, run: Run, vault: VaultFolder, acl: dict[str, object]
) -> None:
    vault["mcp-tools/write.py"] = WRITE
    vault["mcp-tools/sly.py"] = (
        'SCOPES = ("read:notes",)\ndef tool(ctx) -> str:\n    """Read."""\n'
        "    return ctx.vault.write('sly.md', 'x').path\n"
    )
    run("trust", "write.py", "sly.py")
    call.settings = {**json.loads(config.read_text()), "acl": acl}
    tools = Tools(call.runtime(scripts))
    assert tools.look() == ["sly", "write"]
    assert tools.call("write", path="a.md") in ("forbidden", "acl_denied")
    assert tools.call("sly") in ("read_only_mode", "acl_denied")
    assert sorted(vault) == ["mcp-tools/sly.py", "mcp-tools/write.py"]


def test_a_script_of_one_vault_knows_no_other(
    call: Calls, config: Path, run: Run, vault: VaultFolder, tmp_path: Path
) -> None:
    other = VaultFolder(tmp_path / "other")
    settings = json.loads(config.read_text())
    settings["vaults"].append({"id": "other", "path": str(other.path)})
    settings["scripts"]["folders"] = {"other": "Tools"}
    config.write_text(json.dumps(settings))
    where = 'SCOPES = ("read:notes",)\ndef tool(ctx) -> str:\n    """Where."""\n    return ctx.vault.vault\n'
    vault["mcp-tools/here.py"] = where
    other["Tools/there.py"] = where
    run("trust", "here.py", "--vault", "main")
    call.settings = settings
    tools = Tools(call.runtime(scripts))
    assert tools.look() == ["here"]
    run("trust", "there.py", "--vault", "other")
    assert tools.look() == ["here", "there"]
    assert (tools.call("here"), tools.call("there")) == ("main", "other")
    bound = Caller("b", frozenset({"*"}), authenticated=True, vault="main")
    assert (tools.call("here", bound), tools.call("there", bound)) == ("main", "forbidden")


def test_a_failing_call_tells_nothing_of_the_script(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/fail.py"] = (
        'SCOPES = ("read:notes",)\ndef tool(ctx) -> str:\n    """Fail."""\n    raise SystemExit\n'
    )
    run("trust", "fail.py")
    tools.look()
    outcome = tools.runtime.call("fail", {}, Caller("me", frozenset({"*"}), authenticated=True))
    assert outcome.error is not None
    assert (outcome.error["code"], outcome.error["message"]) == ("internal", "internal error")


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(scripts)
