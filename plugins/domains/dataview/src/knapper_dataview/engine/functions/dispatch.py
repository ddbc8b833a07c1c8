"""Choosing a function's variant by the types of its arguments, and calling it for each element of a list."""

from __future__ import annotations

from collections.abc import Callable

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.values import TYPES

Variant = Callable[..., object]


class Builtin:
    """A function of the language.

    A variant's signature names the types of its arguments; `*` takes any, and `...` any number of any. The first that
    fits is called. `each` says for a number of arguments which of them, given as lists, are taken element by element.
    """

    __slots__ = ("_chosen", "_each", "_variants", "name")

    def __init__(
        self, name: str, variants: dict[str, Variant], each: dict[int, tuple[int, ...]] | None = None
    ) -> None:
        self.name = name
        self._variants = [(tuple(signature.split()), variant) for signature, variant in variants.items()]
        self._each = each or {}
        self._chosen: dict[tuple[type, ...], Variant] = {}

    def __call__(self, context: Context, *arguments: object) -> object:
        kinds = tuple(map(type, arguments))
        if list in kinds and (places := self._each.get(len(kinds))):
            lists = [place for place in places if kinds[place] is list]
            if lists:
                return self._for_each(context, arguments, lists)
        variant = self._chosen.get(kinds)
        if variant is None:
            variant = self._chosen[kinds] = self._choose(tuple(TYPES[kind] for kind in kinds))
        return variant(context, *arguments)

    def _choose(self, types: tuple[str, ...]) -> Variant:
        for signature, variant in self._variants:
            if signature == ("...",) or (
                len(signature) == len(types)
                and all(wanted in ("*", given) for wanted, given in zip(signature, types, strict=True))
            ):
                return variant
        raise EvaluationError(
            f"no implementation of {self.name!r} for arguments: {', '.join(types) or 'none'}"
        )

    def _for_each(self, context: Context, arguments: tuple[object, ...], places: list[int]) -> list[object]:
        lists = {place: value for place in places if isinstance(value := arguments[place], list)}
        count = min(len(values) for values in lists.values())
        context.budget.spend(count)
        return [
            self(context, *(lists[at][turn] if at in lists else given for at, given in enumerate(arguments)))
            for turn in range(count)
        ]


def null(context: Context, *arguments: object) -> None:
    """The variant for arguments of which one is null."""


def builtins(*functions: Builtin) -> dict[str, Builtin]:
    """Functions by their names."""
    return {function.name: function for function in functions}
