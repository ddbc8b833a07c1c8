"""Properties: what stands in frontmatter, with its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from knapper.errors import ToolError
from knapper.index.queries.base import Questions, below
from knapper.index.rows import typed
from knapper.page import Page

# Notes with such a property: where the property is looked up first, and where the note is known and its few are looked at.
SOUGHT = "f.id IN (SELECT p.file FROM properties p WHERE {})"
LOOKED_AT = "EXISTS (SELECT 1 FROM properties p WHERE p.file = f.id AND {})"
ONE_TEXT = "p.key = ? AND p.text = ?"  # with the file, one step in an index; anything else is not looked for
COMPARE = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


ABSENT: Any = object()


class PropertyFilter(NamedTuple):
    """One condition on a property; numbers and dates compare as such."""

    key: str
    op: str
    value: Any = None


class Properties(Questions):
    """Which properties there are, and which notes have what in them."""

    def list_properties(
        self, page: Page, *, root: str = "", samples: int = 5
    ) -> tuple[list[tuple[str, list[str], int, list[Any]]], int | None, Any]:
        """A page of (name, types, notes with it, sample values), by name."""
        with self.at_once():
            found = self.kept(("properties", root), lambda: self._all_properties(root))
            cut = page.cut(found, key=lambda item: (item[0],))
            items = [
                (name, types, notes, self._kept_samples(key, types, samples, root))
                for key, name, types, notes in cut.items
            ]
        return items, cut.total_count, [cut.items[-1][0]] if cut.cursor else None

    def _all_properties(self, root: str) -> list[tuple[str, str, list[str], int]]:
        """(key, name, types, notes) of every property, by key: there are few, and all are needed to count them."""
        join, where, parameters = self._where("p.file", root)
        sql = (
            "SELECT p.key, p.type, min(coalesce(p.name, p.key)), count(*) FROM properties p "
            f"{join} WHERE p.item = -1 AND {where} GROUP BY p.key, p.type"
        )
        found: dict[str, tuple[str, list[str], int]] = {}
        for key, kind, name, notes in self.rows(sql, parameters):
            first, types, before = found.get(key, (name, [], 0))
            found[key] = (min(first, name), [*types, kind], before + notes)
        return [(key, *rest) for key, rest in sorted(found.items())]

    def _kept_samples(self, key: str, types: Sequence[str], most: int, root: str) -> list[Any]:
        return self.kept(("samples", key, most, root), lambda: self._samples(key, types, most, root))

    def _samples(self, key: str, types: Sequence[str], most: int, root: str) -> list[Any]:
        """The first few values in their order, each found by a step of its own instead of a pass over all."""
        join, where, parameters = self._where("p.file", root)
        found: list[Any] = []
        for column, least in (("text", ""), ("number", float("-inf"))):
            if column == "number" and not {"number", "list"} & set(types):
                break  # checkboxes are numbers too and come as texts: all of them would be passed over
            only = "" if column == "text" else "AND p.text IS NULL"
            sql = (
                f"SELECT p.type, p.text, p.number FROM properties p {join} WHERE p.key = ? "
                f"AND p.{column} > ? {only} AND {where} ORDER BY p.{column} LIMIT 1"
            )
            last: Any = least
            while len(found) < most and (row := self.one(sql, [key, last, *parameters])) is not None:
                found.append(_value(*row))
                last = row[1] if column == "text" else row[2]
        return found

    def _where(self, column: str, root: str) -> tuple[str, str, list[Any]]:
        """The join and the condition that keep rows to a folder and to what the caller may read."""
        below_root, parameters = below("f.path", root)
        join = f"JOIN files f ON f.id = {column}" if parameters else ""
        return join, f"{below_root} AND {self.may(column)}", parameters

    def notes_by_property(
        self, page: Page, filters: Sequence[PropertyFilter], *, root: str = "", nested: bool = False
    ) -> tuple[list[tuple[str, dict[str, Any]]], int | None, Any]:
        """A page of (path, the values that were asked about) of the notes that meet every condition."""
        if nested and any("." in one.key for one in filters):
            return self._by_nested(page, filters, root)
        where, parameters = below("f.path", root)
        each = [_condition(one) for one in filters]
        given = [*parameters, *(value for *_, values in each for value in values)]
        sql, in_order = (
            f"SELECT f.path AS path, f.properties FROM files f WHERE +f.note = 1 AND {where} "
            f"AND {' AND '.join(conditions)} AND {self.may('f.path')}"
            for conditions in (
                [no + SOUGHT.format(test) for no, test, _ in each],
                [
                    no + LOOKED_AT.format(test if test == ONE_TEXT else test.replace("p.", "+p."))
                    for no, test, _ in each
                ],
            )
        )
        rows, total, last = self.paged(page, sql, given, ("path",), in_order=in_order, root=root)
        wanted = {one.key.casefold() for one in filters}
        return [(path, _matched(raw, wanted)) for path, raw in rows], total, last

    def _by_nested(
        self, page: Page, filters: Sequence[PropertyFilter], root: str
    ) -> tuple[list[tuple[str, dict[str, Any]]], int | None, Any]:
        """Conditions on keys inside keys: read from the notes' whole properties, which the index holds."""
        where, parameters = below("f.path", root)
        sql = f"SELECT f.path, f.properties FROM files f WHERE f.note = 1 AND {where} AND {self.may('f.path')} ORDER BY f.path"
        found = []
        for path, raw in self.rows(sql, parameters):
            values = msgspec.json.decode(raw) if raw else {}
            reached = {one.key: _reach(values, one.key.split(".")) for one in filters}
            if all(_meets(reached[one.key], one) for one in filters):
                found.append((path, {key: value for key, value in reached.items() if value is not ABSENT}))
        cut = page.cut(found, key=lambda pair: pair[0])
        return cut.items, cut.total_count, cut.items[-1][0] if cut.cursor else None


def _reach(values: Any, path: Sequence[str]) -> Any:
    """The value at a path of keys, whatever their case, or ABSENT."""
    for part in path:
        if not isinstance(values, dict):
            return ABSENT
        values = next((v for k, v in values.items() if k.casefold() == part.casefold()), ABSENT)
    return values


def _meets(found: Any, one: PropertyFilter) -> bool:
    """The condition on a value in hand, by the same rules as the condition in SQL."""
    if one.op in ("exists", "absent"):
        return (found is not ABSENT) == (one.op == "exists")
    if one.op in ("neq", "nin"):
        return not _meets(found, one._replace(op="eq" if one.op == "neq" else "in"))
    if found is ABSENT:
        return False
    if one.op == "in":
        return any(_meets(found, PropertyFilter(one.key, "eq", item)) for item in one.value)
    values = found if isinstance(found, list) else [found]
    if one.op == "contains":
        inside = isinstance(found, str) and isinstance(one.value, str) and one.value.lower() in found.lower()
        return inside or (isinstance(found, list) and any(_compare(v, "eq", one.value) for v in values))
    return any(_compare(v, one.op, one.value) for v in values)


def _compare(found: Any, op: str, wanted: Any) -> bool:
    kind, text, number = typed(found)
    other, other_text, other_number = typed(wanted)
    if kind == "null" or other == "null":
        return op == "eq" and kind == other
    if {kind, other} & {"number", "checkbox"}:
        return kind == other and _ordered(number, op, other_number)
    dates = ("date", "datetime")
    if op != "eq" and (kind in dates) != (other in dates):
        return False
    return _ordered(text, op, other_text)


def _ordered(a: Any, op: str, b: Any) -> bool:
    if a is None or b is None:
        return False
    return bool({"eq": a == b, "gt": a > b, "gte": a >= b, "lt": a < b, "lte": a <= b}[op])


def _condition(one: PropertyFilter) -> tuple[str, str, list[Any]]:
    """Whether a note may not have such a property or has to, what is such a property, and the values in it."""
    test, values = _meeting(one)
    return (
        "NOT " if one.op in ("absent", "nin", "neq") else "",
        f"p.key = ? AND {test}",
        [one.key.casefold(), *values],
    )


def _meeting(one: PropertyFilter) -> tuple[str, list[Any]]:
    if one.op in ("exists", "absent"):
        return "p.item = -1", []
    if one.op in ("in", "nin"):
        if not isinstance(one.value, list):
            raise ToolError("invalid_input", f"filter on {one.key!r}: {one.op} takes a list", key=one.key)
        tests = [_test("=", item) for item in one.value] or [("0", [])]
        return f"({' OR '.join(t for t, _ in tests)})", [v for _, vs in tests for v in vs]
    if one.op == "contains":
        return _contains(one)
    return _test("=" if one.op == "neq" else COMPARE[one.op], one.value)


def _contains(one: PropertyFilter) -> tuple[str, list[Any]]:
    """A list holds the value as an element; a text holds it as a part."""
    test, values = _test("=", one.value)
    if not isinstance(one.value, str):
        return f"p.item >= 0 AND {test}", values
    part = f"(p.item >= 0 AND {test}) OR (p.item < 0 AND instr(lower(p.text), lower(?)) > 0)"
    return f"({part})", [*values, one.value]


def _test(operator: str, value: Any) -> tuple[str, list[Any]]:
    kind, text, number = typed(value)
    if kind == "null":
        return "p.type = 'null'", []
    if kind in ("list", "object"):
        raise ToolError("invalid_input", "a property is compared with a text, a number, true or false")
    if kind in ("number", "checkbox"):
        same = "p.type = 'checkbox'" if kind == "checkbox" else "p.type = 'number'"
        return f"{same} AND p.number {operator} ?", [number]
    if operator == "=":
        return "p.text = ?", [text]
    if kind in ("date", "datetime"):
        return f"p.type IN ('date', 'datetime') AND p.text {operator} ?", [text]
    return f"p.type NOT IN ('number', 'checkbox') AND p.text {operator} ?", [text]


def _value(kind: str, text: str | None, number: float | None) -> Any:
    if kind == "checkbox":
        return bool(number)
    if kind == "number" and number is not None:
        return int(number) if number.is_integer() else number
    return text


def _matched(raw: bytes | None, wanted: set[str]) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.json.decode(raw) if raw else {}
    return {name: value for name, value in values.items() if name.casefold() in wanted}
