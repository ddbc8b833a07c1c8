"""Changing a .base file: what the patch names changes, comments and all other bytes stay."""

from collections.abc import Mapping
from typing import Any

from knapper_bases.engine import splice
from knapper_bases.engine.base import from_data, read, view_form
from knapper_bases.engine.errors import BasesSyntaxError, Issue
from knapper_bases.engine.yamltext import compose, data_of

_ORDER = ("filters", "formulas", "properties", "summaries", "views")
_MERGED = ("formulas", "properties", "summaries")
_KEYS = frozenset(("filters", *_MERGED, "add_views", "remove_views", "update_views"))


def update(text: str, patch: Mapping[str, Any]) -> str:
    """Apply a patch.

    `filters` replaces the filters; `formulas`, `properties` and `summaries` set the named entries; `add_views`,
    `remove_views` and `update_views` change views by name. A null removes what it is given for.
    """
    read(text)
    change = _Change(text)
    if unknown := [Issue(key, "a patch has no such key") for key in patch if key not in _KEYS]:
        raise BasesSyntaxError(unknown)
    if "filters" in patch:
        change.entry((), "filters", patch["filters"])
    for section in _MERGED:
        for name, value in _object(patch, section).items():
            change.entry((section,), name, value)
    for name, keys in _object(patch, "update_views").items():
        change.view(name, keys)
    for name in patch.get("remove_views") or ():
        change.drop_view(name)
    for view in patch.get("add_views") or ():
        change.new_view(view)
    return change.checked()


class _Change:
    """A text and, beside it, the data that it must say in the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.data: dict[str, Any] = data_of(compose(text)) or {}

    def entry(self, path: splice.Path, key: str, value: Any) -> None:
        target = self._at(path)
        if value is None:
            if key in target:
                del target[key]
                self._prune(path)
                self.text = splice.remove_key(self.text, path, key)
        elif path and not target and isinstance(path[-1], str):
            self.entry((), path[-1], {key: value})
        elif key not in target or repr(target[key]) != repr(value):
            target[key] = value
            after = () if path else _ORDER[: _ORDER.index(key)]
            self.text = splice.set_key(self.text, path, key, value, after)

    def view(self, name: str, keys: Any) -> None:
        place = self._place(name, f"update_views.{name}")
        if not isinstance(keys, Mapping):
            raise BasesSyntaxError([Issue(f"update_views.{name}", "expected an object")])
        for key, value in view_form(keys).items():
            self.entry(("views", place), key, value)

    def drop_view(self, name: str) -> None:
        place = self._place(name, "remove_views")
        del self.data["views"][place]
        self.text = splice.remove_item(self.text, "views", place)

    def new_view(self, view: Any) -> None:
        data = view_form(view)
        known = [found.name for found in from_data(self.data).views]
        if isinstance(data, Mapping) and data.get("name") in known:
            raise BasesSyntaxError([Issue("add_views", f"there is a view {data['name']!r} already")])
        from_data({"views": [data]})
        self.data["views"] = [*(self.data.get("views") or []), data]
        self.text = splice.append_item(self.text, "views", data)

    def checked(self) -> str:
        """Give the text, once it is sure that it says what was asked and is a base still."""
        from_data(self.data)
        if self._says() != self.data:
            raise BasesSyntaxError([Issue("", "this file's YAML cannot be changed in place")])
        return self.text

    def _says(self) -> Any:
        try:
            return data_of(compose(self.text)) or {}
        except BasesSyntaxError:
            return None

    def _place(self, name: str, where: str) -> int:
        names = [view.name for view in from_data(self.data).views]
        if name not in names:
            known = ", ".join(map(repr, names)) or "none"
            raise BasesSyntaxError([Issue(where, f"there is no view {name!r}; there are: {known}")])
        return names.index(name)

    def _at(self, path: splice.Path) -> dict[str, Any]:
        found: Any = self.data
        for step in path:
            found = found[step] if isinstance(step, int) else found.get(step)
            if found is None:
                return {}
        return found if isinstance(found, dict) else {}

    def _prune(self, path: splice.Path) -> None:
        if len(path) == 1 and isinstance(path[0], str) and not self.data[path[0]]:
            del self.data[path[0]]


def _object(patch: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = patch.get(key) or {}
    if not isinstance(found, Mapping):
        raise BasesSyntaxError([Issue(key, "expected an object")])
    return found
