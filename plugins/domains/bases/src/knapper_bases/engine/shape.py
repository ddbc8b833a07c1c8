"""Checking the shape of a base, issue by issue, so that one reading names all faults."""

from typing import Any

from knapper_bases.engine.errors import Issue
from knapper_bases.engine.plan import And, FilterTree, Not, Or

_TREES: dict[str, type[And] | type[Or] | type[Not]] = {"and": And, "or": Or, "not": Not}
DEEPEST_FILTER = 50


class Shape:
    """Reads parts of a base and notes what is not as it should be."""

    def __init__(self) -> None:
        self.issues: list[Issue] = []

    def an_object(self, data: Any, place: str) -> dict[str, Any]:
        """Read an object."""
        if isinstance(data, dict):
            return data
        if data is not None:
            self._wrong(place, data, "an object")
        return {}

    def a_list(self, data: Any, place: str) -> list[Any]:
        """Read a list."""
        if isinstance(data, list):
            return data
        if data is not None:
            self._wrong(place, data, "a list")
        return []

    def text(self, data: Any, place: str) -> str | None:
        """Read a text; a number or boolean is the text that it was written as."""
        if isinstance(data, bool):
            return "true" if data else "false"
        if isinstance(data, str | int | float):
            return str(data)
        if data is not None:
            self._wrong(place, data, "a text")
        return None

    def texts(self, data: Any, place: str) -> dict[str, str]:
        """Read an object of texts."""
        found = {}
        for name, value in self.an_object(data, place).items():
            found[name] = self.text(value, f"{place}.{name}") or ""
        return found

    def filters(self, data: Any, place: str, depth: int = 0) -> FilterTree | None:
        """Read an expression, or an object with one of `and`, `or`, `not`."""
        if data is None or isinstance(data, str):
            return data
        if not isinstance(data, dict):
            self._wrong(place, data, "an expression or an object with one of and, or, not")
            return None
        if len(data) != 1 or next(iter(data)) not in _TREES or depth > DEEPEST_FILTER:
            keys = ", ".join(map(repr, data)) or "none"
            self.issues.append(Issue(place, f"expected exactly one of and, or, not, found {keys}"))
            return None
        key, parts = next(iter(data.items()))
        inner = f"{place}.{key}"
        return _TREES[key](tuple(self._parts(parts, inner, depth)))

    def sort(self, data: Any, place: str) -> tuple[str, bool]:
        """Read a property and a direction; early bases call the property `column`."""
        if isinstance(data, str):
            return data, False
        given = self.an_object(data, place)
        name = self.text(given.get("property", given.get("column")), f"{place}.property")
        if name is None:
            self.issues.append(Issue(place, "the property is missing"))
        direction = str(given.get("direction") or "ASC").upper()
        if direction not in ("ASC", "DESC"):
            self.issues.append(
                Issue(f"{place}.direction", f"expected ASC or DESC, found {given['direction']!r}")
            )
        return name or "", direction == "DESC"

    def limit(self, data: Any, place: str) -> int | None:
        """Read a number of rows; zero means no limit."""
        if data is None or (type(data) is int and data >= 0):
            return data or None
        self.issues.append(Issue(place, f"expected a whole number of rows, found {data!r}"))
        return None

    def _parts(self, data: Any, place: str, depth: int) -> list[FilterTree]:
        read = (
            self.filters(part, f"{place}[{count}]", depth + 1)
            for count, part in enumerate(self.a_list(data, place))
        )
        return [part for part in read if part is not None]

    def _wrong(self, place: str, data: Any, wanted: str) -> None:
        self.issues.append(Issue(place or "the file", f"expected {wanted}, found {_kind(data)}"))


def _kind(data: Any) -> str:
    if isinstance(data, bool):
        return "a boolean"
    if isinstance(data, int | float):
        return "a number"
    if isinstance(data, str):
        return "a text"
    return "a list" if isinstance(data, list) else "an object"
