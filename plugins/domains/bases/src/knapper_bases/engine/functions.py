"""The global functions."""

import html
import random
from collections.abc import Callable
from typing import NamedTuple

from knapper_bases.engine.arguments import MANY, flattened, string
from knapper_bases.engine.compare import compare, empty, truthy
from knapper_bases.engine.convert import read_link
from knapper_bases.engine.dates import read_date, read_duration
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.file_methods import as_file
from knapper_bases.engine.list_methods import extreme
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import Date, Duration, File, Html, Icon, Image, Link, type_name


class Function(NamedTuple):
    """A global function: the second parameter is the path of the file it is called for."""

    call: Callable[[Run, str, list[object]], object]
    least: int = 0
    most: int = 0


def _date(run: Run, path: str, args: list[object]) -> Date | None:
    value = args[0]
    if value is None or isinstance(value, Date):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return Date(run.local(value / 1000), True)
        except (ValueError, OverflowError, OSError):
            raise BasesError("The date is out of range") from None
    written = string(value, run)
    found = read_date(written, run)
    if found is None:
        raise BasesError(f'Unable to parse "{written}" as a date.')
    return found


def _duration(run: Run, path: str, args: list[object]) -> Duration | None:
    value = args[0]
    if value is None or isinstance(value, Duration):
        return value
    found = read_duration(value) if isinstance(value, str) else None
    if found is None:
        raise BasesError(f'Unable to parse "{string(value, run)}" as a duration.')
    return found


def _number(run: Run, path: str, args: list[object]) -> float | None:
    value = args[0]
    if value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, Date):
        return round(run.epoch(value.when) * 1000)
    written = string(value, run)
    try:
        return _read_number(written) if isinstance(value, str) else _refuse_number(written)
    except ValueError:
        return _refuse_number(written)


def _read_number(written: str) -> float:
    if "_" in written or written.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise ValueError(written)
    number = float(written)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _refuse_number(written: str) -> float:
    raise BasesError(f'Unable to parse "{written}" as a number.')


def _link(run: Run, path: str, args: list[object]) -> Link | None:
    target, display = args[0], args[1] if len(args) > 1 else None
    if target is None:
        return None
    if isinstance(target, File):
        return Link(target.path, display, path, target.path)
    if isinstance(target, Link):
        shown = target.display if display is None else display
        return Link(target.target, shown, target.source_path, target.resolved)
    written = string(target, run)
    wiki = read_link(written, path)
    if wiki is None:
        return Link(written, display, path)
    return Link(wiki.target, wiki.display if display is None else display, path)


def _list(run: Run, path: str, args: list[object]) -> list[object]:
    if isinstance(args[0], list):
        return args[0]
    return [] if args[0] is None else [args[0]]


def _image(run: Run, path: str, args: list[object]) -> Image | None:
    value = args[0]
    if value is None:
        return None
    return Image(value.target if isinstance(value, Link) else string(value, run))


def _extreme(name: str, sign: int) -> Callable[[Run, str, list[object]], object]:
    def call(run: Run, path: str, args: list[object]) -> object:
        given = [value for value in flattened(args) if value is not None]
        for value in given:
            if compare(given[0], value, run) is None:
                raise BasesError(
                    f'Function "{name}" cannot compare {type_name(given[0])} and {type_name(value)}'
                )
        return extreme(run, given, sign)

    return call


FUNCTIONS: dict[str, Function] = {
    "date": Function(_date, 1, 1),
    "duration": Function(_duration, 1, 1),
    # `empty` and `not` are how the first beta spelled `isEmpty()` and `!`; bases written then still have them.
    "empty": Function(lambda run, path, args: empty(args[0]), 1, 1),
    "not": Function(lambda run, path, args: not truthy(args[0]), 1, 1),
    "escapeHTML": Function(
        lambda run, path, args: html.escape(string(args[0], run)).replace("&#x27;", "&#39;"), 1, 1
    ),
    "file": Function(lambda run, path, args: as_file(run, args[0], path), 1, 1),
    "html": Function(lambda run, path, args: Html(string(args[0], run)), 1, 1),
    "icon": Function(lambda run, path, args: Icon(string(args[0], run)), 1, 1),
    "image": Function(_image, 1, 1),
    "link": Function(_link, 1, 2),
    "list": Function(_list, 1, 1),
    "max": Function(_extreme("max", 1), 1, MANY),
    "min": Function(_extreme("min", -1), 1, MANY),
    "now": Function(lambda run, path, args: Date(run.now, True)),
    "number": Function(_number, 1, 1),
    "random": Function(lambda run, path, args: random.random()),
    "today": Function(
        lambda run, path, args: Date(run.now.replace(hour=0, minute=0, second=0, microsecond=0), False)
    ),
}
