"""Choices: what QuickAdd is set up to do, read from its data.json, in which any field may be missing or odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from knapper import Context, ToolError

PLUGIN = "plugins/quickadd/data"
Type = Literal["template", "macro", "capture", "multi"]
TYPES: dict[str, Type] = {"Template": "template", "Macro": "macro", "Capture": "capture", "Multi": "multi"}
DEEPEST = 20


class Choice(NamedTuple):
    """A choice: its name, its type, the multis it is in, and its settings."""

    name: str
    type: Type
    inside: tuple[str, ...]
    data: dict[str, Any]

    @property
    def full_name(self) -> str:
        """Its name behind those of the multis it is in."""
        return "/".join((*self.inside, self.name))


def choices(ctx: Context) -> list[Choice]:
    """Every choice, those inside of multis right behind them."""
    return list(_read(settings(ctx).get("choices"), ()))


def settings(ctx: Context) -> dict[str, Any]:
    """What the plugin keeps; empty where it is not installed."""
    return ctx.vault.settings(PLUGIN)


def _read(found: Any, inside: tuple[str, ...]) -> Iterator[Choice]:
    for data in found if isinstance(found, list) and len(inside) < DEEPEST else ():
        if not isinstance(data, dict) or not text(data, "name") or data.get("type") not in TYPES:
            continue
        choice = Choice(text(data, "name"), TYPES[data["type"]], inside, data)
        yield choice
        if choice.type == "multi":
            yield from _read(data.get("choices"), (*inside, choice.name))


def names(found: list[Choice]) -> dict[str, Choice]:
    """The choices by the names that tell them apart: their own, or the full one where several have the same."""
    count = Counter(choice.name for choice in found)
    return {choice.name if count[choice.name] == 1 else choice.full_name: choice for choice in found}


def find(ctx: Context, name: str) -> Choice:
    """The choice of a name, a full name or an id; invalid_input where that is none or several."""
    found = choices(ctx)
    fitting = [c for c in found if name in (c.full_name, c.data.get("id"))]
    fitting = fitting or [c for c in found if c.name == name]
    if len(fitting) == 1:
        return fitting[0]
    known = sorted(names(found))
    if fitting:
        several = [choice.full_name for choice in fitting]
        raise ToolError(
            "invalid_input",
            f"{len(several)} choices are named {name!r}",
            field="action_name",
            candidates=several,
        )
    message = f"QuickAdd has no choice named {name!r}"
    raise ToolError("invalid_input", message, field="action_name", candidates=known[:50])


def text(data: dict[str, Any], key: str, default: str = "") -> str:
    """A text among settings."""
    value = data.get(key)
    return value if isinstance(value, str) else default


def flag(data: dict[str, Any], key: str) -> bool:
    """A switch among settings."""
    return data.get(key) is True


def part(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Settings inside of settings."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def texts(data: dict[str, Any], key: str) -> list[str]:
    """Texts among settings."""
    value = data.get(key)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
