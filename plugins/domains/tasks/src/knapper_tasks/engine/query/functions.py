"""Functions: `filter by function`, `sort by function` and `group by function`.

The interpreter is loaded with the first of them, since most queries need none.
"""

import re

from .model import Filter, Grouper, Sorter

_FILTER = re.compile("filter by function (.*)", re.IGNORECASE | re.DOTALL)
_SORT = re.compile("sort by function( reverse)? (.*)", re.IGNORECASE | re.DOTALL)
_GROUP = re.compile("group by function( reverse)? (.*)", re.IGNORECASE | re.DOTALL)


def function_filter(line: str, functions: bool) -> Filter | None:
    """A filter by function, or None where the line is about something else."""
    found = _FILTER.match(line)
    if found is None:
        return None
    from .scripted import filter_of

    return filter_of(line, found[1], functions)


def function_sorter(line: str, functions: bool) -> Sorter | None:
    """A sorter by function, or None where the line is about something else."""
    found = _SORT.match(line)
    if found is None:
        return None
    from .scripted import sorter_of

    return sorter_of(line, found[2], bool(found[1]), functions)


def function_grouper(line: str, functions: bool) -> Grouper | None:
    """A grouper by function, or None where the line is about something else."""
    found = _GROUP.match(line)
    if found is None:
        return None
    from .scripted import grouper_of

    return grouper_of(line, found[2], bool(found[1]), functions)
