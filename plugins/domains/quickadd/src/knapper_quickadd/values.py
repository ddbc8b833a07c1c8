"""Values: {{VALUE}} and its kin, which a person would be asked for."""

from __future__ import annotations

from typing import NamedTuple

from knapper_quickadd.cases import CASES
from knapper_quickadd.inputs import Inputs, as_text, one_of

UNNAMED = "value"


class Asked(NamedTuple):
    """A question: under which names its answer may stand, what may be answered, and what is made of it."""

    name: str
    also: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    default: str | None = None
    free: bool = True
    case: str = ""

    @classmethod
    def read(cls, rest: str, options: list[str]) -> Asked:
        """The question of {{VALUE:rest|options}}; a list of items is a choice."""
        known = {key.strip().lower(): value.strip() for key, _, value in (o.partition(":") for o in options)}
        items = tuple(item.strip() for item in rest.split(",")) if "," in rest else ()
        name = rest.strip() or UNNAMED
        labels = (
            tuple(label.strip() for label in known.get("text", "").split(",")) if known.get("text") else ()
        )
        shorthand = options[0].strip() if len(options) == 1 and ":" not in options[0] else None
        default = known.get("default", None if shorthand in FLAGS else shorthand)
        return cls(
            name,
            tuple(key for key in (known.get("name", ""), known.get("label", "")) if key),
            items,
            labels if len(labels) == len(items) else (),
            "" if default is None and "optional" in known else default,
            not items or "custom" in known,
            known.get("case", ""),
        )

    @classmethod
    def field(cls, rest: str, options: list[str]) -> Asked:
        """The question of {{FIELD:property|options}}: any value will do."""
        known = {key.strip().lower(): value.strip() for key, _, value in (o.partition(":") for o in options)}
        return cls(rest, default=known.get("default"), case=known.get("case", ""))


# Options that stand alone and are no default.
FLAGS = frozenset({"multi", "custom", "optional", "trim"})


def value(inputs: Inputs, asked: Asked) -> str:
    """The answer as it is written."""
    unnamed = ("name",) if asked.name == UNNAMED else ()
    given = inputs.given(asked.name, *asked.also, *unnamed)
    if given is None:
        if asked.default is None:
            return inputs.need(asked.name, asked.also[-1] if asked.also else "a value", asked.items or None)
        given = asked.default
    answers = given if isinstance(given, list) else [given]
    written = ", ".join(_item(asked, as_text(answer)) for answer in answers)
    return CASES.get(asked.case, str)(written)


def _item(asked: Asked, answer: str) -> str:
    if answer in asked.labels:
        return asked.items[asked.labels.index(answer)]
    return answer if asked.free or answer == asked.default else one_of(answer, asked.items, asked.name)
