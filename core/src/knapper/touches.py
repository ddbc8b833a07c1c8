"""Which arguments are vault paths: found by their types, at any depth, so that none goes unchecked."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, Union

import msgspec

from knapper.errors import PluginError

Op = Literal["read", "write", "delete"]


class Access(NamedTuple):
    """What a path parameter will be used for; `by_name` also accepts a name or alias, `note` nothing but notes."""

    op: Op
    by_name: bool = False
    note: bool = False


Visit = Callable[[Access, str], str]
"""Told every path and what it is for; returns the path to use in its place."""

Walk = Callable[[Any, Visit], Any]
"""Shows every path inside a value to a visitor, and returns the value with the paths it was given back."""


def walker(hint: Any) -> Walk | None:
    """A walk for values of this type, or None where they hold no path."""
    return _walk(hint, {}) if accesses(hint) else None


def accesses(hint: Any, seen: frozenset[Any] = frozenset()) -> set[Access]:
    """Every way in which values of this type can touch the vault."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        if hint in seen:
            return set()
        fields = typing.get_type_hints(hint, include_extras=True).values()
        return {found for field in fields for found in accesses(field, seen | {hint})}
    marks = {mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Access)}
    inside = typing.get_args(hint)
    return marks.union(*(accesses(one, seen) for one in inside if one is not Ellipsis))


def structs(hint: Any, seen: frozenset[Any] = frozenset()) -> set[type[msgspec.Struct]]:
    """Every record type inside a type."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        if hint in seen:
            return set()
        fields = typing.get_type_hints(hint, include_extras=True).values()
        return {hint}.union(*(structs(field, seen | {hint}) for field in fields))
    return set().union(*(structs(one, seen) for one in typing.get_args(hint)))


def _walk(hint: Any, models: dict[Any, Walk]) -> Walk:
    if typing.get_origin(hint) is Annotated:
        inner, *marks = typing.get_args(hint)
        access = next((mark for mark in marks if isinstance(mark, Access)), None)
        return _leaf(access) if access else _walk(inner, models)
    if not accesses(hint):
        return _unchanged
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of([_walk(one, models) for one in args])
    if origin is tuple and Ellipsis not in args:
        return _tuple([_walk(one, models) for one in args])
    if origin in (list, tuple, set, frozenset):
        return _each(origin, _walk(args[0], models))
    if origin is dict:
        return _items(_walk(args[0], models), _walk(args[1], models))
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return models.get(hint) or _fields(hint, models)
    raise PluginError(f"paths inside {hint!r} cannot be checked: use a list, a dict or a Struct of them")


def _unchanged(value: Any, visit: Visit) -> Any:
    return value


def _leaf(access: Access) -> Walk:
    return lambda value, visit: visit(access, value) if isinstance(value, str) else value


def _one_of(walks: list[Walk]) -> Walk:
    """Each walk leaves alone what is not of its type, so all of them may look."""

    def walk(value: Any, visit: Visit) -> Any:
        for one in walks:
            value = one(value, visit)
        return value

    return walk


def _each(kind: Any, inside: Walk) -> Walk:
    def walk(value: Any, visit: Visit) -> Any:
        return kind(inside(item, visit) for item in value) if isinstance(value, kind) else value

    return walk


def _tuple(walks: list[Walk]) -> Walk:
    def walk(value: Any, visit: Visit) -> Any:
        if not isinstance(value, tuple):
            return value
        return tuple(inside(item, visit) for inside, item in zip(walks, value, strict=True))

    return walk


def _items(key: Walk, inside: Walk) -> Walk:
    def walk(value: Any, visit: Visit) -> Any:
        if not isinstance(value, dict):
            return value
        return {key(name, visit): inside(item, visit) for name, item in value.items()}

    return walk


def _fields(model: type[msgspec.Struct], models: dict[Any, Walk]) -> Walk:
    walks: dict[str, Walk] = {}

    def walk(value: Any, visit: Visit) -> Any:
        if not isinstance(value, model):
            return value
        return msgspec.structs.replace(
            value, **{name: inside(getattr(value, name), visit) for name, inside in walks.items()}
        )

    models[model] = walk  # before its fields: a model may hold itself
    for name, hint in typing.get_type_hints(model, include_extras=True).items():
        if accesses(hint):
            walks[name] = _walk(hint, models)
    return walk
