"""Modules: how `tp.date`, `tp.file` and their like are made of values and functions; what they lack is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from knapper.script.errors import ScriptRefused
from knapper.script.scope import Scope
from knapper.script.texts import argument
from knapper.script.values import Host, Record, Value, nullish, to_text, truthy
from knapper.vault import paths

Function = Callable[[list[Value], Scope], Value]


class Module(Host):
    """A part of `tp`; a subclass names itself, its values and its functions."""

    name: ClassVar[str] = "tp"

    def __init__(self, values: Mapping[str, Callable[[], Value]], functions: Mapping[str, Function]) -> None:
        self._values = values
        self._functions = functions

    def member(self, name: str) -> Value:
        if name not in self._values:
            raise ScriptRefused(f"{self.name}.{name}")
        return self._values[name]()

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        if name not in self._functions:
            raise ScriptRefused(f"{self.name}.{name}()")
        return self._functions[name](arguments, scope)


class Outside(Host):
    """A part of `tp` that needs Obsidian, the network or the user's own JavaScript."""

    def __init__(self, name: str) -> None:
        self._name = name

    def member(self, name: str) -> Value:
        raise ScriptRefused(f"{self._name}.{name}")

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        raise ScriptRefused(f"{self._name}.{name}()" if name else f"{self._name}()")


class FileValue(Host):
    """A file as templates see it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def member(self, name: str) -> Value:
        leaf = paths.name(self.path)
        stem, dot, extension = leaf.rpartition(".")
        folder = paths.parent(self.path)
        known: dict[str, Value] = {
            "path": self.path,
            "name": leaf,
            "basename": stem if dot else leaf,
            "extension": extension if dot else "",
            "parent": Record({"path": folder or "/", "name": paths.name(folder)}),
        }
        if name not in known:
            raise ScriptRefused(f"the property {name} of a file")
        return known[name]


def text_or(arguments: list[Value], index: int, default: str) -> str:
    """An argument as a text, the default where it is not given."""
    value = argument(arguments, index)
    return default if nullish(value) else to_text(value)


def flag(arguments: list[Value], index: int) -> bool:
    """An argument as a condition, false where it is not given."""
    return truthy(argument(arguments, index))
