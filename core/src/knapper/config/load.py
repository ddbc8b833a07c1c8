"""Where settings come from: flags, then the environment, then one file, then the security profile, then defaults."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.alias_generators import to_snake

from knapper.config.interlocks import check
from knapper.config.model import Settings
from knapper.config.paths import default_file as default_file  # named here for those who load
from knapper.config.paths import expanded, folder_for
from knapper.config.paths import find as find
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
    """Settings, the file or vault folder they came from, and for each key that is not a default its source."""

    settings: Settings
    path: Path | None
    sources: dict[str, str] = field(default_factory=dict)


def load(
    path: str | Path | None = None,
    flags: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
) -> Loaded:
    """Read and check the configuration; ConfigError names every key that is wrong."""
    env = os.environ if env is None else env
    found = find(path, env)
    bare = found is not None and found.is_dir()
    file = {} if found is None else _bare_vault(found) if bare else _anchored(_snake(read_file(found)), found)
    given = {"flag": _nest(flags or {}), "env": from_env(env), "file": file}
    # Every bare folder is the vault "main": each gets a place of its own, or two would share index and history.
    given["derived"] = {"cache_dir": str(folder_for(found))} if found is not None and bare else {}
    profile = next((g["security_profile"] for g in given.values() if g.get("security_profile")), None)
    given["profile"] = PROFILES.get(str(profile), {})
    merged: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name in ("derived", "profile", "file", "env", "flag"):
        _merge(merged, given[name], sources, name)
    return Loaded(_validated(merged), found, sources)


def _bare_vault(folder: Path) -> dict[str, Any]:
    return {"vaults": [{"id": "main", "path": os.path.abspath(folder)}]}  # noqa: PTH100 (links stay as named)


def _anchored(file: dict[str, Any], path: Path) -> dict[str, Any]:
    """A vault's folder in a file is relative to that file, wherever the server is started."""
    vaults = file.get("vaults")
    for vault in vaults if isinstance(vaults, list) else []:
        if isinstance(vault, dict) and isinstance(vault.get("path"), str):
            vault["path"] = str(path.absolute().parent / expanded(vault["path"]))
    return file


def read_file(path: Path) -> dict[str, Any]:
    """A TOML or JSON file as it stands; a byte order mark does no harm."""
    if path.suffix == ".md":
        raise ConfigError(f"{path.name}: is a note; name the folder of its vault, or a configuration file")
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode()
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path.name}: cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path.name}: holds {type(content).__name__}, not a table of settings")
    return content


def from_env(env: Mapping[str, str]) -> dict[str, Any]:
    """The settings that variables set: KNAPPER_SECTION__KEY, and those with a name of their own."""
    found: dict[str, Any] = {}
    for name, value in env.items():
        if not value:
            continue
        if name in NAMED:
            found[NAMED[name]] = value
        elif name.startswith(PREFIX) and "__" in name:
            key = name[len(PREFIX) :].lower().replace("__", ".")
            found[key] = literal(key, value)
    return _nest(found)


def literal(key: str, value: str) -> Any:
    """A setting's value from a text: as JSON writes it, and text where the setting is text or it is not JSON."""
    *above, last = key.split(".")
    model = _model_at(tuple(above))
    if model is not None and last in model.model_fields and _is_text(model.model_fields[last].annotation):
        return value
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


def _merge(
    into: dict[str, Any], given: Mapping[str, Any], sources: dict[str, str], source: str, at: str = ""
) -> None:
    for key, value in given.items():
        name = f"{at}{key}"
        if isinstance(value, dict) and isinstance(into.get(key, {}), dict) and key not in VERBATIM:
            _merge(into.setdefault(key, {}), value, sources, source, f"{name}.")
        else:
            into[key] = value
            for old in [known for known in sources if known.startswith(f"{name}.")]:
                del sources[old]
            sources |= dict.fromkeys(leaves(value, name), source)


def leaves(value: Any, name: str = "") -> dict[str, Any]:
    """Every setting inside a value by its dotted name; the places of a list are numbers."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if _is_tables(value) else ()
    found: dict[str, Any] = {}
    for key, item in items:
        found |= leaves(item, f"{name}.{key}" if name else str(key))
    return found or {name: value}


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


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
        near = get_close_matches(
            to_snake(str(error["loc"][-1])), list(model.model_fields) if model else [], n=1
        )
        return f"{where}: is not a setting" + (f"; did you mean {near[0]!r}?" if near else "")
    if error["type"] == "missing" and where == "vaults":
        return "vaults: no vault is configured; name a vault folder, or a file with [[vaults]]"
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _is_text(annotation: Any) -> bool:
    """Whether a setting takes nothing but text, so that a key of digits stays a key."""
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return all(member in (str, SecretStr, type(None)) for member in members)


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
