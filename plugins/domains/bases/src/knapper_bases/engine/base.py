"""A base: what a .base file says, and the reading of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knapper_bases.engine.errors import BasesSyntaxError
from knapper_bases.engine.plan import FilterTree
from knapper_bases.engine.shape import Shape
from knapper_bases.engine.yamltext import compose, data_of, dump


@dataclass(frozen=True, slots=True)
class Sort:
    """A property to sort or group by, and the direction."""

    property: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One view of a base; `other` holds what only its layout understands."""

    name: str
    type: str
    filters: FilterTree | None = None
    order: tuple[str, ...] | None = None
    sort: tuple[Sort, ...] = ()
    group_by: Sort | None = None
    limit: int | None = None
    summaries: Mapping[str, str] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Base:
    """A base file; `data` is the whole of it, `filters` and the rest are what a query needs."""

    filters: FilterTree | None = None
    formulas: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    summaries: Mapping[str, str] = field(default_factory=dict)
    views: tuple[View, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give the whole base as JSON, with `group_by` for the file's `groupBy`."""
        return {
            **self.data,
            "views": [_renamed(view, "groupBy", "group_by") for view in self.data.get("views") or []],
        }


def read(text: str) -> Base:
    """Read a .base file; a wrong shape is a BasesSyntaxError with every issue and its place."""
    return from_data(data_of(compose(text)))


def read_filters(data: Any) -> FilterTree | None:
    """Read filters that come as data: an expression, or an object with one of `and`, `or`, `not`."""
    shape = Shape()
    tree = shape.filters(data, "filters")
    if shape.issues:
        raise BasesSyntaxError(shape.issues)
    return tree


def create(base: Mapping[str, Any]) -> str:
    """Write a new .base file from data of the same shape; `group_by` may stand for `groupBy`."""
    data = file_form(base)
    from_data(data)
    return dump(data) if data else ""


def file_form(base: Mapping[str, Any]) -> dict[str, Any]:
    """Give data with the names of the file format."""
    data = dict(base)
    if isinstance(data.get("views"), list):
        data["views"] = [view_form(view) for view in data["views"]]
    return data


def view_form(view: Any) -> Any:
    """Give a view's data with the names of the file format."""
    return _renamed(view, "group_by", "groupBy") if isinstance(view, Mapping) else view


def from_data(data: Any) -> Base:
    """Check the shape of data and give the base that it describes."""
    shape = Shape()
    top = shape.an_object(data, "")
    base = Base(
        shape.filters(top.get("filters"), "filters"),
        shape.texts(top.get("formulas"), "formulas"),
        {
            name: shape.an_object(value, f"properties.{name}")
            for name, value in _items(shape, top, "properties")
        },
        shape.texts(top.get("summaries"), "summaries"),
        tuple(
            _view(shape, view, f"views[{count}]")
            for count, view in enumerate(shape.a_list(top.get("views"), "views"))
        ),
        top,
    )
    if shape.issues:
        raise BasesSyntaxError(shape.issues)
    return base


_KNOWN = frozenset(("type", "name", "filters", "order", "sort", "groupBy", "limit", "summaries"))


def _view(shape: Shape, data: Any, place: str) -> View:
    view = shape.an_object(data, place)
    kind = shape.text(view.get("type"), f"{place}.type") or "table"
    order = view.get("order")
    group = view.get("groupBy")
    return View(
        shape.text(view.get("name"), f"{place}.name") or kind.capitalize(),
        kind,
        shape.filters(view.get("filters"), f"{place}.filters"),
        None if order is None else tuple(_ids(shape, order, f"{place}.order")),
        tuple(
            Sort(*shape.sort(item, f"{place}.sort[{count}]"))
            for count, item in enumerate(shape.a_list(view.get("sort"), f"{place}.sort"))
        ),
        None if group is None else Sort(*shape.sort(group, f"{place}.groupBy")),
        shape.limit(view.get("limit"), f"{place}.limit"),
        shape.texts(view.get("summaries"), f"{place}.summaries"),
        {key: value for key, value in view.items() if key not in _KNOWN},
    )


def _ids(shape: Shape, order: Any, place: str) -> list[str]:
    return [
        shape.text(item, f"{place}[{count}]") or "" for count, item in enumerate(shape.a_list(order, place))
    ]


def _items(shape: Shape, top: dict[str, Any], key: str) -> list[tuple[str, Any]]:
    return list(shape.an_object(top.get(key), key).items())


def _renamed(view: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in view.items()}
