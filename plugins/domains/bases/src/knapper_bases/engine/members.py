"""Finding the function or field that a name means on a value."""

from knapper_bases.engine.arguments import Method, check_count, string
from knapper_bases.engine.compare import empty, truthy
from knapper_bases.engine.convert import MISSING, convert_all
from knapper_bases.engine.date_methods import DATE_METHODS, date_field, duration_field
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.file_methods import FILE_FIELDS, FILE_METHODS, LINK_METHODS, note_property
from knapper_bases.engine.jsregex import matches
from knapper_bases.engine.list_methods import LIST_METHODS
from knapper_bases.engine.number_methods import NUMBER_METHODS
from knapper_bases.engine.run import Run
from knapper_bases.engine.string_methods import STRING_METHODS, length
from knapper_bases.engine.text import text
from knapper_bases.engine.values import (
    Date,
    Duration,
    File,
    Html,
    Icon,
    Image,
    Link,
    Regexp,
    RelativeDate,
    Tag,
    This,
    type_name,
)


def _is_type(run: Run, value: object, args: list[object]) -> bool:
    wanted = string(args[0], run).lower()
    return wanted == type_name(value).lower() or (wanted == "string" and isinstance(value, Tag))


_ANY = {
    "isTruthy": Method(lambda run, value, args: truthy(value)),
    "isType": Method(_is_type, 1, 1),
    "isEmpty": Method(lambda run, value, args: empty(value)),
    "toString": Method(lambda run, value, args: text(value, run.budget)),
}


def _on_target(name: str, method: Method) -> Method:
    if name.startswith("contains"):
        return method
    return Method(lambda run, link, args: method.call(run, link.target, args), method.least, method.most)


_STRINGS = {**_ANY, **STRING_METHODS}
_NUMBERS = {**_ANY, **NUMBER_METHODS}
_DATES = {**_ANY, **DATE_METHODS}
_FILES = {**_ANY, **FILE_METHODS}
_OBJECT = {
    **_ANY,
    "keys": Method(lambda run, value, args: list(value)),
    "values": Method(lambda run, value, args: list(value.values())),
}

METHODS: dict[type, dict[str, Method]] = {
    bool: _ANY,
    int: _NUMBERS,
    float: _NUMBERS,
    **dict.fromkeys((str, Tag, Html, Icon, Image), _STRINGS),
    Date: _DATES,
    RelativeDate: _DATES,
    Duration: _ANY,
    # A link is a text with a special look: the text functions see its target.
    Link: {
        **_ANY,
        **{name: _on_target(name, method) for name, method in STRING_METHODS.items()},
        **LINK_METHODS,
    },
    File: _FILES,
    This: _FILES,
    list: {**_ANY, **LIST_METHODS},
    dict: _OBJECT,
    Regexp: {
        **_ANY,
        "matches": Method(lambda run, value, args: matches(value, string(args[0], run), run.budget), 1, 1),
    },
}


def call_method(run: Run, value: object, name: str, args: list[object]) -> object:
    """Call a function on a value; on null only the questions about being there have an answer."""
    if value is None:
        return _on_null(run, name, args)
    method = METHODS[type(value)].get(name)
    if method is None:
        raise BasesError(f'Cannot find function "{name}" on type {type_name(value)}')
    if not method.least <= len(args) <= method.most:
        check_count(name, len(args), method.least, method.most)
    return method.call(run, value, args)


def _on_null(run: Run, name: str, args: list[object]) -> object:
    if name in ("isTruthy", "isEmpty", "isType"):
        method = _ANY[name]
        check_count(name, len(args), method.least, method.most)
        return method.call(run, None, args)
    if name in METHOD_NAMES:
        return None
    raise BasesError(f'Cannot find function "{name}" on type Null')


METHOD_NAMES = {name for methods in METHODS.values() for name in methods} | {"filter", "map", "reduce"}


def get_member(run: Run, value: object, name: str) -> object:
    """Give a field of a value; null has every field, and each is null."""
    if value is None:
        return None
    if isinstance(value, dict):
        return _object_member(value, name)
    found = _field(run, value, name)
    if found is MISSING:
        raise BasesError(f'Cannot find "{name}" on type {type_name(value)}')
    return found


def get_item(run: Run, value: object, key: object) -> object:
    """Give an element of a list by its place, or a member by its name."""
    if value is None or key is None:
        return None
    if isinstance(value, list):
        if isinstance(key, bool) or not isinstance(key, int | float) or key != key:
            return None
        return value[int(key)] if 0 <= key < len(value) and key == int(key) else None
    return get_member(run, value, string(key, run))


def _object_member(value: dict[str, object], name: str) -> object:
    if name in value:
        return value[name]
    folded = name.casefold()
    return next((item for key, item in value.items() if key.casefold() == folded), None)


def _field(run: Run, value: object, name: str) -> object:
    if isinstance(value, This):
        return _this_member(run, value, name)
    if isinstance(value, File):
        field = FILE_FIELDS.get(name)
        return field(run, value) if field else note_property(run, value, name)
    found: object = None
    if isinstance(value, Date):
        found = date_field(value, name)
    elif isinstance(value, Duration):
        found = duration_field(value, name)
    elif name == "length":
        found = _length(value)
    return MISSING if found is None else found


def _length(value: object) -> int | None:
    if isinstance(value, list):
        return len(value)
    if isinstance(value, str):
        return length(value)
    return length(value.target) if isinstance(value, Link) else None


def _this_member(run: Run, this: This, name: str) -> object:
    if name == "file":
        return FILE_FIELDS["file"](run, this)
    if name == "note":
        return convert_all(this.entry.properties, this.path, run)
    found = note_property(run, this, name)
    return None if found is MISSING else found
