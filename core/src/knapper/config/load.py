"""Where settings come from: flags, then the environment, then one file, then the security profile, then defaults."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from knapper.config.interlocks import check
from knapper.config.model import Settings
from knapper.errors import ConfigError

PREFIX = "KNAPPER_"
NAMED = {  # variables with a name of their own; every other setting is KNAPPER_SECTION__KEY
    "KNAPPER_JWT_SECRET": "auth.jwt_secret",
    "KNAPPER_API_KEY": "auth.api_key",
    "KNAPPER_DEFAULT_VAULT": "default_vault",
    "KNAPPER_CACHE_DIR": "cache_dir",
    "KNAPPER_PLUR_ENDPOINT": "plur.endpoint",
    "KNAPPER_PLUR_TOKEN": "plur.api_key",
}
PROFILES: dict[str, dict[str, Any]] = {
    "hardened": {
        "acl": {"strict_read_default": True},
        "writes": {"require_cas": True},
        "snapshots": {"enabled": True, "retention": 20},
        "transports": {"http": {"enabled": False}},
    },
    "trusted-local": {},
}


@dataclass
class Loaded:
    """Settings, and for each key that is not a default the source that set it."""

    settings: Settings
    path: Path | None
    sources: dict[str, str] = field(default_factory=dict)


def load(path: str | Path | None = None, flags: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Loaded:
    """Read and check the configuration; ConfigError names every key that is wrong."""
    env = os.environ if env is None else env
    found = _find(path, env)
    file = {} if found is None else {"vaults": [{"id": "main", "path": str(found)}]} if found.is_dir() else read_file(found)
    file = _snake(file)
    given = {"flag": _nest(flags or {}), "env": _from_env(env), "file": file}
    profile = next((g["security_profile"] for g in given.values() if g.get("security_profile")), None)
    given["profile"] = PROFILES.get(profile or "", {})
    merged: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name in ("profile", "file", "env", "flag"):
        _merge(merged, given[name], sources, name)
    return Loaded(_validated(merged), found if found and found.is_file() else None, sources)


def default_file() -> Path:
    from platformdirs import user_config_dir

    return Path(user_config_dir("knapper", appauthor=False)) / "config.toml"


def _find(path: str | Path | None, env: Mapping[str, str]) -> Path | None:
    """The file or vault folder to start from: the one named, KNAPPER_CONFIG, or the user's own file."""
    named = path or env.get("KNAPPER_CONFIG") or None
    if named is None:
        own = default_file()
        return own if own.is_file() else None
    found = Path(os.path.expanduser(str(named)))
    if not found.exists():
        raise ConfigError(f"{Path(named).name}: there is no such file or folder")
    return found


def read_file(path: Path) -> dict[str, Any]:
    """A TOML or JSON file as it stands; a byte order mark does no harm."""
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode()
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path.name}: cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path.name}: holds {type(content).__name__}, not a table of settings")
    return content


def _from_env(env: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in env.items():
        if not value:
            continue
        if name in NAMED:
            found[NAMED[name]] = value
        elif name.startswith(PREFIX) and "__" in name:
            found[name[len(PREFIX) :].lower().replace("__", ".")] = _literal(value)
    return _nest(found)


def _literal(value: str) -> Any:
    """A number, boolean, list or table as JSON writes it; anything else is text."""
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for dotted, value in flat.items():
        if value is None:
            continue
        *above, last = dotted.split(".")
        place = nested
        for part in above:
            place = place.setdefault(part, {})
        place[last] = value
    return nested


VERBATIM = frozenset({"jwks", "tiers", "headers", "http_headers"})  # whose keys are not ours


def _snake(value: Any) -> Any:
    if isinstance(value, list):
        return [_snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {to_snake(k): v for k, v in value.items()}
    return {k: v if k in VERBATIM and k != "tiers" else _snake(v) for k, v in named.items()}


def _merge(into: dict[str, Any], given: Mapping[str, Any], sources: dict[str, str], source: str, at: str = "") -> None:
    for key, value in given.items():
        name = f"{at}{key}"
        if isinstance(value, dict) and isinstance(into.get(key, {}), dict) and key not in VERBATIM:
            _merge(into.setdefault(key, {}), value, sources, source, f"{name}.")
        else:
            into[key] = value
            sources[name] = source


def _validated(merged: dict[str, Any]) -> Settings:
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(*[_issue(e) for e in error.errors()]) from None
    issues = check(settings)
    if issues:
        raise ConfigError(*issues)
    return settings


def _issue(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        model = _model_at(error["loc"][:-1])
        near = get_close_matches(to_snake(str(error["loc"][-1])), list(model.model_fields) if model else [], n=1)
        return f"{where}: is not a setting" + (f"; did you mean {near[0]!r}?" if near else "")
    if error["type"] == "missing" and where == "vaults":
        return "vaults: no vault is configured; name a vault folder, or a file with [[vaults]]"
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _model_at(location: tuple[Any, ...]) -> type[BaseModel] | None:
    """The settings model that an error's location leads to."""
    model: Any = Settings
    for part in location:
        if isinstance(part, int):
            continue
        fields = getattr(model, "model_fields", {})
        hint = fields[to_snake(str(part))].annotation if to_snake(str(part)) in fields else None
        while hint is not None and not (isinstance(hint, type) and issubclass(hint, BaseModel)):
            arguments = getattr(hint, "__args__", ())
            hint = arguments[0] if arguments else None
        model = hint
    return model if isinstance(model, type) else None
