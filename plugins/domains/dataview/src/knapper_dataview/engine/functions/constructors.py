"""Functions that make values out of others."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.dates import FixedZone, parse_date, parse_date_or_word
from knapper_dataview.engine.durations import Duration, parse_duration
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.functions.dispatch import Builtin, builtins, null
from knapper_dataview.engine.luxon_reading import read_date
from knapper_dataview.engine.numbers import parse_number
from knapper_dataview.engine.rendering import text_of
from knapper_dataview.engine.values import ExternalLink, Link, type_of

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def _object(context: Context, *pairs: object) -> dict[str, object]:
    if len(pairs) % 2:
        raise EvaluationError("object() requires an even number of arguments")
    made: dict[str, object] = {}
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        if not isinstance(key, str):
            raise EvaluationError("keys should be of type string for object(key1, value1, ...)")
        made[key] = value
    return made


def _list(context: Context, *values: object) -> list[object]:
    return [*values]


def _date_of_text(context: Context, text: str) -> datetime | None:
    return parse_date_or_word(text, context.now)


def _date_of_link(context: Context, link: Link) -> object:
    found = parse_date(link.display, context.zone) if link.display else None
    if found is None:
        found = parse_date(link.path, context.zone)
    if found is not None:
        return found
    row = context.row(context.normalize(link.path))
    file = row["file"] if row is not None else None
    return file["day"] if isinstance(file, dict) else None


def _date_in_format(context: Context, text: str, pattern: str) -> datetime:
    if pattern in ("x", "X"):
        number = _NUMBER.search(text)
        if number is None:
            raise EvaluationError(f"not a number for format {pattern!r}: {text!r}")
        milliseconds = int(number[0].split(".")[0]) * (1000 if pattern == "X" else 1)
        moment = datetime(1970, 1, 1, tzinfo=FixedZone(0)) + timedelta(milliseconds=milliseconds)
        return moment.astimezone(context.zone)
    found = read_date(text, pattern, context.now)
    if found is None:
        raise EvaluationError(f"the date {text!r} is not in the format {pattern!r}")
    return found


def _duration_of_text(context: Context, text: str) -> Duration | None:
    return parse_duration(text.strip())


def _number_in_text(context: Context, text: str) -> float | None:
    found = _NUMBER.search(text)
    return parse_number(found[0]) if found else None


def _link(context: Context, path: str, display: str | None = None, embed: bool = False) -> Link:
    return Link(context.normalize(path), display, None, "file", embed)


def _shown(context: Context, link: Link, display: str) -> Link:
    return Link(link.path, display, link.subpath, link.type, link.embed)


def _embedded(context: Context, link: Link, embed: bool = True) -> Link:
    return Link(link.path, link.display, link.subpath, link.type, embed)


def _same(context: Context, value: object) -> object:
    return value


LINK: Builtin = Builtin(
    "link",
    {
        "string": _link,
        "link": _same,
        "null": null,
        "string string": _link,
        "string string boolean": _link,
        "link string": _shown,
        "null *": null,
        "* null": lambda context, target, _: LINK(context, target),
    },
    {1: (0,), 2: (0, 1)},
)

CONSTRUCTORS = builtins(
    Builtin("object", {"...": _object}),
    Builtin("list", {"...": _list}),
    Builtin("array", {"...": _list}),
    Builtin(
        "date",
        {
            "string": _date_of_text,
            "date": _same,
            "link": _date_of_link,
            "string string": _date_in_format,
            "null string": null,
            "null": null,
        },
        {1: (0,)},
    ),
    Builtin("dur", {"string": _duration_of_text, "duration": _same, "null": null}, {1: (0,)}),
    Builtin("number", {"number": _same, "string": _number_in_text, "null": null}, {1: (0,)}),
    Builtin("string", {"*": lambda context, value: text_of(value, context.settings)}),
    LINK,
    Builtin(
        "embed",
        {"link": _embedded, "link boolean": _embedded, "null": null, "null *": null, "* null": null},
        {1: (0,), 2: (0, 1)},
    ),
    Builtin(
        "elink",
        {
            "string string": lambda _, url, display: ExternalLink(url, display),
            "string null": lambda _, url, __: ExternalLink(url, url),
            "null *": null,
            "string": lambda _, url: ExternalLink(url, url),
            "null": null,
        },
        {1: (0,), 2: (0,)},
    ),
    Builtin("typeof", {"*": lambda _, value: type_of(value)}),
)
