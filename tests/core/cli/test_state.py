"""What is kept: statistics, backups, and tokens made from what is configured."""

from __future__ import annotations

import time
from pathlib import Path

import jwt
import pytest

from knapper.config.load import load
from knapper.config.paths import cache_dir
from knapper.store.audit import Audit, AuditRow
from knapper.store.state import State
from tests.core.cli.conftest import Run, add

SECRET = "a secret of more than thirty-two characters"


def log(source: Path, *rows: AuditRow) -> None:
    state = State.open(cache_dir(load(source).settings) / "state.db")
    with state.write() as conn:
        for row in rows:
            Audit(state).write(conn, row)
    state.close()


def call(tool: str, status: str, microseconds: int, *, ago: float = 0, vault: str = "main") -> AuditRow:
    return AuditRow(time.time() - ago, status, vault, tool, duration_us=microseconds)


def test_statistics_show_calls_errors_and_times_with_the_slowest_first(run: Run, config: Path) -> None:
    fast = [call("fast", "ok", n * 1000) for n in range(1, 21)]
    log(config, *fast, call("slow", "error", 900_000), call("slow", "denied", 100_000))
    assert run("stats", config, "--json").json == [
        {"tool": "slow", "calls": 2, "ok": 0, "denied": 1, "error": 1, "p50_us": 100_000, "p95_us": 900_000},
        {"tool": "fast", "calls": 20, "ok": 20, "denied": 0, "error": 0, "p50_us": 10_000, "p95_us": 19_000},
    ]
    shown = run("stats", config).out
    assert shown.endswith("22 calls of 2 tools, 1 failed\n")
    assert [line.split()[0] for line in shown.splitlines() if line.split()[:1] in (["slow"], ["fast"])] == [
        "slow",
        "fast",
    ]


def test_statistics_of_a_span_and_of_a_vault(run: Run, config: Path) -> None:
    log(config, call("old", "ok", 1, ago=7200), call("new", "ok", 1), call("far", "ok", 1, vault="other"))
    assert [
        row["tool"] for row in run("stats", config, "--since", "1h", "--vault", "main", "--json").json
    ] == ["new"]
    assert run("stats", config, "--since", "soon").code == 2


def test_without_a_state_statistics_say_so(run: Run, config: Path) -> None:
    result = run("stats", config)
    assert (result.code, result.err) == (
        1,
        "knapper: nothing has been served from here yet, so there is no state\n",
    )


def test_several_states_have_to_be_told_apart(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        log(tmp_path / name, call("tool", "ok", 1))
    assert run("stats").code == 2
    assert run("stats", tmp_path / "one").code == 0


def test_a_backup_brings_back_what_was_there(run: Run, config: Path, tmp_path: Path) -> None:
    add(config, "[plugins]\nonly = []")
    log(config, call("before", "ok", 1))
    copy = tmp_path / "copy.db"
    backup = run("backup", config, "--to", copy)
    assert (backup.code, backup.out) == (0, f"{copy}\n")
    log(config, call("after", "ok", 1))
    assert run("restore", copy, config, answer="n\n").code == 1
    assert [row["tool"] for row in run("stats", config, "--json").json] == ["after", "before"]
    assert run("restore", copy, config, answer="y\n").code == 0
    assert [row["tool"] for row in run("stats", config, "--json").json] == ["before"]


def test_a_backup_replaces_an_older_one_and_nothing_else(run: Run, config: Path, tmp_path: Path) -> None:
    log(config, call("before", "ok", 1))
    copy, note = tmp_path / "copy.db", tmp_path / "Note.md"
    note.write_text("Years of work.\n", encoding="utf-8")
    assert [run("backup", config, "--to", copy).code for _ in range(2)] == [0, 0]
    refused = run("backup", config, "--to", note)
    assert (refused.code, refused.out) == (1, "")
    assert "'Note.md' is there already and is no backup; choose another file" in refused.err
    assert note.read_text(encoding="utf-8") == "Years of work.\n"
    assert (
        "there is no folder 'nowhere'" in run("backup", config, "--to", tmp_path / "nowhere" / "copy.db").err
    )
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "place", ["Notes/copy.db", "Notes/deep/copy.db", "link/copy.db", "other/sub/copy.db"]
)
def test_a_backup_is_not_put_into_a_vault(run: Run, config: Path, tmp_path: Path, place: str) -> None:
    log(config, call("before", "ok", 1))
    State.open(tmp_path / "cache" / "state.db", vaults={"main": tmp_path / "Notes"}).close()
    (tmp_path / "Notes" / "deep").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "Notes", target_is_directory=True)
    (tmp_path / "other" / ".obsidian").mkdir(parents=True)
    (tmp_path / "other" / "sub").mkdir()
    refused = run("backup", config, "--to", tmp_path / place)
    vault = "other" if place.startswith("other") else "Notes"
    assert refused == (
        1,
        "",
        f"knapper: the backup would lie in the vault {vault!r}; choose a file outside every vault\n",
    )
    assert not (tmp_path / place).exists()


def test_a_vault_that_there_is_not_has_no_statistics(run: Run, config: Path) -> None:
    log(config, call("tool", "ok", 1))
    refused = run("stats", config, "--vault", "mian")
    assert (refused.code, refused.out) == (2, "")
    assert "there is no vault 'mian'; did you mean 'main'? There is: main." in refused.err
    assert run("stats", config, "--vault", "main", "--since", "0m").code == 0


@pytest.mark.parametrize(
    "words", [("stats",), ("approvals", "--config"), ("backup",), ("serve", "--port", "0")]
)
def test_a_state_that_is_damaged_is_told_in_one_sentence_with_the_way_out(
    run: Run, config: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    log(config)
    (tmp_path / "cache" / "state.db").write_bytes(b"no database" * 1000)
    found = run(*words, config)
    assert found.code == 1
    (said,) = [line for line in found.err.splitlines() if line.startswith("knapper: ")]
    if words == ("backup",):
        assert said == "knapper: no backup was made: file is not a database"
    else:
        way = "`knapper doctor` examines it, `knapper restore` replaces it"
        assert said == f"knapper: state.db cannot be used: file is not a database; {way}"
    assert "Traceback" not in found.err


def test_what_is_no_backup_changes_nothing(run: Run, config: Path, tmp_path: Path) -> None:
    add(config, "[plugins]\nonly = []")
    log(config, call("before", "ok", 1))
    torn = tmp_path / "torn.db"
    torn.write_bytes(b"SQLite format 3\0" + b"x" * 4000)
    result = run("restore", torn, config, "--yes")
    assert result.code == 1
    assert "'torn.db' is not a backup of the state" in result.err
    assert [row["tool"] for row in run("stats", config, "--json").json] == ["before"]


def with_auth(config: Path, more: str = "") -> None:
    add(config, f'[auth]\nmode = "jwt"\njwt_secret = "{SECRET}"\n{more}')


def test_a_minted_token_says_what_was_asked_for_and_is_signed(run: Run, config: Path) -> None:
    with_auth(config, 'audience = "knapper"\nissuer = "me"')
    words = ("--sub", "ann", "--vault", "main", "--scopes", "read, write:notes", "--ttl", "60")
    minted = run("token", "mint", config, *words)
    claims = jwt.decode(minted.out.strip(), SECRET, algorithms=["HS256"], audience="knapper", issuer="me")
    assert {key: claims[key] for key in ("sub", "vault", "scopes")} == {
        "sub": "ann",
        "vault": "main",
        "scopes": ["read", "write:notes"],
    }
    assert claims["exp"] - claims["iat"] == 60
    assert minted.err.startswith("For 'ann', valid until ")


def test_a_token_has_all_scopes_where_none_are_named_and_none_where_they_are_empty(
    run: Run, config: Path
) -> None:
    with_auth(config)
    minted = run("token", "mint", config, "--sub", "ann", "--json").json
    assert minted["claims"]["scopes"] == ["*"]
    assert minted["claims"]["exp"] - minted["claims"]["iat"] == 86_400
    assert "aud" not in minted["claims"]
    assert (
        run("token", "mint", config, "--sub", "ann", "--scopes", "", "--json").json["claims"]["scopes"] == []
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--ttl", "0"], "--ttl must be from 1 to auth.token_ttl_seconds, 86400"),
        (["--ttl", "86401"], "--ttl must be from 1 to auth.token_ttl_seconds, 86400"),
        (["--vault", "other"], "there is no vault 'other'"),
    ],
)
def test_a_token_that_would_be_refused_is_not_minted(
    run: Run, config: Path, words: list[str], expected: str
) -> None:
    with_auth(config)
    result = run("token", "mint", config, "--sub", "ann", *words)
    assert (result.code, result.out) == (2, "")
    assert expected in result.err


def test_without_a_secret_no_token_is_minted(run: Run, config: Path) -> None:
    assert "only mode 'jwt' has tokens to mint" in run("token", "mint", config, "--sub", "ann").err
    add(config, '[auth]\nmode = "jwt"\njwks_file = "keys.json"\naudience = "me"')
    result = run("token", "mint", config, "--sub", "ann")
    assert result.code == 2
    assert "auth.jwt_secret is not set" in result.err


def test_the_secret_may_come_from_the_environment(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(config, '[auth]\nmode = "jwt"')
    monkeypatch.setenv("KNAPPER_JWT_SECRET", SECRET)
    minted = run("token", "mint", config, "--sub", "ann").out.strip()
    assert jwt.decode(minted, SECRET, algorithms=["HS256"])["sub"] == "ann"
