"""The sections that domains bring: each validated by its own model, and none that nobody owns."""

from __future__ import annotations

import logging
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_snake

from knapper.config.model import Settings
from knapper.errors import ConfigError

if TYPE_CHECKING:
    from knapper.registry import Registry

log = logging.getLogger("knapper.config")


def sections(settings: Settings, registry: Registry) -> dict[str, BaseModel]:
    """Each domain's settings by its slug; ConfigError names every key that is wrong."""
    given = extra(settings)
    owned = {d.slug: d.settings for d in registry.domains.values() if d.settings is not None}
    issues = _unowned(set(given) - set(owned), list(owned), registry)
    found: dict[str, BaseModel] = {}
    for slug, model in owned.items():
        try:
            found[slug] = model.model_validate(given.get(slug, {}))
        except ValidationError as error:
            issues += [_issue(slug, model, e) for e in error.errors()]
    if issues:
        raise ConfigError(*issues)
    return found


def extra(settings: Settings) -> dict[str, Any]:
    """What stands in the configuration beside the core's own settings, as it was given."""
    return {to_snake(key): value for key, value in (settings.model_extra or {}).items()}


def _unowned(keys: set[str], owned: list[str], registry: Registry) -> list[str]:
    """A section nobody owns is a mistake, unless its owner is switched off or could not be loaded."""
    absent = {p.name.replace("-", "_") for p in registry.plugins.all if p.state != "loaded"}
    issues = []
    for key in sorted(keys - absent):
        near = get_close_matches(key, [*owned, *Settings.model_fields], n=1)
        if not near and registry.plugins.failed:
            log.warning("the section %r belongs to no plugin that could be loaded", key)
            continue
        issues.append(f"{key}: is not a setting" + (f"; did you mean {near[0]!r}?" if near else ""))
    return issues


def _issue(slug: str, model: type[BaseModel], error: Any) -> str:
    where = ".".join([slug, *map(str, error["loc"])])
    if error["type"] == "extra_forbidden":
        near = get_close_matches(to_snake(str(error["loc"][-1])), list(model.model_fields), n=1)
        return f"{where}: is not a setting" + (f"; did you mean {near[0]!r}?" if near else "")
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}"
