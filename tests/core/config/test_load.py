"""Where settings come from, and what is said about the ones that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knapper.config.load import Loaded, default_file, load
from knapper.config.paths import data_dir
from knapper.errors import ConfigError

SECRET = "a secret of more than thirty-two characters"


@pytest.fixture(autouse=True)
def _own_machine(machine: Path) -> None:
    """No test reads the configuration of whoever runs it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Notes"
    folder.mkdir()
    return folder


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def toml(tmp_path: Path, text: str) -> Path:
    return write(tmp_path / "knapper.toml", f'{text}\n[[vaults]]\nid = "main"\npath = "Notes"\n')


def issues(*arguments: Any, **keywords: Any) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        load(*arguments, **keywords)
    return raised.value.issues


def values(loaded: Loaded) -> tuple[int, str]:
    port = loaded.settings.transports.http.port
    return port, loaded.sources.get("transports.http.port", "default")


def test_a_folder_is_a_configuration(folder: Path) -> None:
    loaded = load(folder, env={})
    (vault,) = loaded.settings.vaults
    assert (vault.id, vault.path) == ("main", str(folder))
    assert loaded.settings.transports.http.enabled is False


@pytest.mark.parametrize("place", ["", ".cache", "deep/er", "../link/cache"])
def test_what_the_server_keeps_is_never_inside_a_vault(tmp_path: Path, folder: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    cache = str(folder / place)
    (issue,) = issues(folder, env={"KNAPPER_CACHE_DIR": cache})
    assert issue == (
        f"cache_dir: {Path(cache)} is inside the vault 'main'; choose a folder outside every vault"
        " (--cache-dir, KNAPPER_CACHE_DIR)"
    )
    assert load(folder, env={"KNAPPER_CACHE_DIR": str(tmp_path / "cache")}).path == folder


def test_each_bare_folder_keeps_its_state_in_a_place_of_its_own(tmp_path: Path) -> None:
    places = set()
    for name in ("one/Notes", "two/Notes", "two/../one/Notes"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        loaded = load(tmp_path / name, env={})
        assert loaded.sources["cache_dir"] == "derived"
        places.add(loaded.settings.cache_dir)
    assert len(places) == 2
    assert all(Path(place or "").parent == data_dir() for place in places)


def test_flags_win_over_the_environment_over_the_file_over_defaults(tmp_path: Path, folder: Path) -> None:
    file = toml(tmp_path, "[transports.http]\nport = 1001")
    env = {"KNAPPER_TRANSPORTS__HTTP__PORT": "1002"}
    assert values(load(folder, env={})) == (8765, "default")
    assert values(load(file, env={})) == (1001, "file")
    assert values(load(file, env=env)) == (1002, "env")
    assert values(load(file, {"transports.http.port": 1003}, env)) == (1003, "flag")


def test_a_flag_that_is_not_given_leaves_the_others_their_say(tmp_path: Path, folder: Path) -> None:
    file = toml(tmp_path, "[transports.http]\nport = 1001")
    assert values(load(file, {"transports.http.port": None}, {})) == (1001, "file")


def test_a_security_profile_is_stronger_than_defaults_and_weaker_than_the_file(
    tmp_path: Path, folder: Path
) -> None:
    file = toml(tmp_path, 'security_profile = "hardened"\n[snapshots]\nretention = 7')
    loaded = load(file, env={})
    assert loaded.settings.writes.require_cas is True
    assert loaded.settings.acl.strict_read_default is True
    assert loaded.settings.snapshots.retention == 7
    assert (loaded.sources["writes.require_cas"], loaded.sources["snapshots.retention"]) == (
        "profile",
        "file",
    )


def test_json_in_camel_case_says_the_same_as_toml_in_snake_case(tmp_path: Path, folder: Path) -> None:
    as_json = {
        "vaults": [{"id": "main", "path": "Notes", "autoModeExplain": "always"}],
        "toolFacade": {"mode": "flat"},
        "governor": {"maxResponseBytes": 5000},
        "throttle": {"tiers": {"read": {"perMinute": 5, "burst": 2}}},
    }
    file = write(tmp_path / "config.json", "\ufeff" + json.dumps(as_json))
    same = toml(
        tmp_path,
        "[tool_facade]\nmode = 'flat'\n[governor]\nmax_response_bytes = 5000\n"
        "[throttle.tiers.read]\nper_minute = 5\nburst = 2",
    )
    same.write_text(same.read_text() + 'auto_mode_explain = "always"\n')
    assert load(file, env={}).settings == load(same, env={}).settings


def test_headers_keep_the_names_they_were_given(tmp_path: Path, folder: Path) -> None:
    file = toml(tmp_path, '[observability.otel.headers]\nX-Api-Key = "abc"')
    assert list(load(file, env={}).settings.observability.otel.headers) == ["X-Api-Key"]


def test_the_folder_of_a_vault_is_relative_to_the_file_that_names_it(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = toml(tmp_path, "")
    monkeypatch.chdir("/")
    assert load(file, env={}).settings.vaults[0].path == str(folder)


def test_the_file_is_the_one_named_else_the_variables_else_the_users_own(
    tmp_path: Path, folder: Path
) -> None:
    named, by_variable = toml(tmp_path, "default_vault = 'main'"), toml(tmp_path / "b", "")
    (tmp_path / "b" / "Notes").mkdir()
    env = {"KNAPPER_CONFIG": str(by_variable)}
    assert load(named, env=env).path == named
    assert load(env=env).path == by_variable
    own = write(default_file(), f'[[vaults]]\nid = "own"\npath = "{folder.as_posix()}"\n')
    assert load(env={}).path == own


def test_what_is_not_there_is_said_without_its_whole_path(tmp_path: Path) -> None:
    assert issues(tmp_path / "gone.toml", env={}) == ["gone.toml: there is no such file or folder"]


def test_without_any_vault_it_says_how_to_name_one() -> None:
    assert issues(env={}) == [
        "vaults: no vault is configured; name a vault folder, or a file with [[vaults]]"
    ]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.toml", "port = ", "a.toml: cannot be read: Invalid value (at end of document)"),
        ("Home.md", "# Home", "Home.md: is a note; name the folder of its vault, or a configuration file"),
        ("a.json", "{", "a.json: cannot be read: Expecting property name enclosed in double quotes"),
        ("a.json", "[]", "a.json: holds list, not a table of settings"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (found,) = issues(write(tmp_path / name, content), env={})
    assert found.startswith(expected)


def test_every_wrong_key_is_named_with_the_nearest_right_one(tmp_path: Path, folder: Path) -> None:
    file = toml(
        tmp_path,
        "[transports.http]\nprot = 1\nport = 70000\n[governor]\nmaxResponseByte = 1\n[tool_facade]\nmode = 'all'",
    )
    file.write_text(file.read_text() + 'restApiUri = ""\n')
    assert sorted(issues(file, env={})) == [
        "governor.max_response_byte: is not a setting; did you mean 'max_response_bytes'?",
        "tool_facade.mode: input should be 'triad', 'domain' or 'flat'",
        "transports.http.port: input should be less than or equal to 65535",
        "transports.http.prot: is not a setting; did you mean 'port'?",
        "vaults.0.rest_api_uri: is not a setting; did you mean 'rest_api_url'?",
    ]


@pytest.mark.parametrize(
    ("name", "value", "key", "expected"),
    [
        ("KNAPPER_ACL__READ_ONLY", "true", "acl.read_only", True),
        ("KNAPPER_PLUGINS__ONLY", '["notes"]', "plugins.only", ["notes"]),
        ("KNAPPER_GOVERNOR__REGEX_TIMEOUT_MS", "7", "governor.regex_timeout_ms", 7),
        ("KNAPPER_EMBEDDINGS__MODEL", "7", "embeddings.model", "7"),
        ("KNAPPER_AUTH__AUDIENCE", '["a", "b"]', "auth.audience", ["a", "b"]),
        ("KNAPPER_DEFAULT_VAULT", "main", "default_vault", "main"),
    ],
)
def test_a_variable_sets_what_its_name_says(
    folder: Path, name: str, value: str, key: str, expected: Any
) -> None:
    loaded = load(folder, env={name: value})
    found: Any = loaded.settings
    for part in key.split("."):
        found = getattr(found, part)
    assert found == expected
    assert loaded.sources[key] == "env"


def test_a_secret_of_digits_stays_a_text(folder: Path) -> None:
    digits = "1" * 40
    auth = load(folder, env={"KNAPPER_AUTH__MODE": "jwt", "KNAPPER_AUTH__JWT_SECRET": digits}).settings.auth
    assert auth.jwt_secret is not None
    assert auth.jwt_secret.get_secret_value() == digits


def test_an_empty_variable_sets_nothing(folder: Path) -> None:
    assert load(folder, env={"KNAPPER_AUTH__MODE": "", "KNAPPER_JWT_SECRET": ""}).settings.auth.mode == "none"


def test_an_unknown_variable_of_a_section_is_an_error(folder: Path) -> None:
    assert issues(folder, env={"KNAPPER_ACL__REED_ONLY": "true"}) == [
        "acl.reed_only: is not a setting; did you mean 'read_only'?"
    ]


def test_a_list_of_a_stronger_source_replaces_that_of_a_weaker_one(tmp_path: Path, folder: Path) -> None:
    file = toml(tmp_path, "[acl]\nread_paths = ['a/**', 'b/**']")
    loaded = load(file, env={"KNAPPER_ACL__READ_PATHS": '["c/**"]'})
    assert loaded.settings.acl.read_paths == ["c/**"]
    assert loaded.sources["acl.read_paths"] == "env"


def test_each_key_of_a_vault_knows_its_source(tmp_path: Path, folder: Path) -> None:
    sources = load(toml(tmp_path, ""), env={}).sources
    assert (sources["vaults.0.id"], sources["vaults.0.path"]) == ("file", "file")
    assert "vaults.0.mode" not in sources


def test_a_tier_that_is_left_out_keeps_its_default(tmp_path: Path, folder: Path) -> None:
    file = toml(tmp_path, "[throttle.tiers.read]\nper_minute = 1\nburst = 1")
    tiers = load(file, env={}).settings.throttle.tiers
    assert (tiers["read"].burst, tiers["bulk"].burst) == (1, 3)


JWT = {"auth.mode": "jwt", "auth.jwt_secret": SECRET}
OPEN = {"transports.http.enabled": True, "transports.http.host": "0.0.0.0"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (OPEN, ["transports.http.host: is not loopback, so auth.mode must not be 'none'"]),
        ({**OPEN, **JWT}, ["auth.audience: is required (or auth.resource) where HTTP is not loopback"]),
        ({"auth.mode": "jwt"}, ["auth: mode 'jwt' needs jwt_secret, jwks or jwks_file"]),
        (
            {"auth.mode": "jwt", "auth.jwt_secret": "short"},
            ["auth.jwt_secret: must have at least 32 characters"],
        ),
        (
            {"auth.mode": "jwt", "auth.jwks_file": "keys.json"},
            ["auth.audience: is required (or auth.resource) with jwks or jwks_file"],
        ),
        ({**JWT, "auth.issuer": "me"}, ["auth.audience: is required (or auth.resource) with auth.issuer"]),
        (
            {**OPEN, "auth.mode": "apikey", "auth.api_key": "short"},
            ["auth.api_key: must have at least 32 characters where HTTP is not loopback"],
        ),
        (
            {"observability.prometheus.enabled": True, "observability.prometheus.bind": "::"},
            ["observability.prometheus.bind: is not loopback, so auth.mode must not be 'none'"],
        ),
        ({"default_vault": "other"}, ["default_vault: 'other' is not the id of a vault"]),
        (
            {"transports.http.certificate_file": "a.pem"},
            ["transports.http: certificate_file and key_file go together"],
        ),
        (
            {"index.chunk_chars": 9000},
            ["index.max_chunk_chars: must not be less than index.chunk_chars"],
        ),
        (
            {"watch.debounce_ms": 900},
            ["watch.max_batch_delay_ms: must not be less than watch.debounce_ms"],
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    folder: Path, flags: dict[str, Any], expected: list[str]
) -> None:
    assert issues(folder, flags, {}) == expected


@pytest.mark.parametrize(
    "flags",
    [
        {**OPEN, **JWT, "auth.audience": "knapper"},
        {**OPEN, **JWT, "auth.resource": "https://notes.example/mcp"},
        {**OPEN, "auth.mode": "apikey", "auth.api_key": SECRET},
        {"transports.http.enabled": True, "transports.http.host": "[::1]"},
        {"transports.http.enabled": True, "transports.http.host": "127.5.5.5"},
        {"transports.http.host": "0.0.0.0"},
    ],
)
def test_settings_that_go_together_are_taken(folder: Path, flags: dict[str, Any]) -> None:
    assert load(folder, flags, {}).settings.vaults[0].id == "main"


def test_two_vaults_of_one_id_are_refused(tmp_path: Path, folder: Path) -> None:
    file = toml(tmp_path, "")
    file.write_text(file.read_text() + '[[vaults]]\nid = "main"\npath = "Other"\n')
    assert issues(file, env={}) == ["vaults: the id 'main' is used twice"]


@pytest.mark.parametrize("profile", ["soft", ["hardened"], {"a": 1}])
def test_a_profile_that_does_not_exist_is_refused(folder: Path, profile: Any) -> None:
    (found,) = issues(folder, {"security_profile": profile}, {})
    assert found == "security_profile: input should be 'hardened' or 'trusted-local'"
