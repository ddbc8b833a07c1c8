"""Confirmations from the command line: what a person sees, says, and what comes of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from knapper.config.load import load
from knapper.config.paths import cache_dir, data_dir
from knapper.runtime import open_runtime
from knapper.store.confirmations import Approvals
from knapper.store.state import State
from knapper.store.stats import Stats
from tests.core.cli.conftest import Run, add

CALL = ("main", "delete_note", "0123456789abcdef0123456789abcdef", "stdio")
DIFF = "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-old\n+new\n"


@contextmanager
def state_of(source: Path) -> Iterator[State]:
    state = State.open(cache_dir(load(source).settings) / "state.db")
    try:
        yield state
    finally:
        state.close()


def request(source: Path, diff: str = DIFF, change: dict[str, str] | None = None) -> str:
    with state_of(source) as state:
        id = Approvals(state).request(*CALL, change or {"path": "a.md"}, diff)
    assert id is not None
    return id


def passes(source: Path, token: str | None = None) -> bool:
    """Whether the call would go through now."""
    with state_of(source) as state:
        return Approvals(state).consume(*CALL, token)


def events(source: Path) -> list[tuple[str, str | None, str | None]]:
    with state_of(source) as state:
        return [(row.event_type, row.tool, row.args_hash) for _, row in reversed(Stats(state).recent())]


def test_without_a_request_there_is_nothing_to_decide(run: Run) -> None:
    assert run("approvals") == (0, "Nothing waits for a decision.\n", "")
    assert run("approvals", "--json").json == []


def test_a_vault_that_there_is_not_has_no_requests(run: Run, config: Path) -> None:
    request(config)
    result = run("approvals", "--config", config, "list", "--vault", "mian")
    assert (result.code, result.out) == (2, "")
    assert "there is no vault 'mian'; did you mean 'main'? There is: main." in result.err


def test_requests_are_found_wherever_a_server_keeps_its_files(
    run: Run, config: Path, machine: Path, tmp_path: Path
) -> None:
    add(config, "[plugins]\nonly = []")
    id = request(config)
    assert run("approvals", "--json").json == []
    runtime = open_runtime(load(config).settings)
    runtime.start()
    runtime.close()
    assert [found["id"] for found in run("approvals", "--json").json] == [id]
    shutil.rmtree(tmp_path / "cache")
    assert run("approvals", "--json").json == []
    assert list((data_dir() / "places").iterdir()) == []


def test_what_waits_is_listed_with_the_call_it_is_for(run: Run, config: Path) -> None:
    id = request(config)
    (listed,) = run("approvals", "--config", config, "list", "--json").json
    assert (listed["id"], listed["tool"], listed["caller"], listed["vault"]) == (
        id,
        "delete_note",
        "stdio",
        "main",
    )
    assert id in run("approvals", "--config", config).out


def test_the_requests_of_every_vault_served_here_are_found_without_naming_one(
    run: Run, tmp_path: Path
) -> None:
    ids = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        ids.append(request(tmp_path / name))
    assert {approval["id"] for approval in run("approvals", "list", "--json").json} == set(ids)
    assert run("approvals", "approve", ids[1], "--yes").code == 0
    assert [passes(tmp_path / "one"), passes(tmp_path / "two")] == [False, True]


def test_a_person_sees_the_diff_before_deciding(run: Run, config: Path) -> None:
    id = request(config)
    shown = run("approvals", "--config", config, "approve", id, answer="n\n")
    assert shown.code == 1
    for line in ("tool:    delete_note", '  "path": "a.md"', *DIFF.splitlines()):
        assert line in shown.out.splitlines()
    assert not passes(config)


def test_an_approved_call_goes_through_once(run: Run, config: Path) -> None:
    id = request(config)
    result = run("approvals", "--config", config, "approve", id, answer="y\n")
    assert result.code == 0
    assert "The client can send the same call again now." in result.out
    assert [passes(config), passes(config)] == [True, False]
    assert events(config) == [("approval_approved", *CALL[1:3])]


def test_nobody_at_the_terminal_approves_nothing(run: Run, config: Path) -> None:
    id = request(config)
    assert run("approvals", "--config", config, "approve", id, answer="").code == 1
    assert not passes(config)


def test_a_denied_call_does_not_go_through_and_cannot_be_approved_later(run: Run, config: Path) -> None:
    id = request(config)
    assert run("approvals", "--config", config, "deny", id) == (0, "Denied.\n", "")
    late = run("approvals", "--config", config, "approve", id, "--yes")
    assert late.code == 1
    assert late.err == f"knapper: request '{id}' is no longer open: it is denied\n"
    assert not passes(config)
    assert events(config) == [("approval_denied", *CALL[1:3])]


def test_a_request_that_does_not_exist_is_an_error(run: Run, config: Path) -> None:
    result = run("approvals", "--config", config, "show", "apr_none")
    assert (result.code, result.err) == (
        1,
        "knapper: there is no request 'apr_none'; `knapper approvals` lists them\n",
    )


def test_a_diff_can_neither_colour_nor_hide_what_it_shows(run: Run, config: Path) -> None:
    id = request(config, "+\x1b[2K\x1b[1Aharmless\u202e\n", {"path": "a\x1b[8m.md"})
    shown = run("approvals", "--config", config, "show", id).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "+\\u001b[2K\\u001b[1Aharmless\\u202e" in shown


def test_a_minted_token_lets_its_call_through_once_and_leaves_a_trace_without_itself(
    run: Run, config: Path
) -> None:
    minted = run("elicit", config, "--hash", CALL[2], "--tool", CALL[1])
    token = minted.out.strip()
    assert re.fullmatch(r"[0-9a-f]{32}\n", minted.out)
    assert "elicit_token" in minted.err
    assert token not in minted.err
    assert [passes(config, token), passes(config, token)] == [True, False]
    assert events(config) == [("elicit_minted", *CALL[1:3])]
    assert token.encode() not in (config.parent / "cache" / "state.db").read_bytes()


def test_a_token_for_another_caller_is_no_use_to_this_one(run: Run, config: Path) -> None:
    minted = run("elicit", config, "--hash", CALL[2], "--tool", CALL[1], "--caller", "ann", "--json").json
    assert (minted["caller"], minted["vault"], minted["tool"]) == ("ann", "main", "delete_note")
    assert not passes(config, minted["token"])


def test_with_several_vaults_the_vault_has_to_be_named(run: Run, config: Path) -> None:
    config.write_text(config.read_text() + '[[vaults]]\nid = "other"\npath = "Notes"\n')
    words = ("elicit", config, "--hash", CALL[2], "--tool", CALL[1])
    assert (run(*words).code, run(*words, "--vault", "main").code) == (2, 0)
    unknown = run(*words, "--vault", "third")
    assert unknown.code == 2
    assert "there is no vault 'third'. There is: main, other." in unknown.err


@pytest.mark.parametrize("hash", ["", "0123", "g" * 32, "0" * 33])
def test_what_is_no_hash_is_refused(run: Run, config: Path, hash: str) -> None:
    assert run("elicit", config, "--hash", hash, "--tool", "t").code == 2


def test_the_statistics_do_not_count_decisions_as_calls(run: Run, config: Path) -> None:
    run("elicit", config, "--hash", CALL[2], "--tool", CALL[1])
    add(config, "")
    assert run("stats", config).out == "No call has been logged.\n"
