"""Filters: one instruction read as a condition, the kinds tried in the plugin's order."""

from collections.abc import Callable
from datetime import date
from functools import partial

from knapper_tasks.engine.errors import QueryError
from knapper_tasks.engine.settings import Settings

from .booleans import boolean_filter
from .dates import date_filter
from .fields import DATES
from .flags import flag_filter, priority_filter, status_type_filter
from .functions import function_filter
from .model import Filter
from .texts import tags_filter, text_filter

_TEXTS_AFTER_DATES = ["path", "folder", "root", "description", "heading", "filename", "recurrence", "id"]


def parse_filter(line: str, settings: Settings, today: date, functions: bool) -> Filter:
    """A condition, or QueryError with what is not understood."""
    # Combinations last: the text of a single filter may hold AND and parentheses.
    kinds: list[Callable[[], Filter | None]] = [
        lambda: text_filter("status.name", line, settings),
        lambda: status_type_filter(line),
        lambda: flag_filter(line),
        lambda: priority_filter(line),
        *(partial(date_filter, name, line, today) for name in DATES),
        *(partial(text_filter, name, line, settings) for name in _TEXTS_AFTER_DATES),
        lambda: tags_filter(line),
        lambda: function_filter(line, functions),
        lambda: boolean_filter(line, lambda part: parse_filter(part, settings, today, functions)),
    ]
    for kind in kinds:
        if (found := kind()) is not None:
            return found
    raise QueryError("do not understand query")
