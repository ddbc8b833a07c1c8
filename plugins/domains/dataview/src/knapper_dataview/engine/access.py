"""`target.name` and `target[index]` for every type of target."""

from __future__ import annotations

from datetime import datetime

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.dates import DATE_FIELDS
from knapper_dataview.engine.durations import UNITS, Duration
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.text import joined, units
from knapper_dataview.engine.values import Link, Record, type_of

_DURATION_FIELDS = {unit: unit for unit in UNITS} | {unit[:-1]: unit for unit in UNITS if unit != "weeks"}


def index(context: Context, target: object, key: object) -> object:
    """The value under a key; what cannot have one gives null, a key of the wrong type is an error."""
    if key is None:
        return None
    if isinstance(key, str):
        return _named(context, target, key)
    if isinstance(key, (int, float)) and not isinstance(key, bool):
        return _numbered(target, key)
    raise EvaluationError("can only index with a string or number")


def _named(context: Context, target: object, key: str) -> object:
    if isinstance(target, Record):
        return target[key]
    if isinstance(target, dict):
        return target.get(key)
    if isinstance(target, list):
        return _each(context, target, key)
    if isinstance(target, Link):
        row = context.row(context.normalize(target.path))
        return row[key] if row is not None else None
    if isinstance(target, datetime):
        field = DATE_FIELDS.get(key)
        return field(target) if field else None
    if isinstance(target, Duration):
        unit = _DURATION_FIELDS.get(key)
        return target.total(unit) if unit else None
    if isinstance(target, str):
        raise EvaluationError("string indexing requires a numeric index (string[index])")
    return None


def _each(context: Context, targets: list[object], key: str) -> list[object]:
    """A name taken from each element; those that cannot be asked are left out."""
    found: list[object] = []
    context.budget.spend(len(targets) >> 3)
    for target in targets:
        try:
            found.append(_named(context, target, key))
        except EvaluationError:
            continue
    return found


def _numbered(target: object, key: float) -> object:
    if isinstance(target, list):
        return target[int(key)] if 0 <= key < len(target) and key == int(key) else None
    if isinstance(target, str):
        counted = units(target)
        return joined(counted[int(key)]) if 0 <= key < len(counted) and key == int(key) else None
    if isinstance(target, (dict, Link, datetime, Duration)):
        raise EvaluationError(f'can only index into {type_of(target)}s with strings (a.b or a["b"])')
    return None
