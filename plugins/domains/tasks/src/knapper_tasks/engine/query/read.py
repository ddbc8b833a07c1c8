"""Read: a query's source turned into a Query."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from knapper_tasks.engine.errors import BudgetExceeded, QueryError
from knapper_tasks.engine.settings import Settings

from .context import QueryFile
from .filters import parse_filter
from .grouping import parse_grouper
from .layout import apply_mode, apply_visibility, defaults_of
from .model import Grouper
from .placeholders import expand
from .run import Query
from .sorting import parse_sorter
from .statements import statements

# No query a person writes comes near these.
_LONGEST_SOURCE = 100_000
_LONGEST_LINE = 10_000
_MOST_INSTRUCTIONS = 1_000
_DEEPEST_PRESET = 10

_PRESET = re.compile(r"preset +(.+)", re.IGNORECASE)
_LIMIT = re.compile(r"limit (groups )?(?:to )?([0-9]{1,15})(?: tasks?)?", re.IGNORECASE)
_VIEW = re.compile(r"view (?:(list)|columns by (.+))", re.IGNORECASE)


def parse_query(
    source: str,
    settings: Settings,
    today: date,
    *,
    file: QueryFile | None = None,
    functions: bool = True,
) -> Query:
    """Read a query, the global query and the defaults of its note included.

    `functions` switches the evaluation of JavaScript expressions; where it is off, they are refused.
    """
    if len(source) > _LONGEST_SOURCE:
        raise BudgetExceeded("the query is too long")
    defaults = defaults_of(file.properties) if file else ""
    query = _read(("", defaults, source), settings, today, file, functions)
    if query.ignores_global or not settings.global_query.strip():
        return query
    return _read((settings.global_query, defaults, source), settings, today, file, functions)


def _read(
    sources: tuple[str, ...], settings: Settings, today: date, file: QueryFile | None, functions: bool
) -> Query:
    query = Query(settings=settings, today=today, file=file)
    reader = _Reader(query, functions)
    try:
        for source in sources:
            reader.source(source)
    except RecursionError:
        raise BudgetExceeded("the query is nested too deeply") from None
    return query


class _Reader:
    def __init__(self, query: Query, functions: bool) -> None:
        self._query = query
        self._functions = functions
        self._count = 0
        self._number = 0

    def source(self, source: str) -> None:
        for text, number in statements(source):
            self._number = number
            try:
                self._statement(text, 0)
            except QueryError as error:
                raise error.at(text, number) from None

    def _statement(self, text: str, depth: int) -> None:
        query = self._query
        expanded = text
        # A comment may show a placeholder without meaning it.
        if not text.startswith("#"):
            expanded = expand(text, query.file, query.settings, query.today, self._functions)
        lines = (line for line, _ in statements(expanded)) if expanded != text else [text]
        for line in lines:
            try:
                self._line(line, depth)
            except QueryError as error:
                raise error.at(line, self._number) from None

    def _line(self, line: str, depth: int) -> None:
        self._count += 1
        if self._count > _MOST_INSTRUCTIONS or len(line) > _LONGEST_LINE:
            raise BudgetExceeded("the query has too many or too long instructions")
        if preset := _PRESET.fullmatch(line):
            self._preset(preset[1], depth)
        elif not self._taken(line):
            self._filter(line)

    def _preset(self, name: str, depth: int) -> None:
        presets = self._query.settings.presets
        if name not in presets:
            raise QueryError(_unknown_preset(name, presets))
        if depth >= _DEEPEST_PRESET:
            raise BudgetExceeded(f"the preset {name!r} expands itself")
        for text, _ in statements(presets[name]):
            self._statement(text, depth + 1)

    def _taken(self, line: str) -> bool:
        """Take every instruction that is not a filter, in the plugin's order."""
        query, lowered = self._query, line.lower()
        if apply_mode(line, query.layout):
            return True
        if lowered.startswith("ignore global query"):
            query.ignores_global = True
        elif limit := _LIMIT.match(line):
            self._limit(bool(limit[1]), int(limit[2]))
        elif lowered.startswith("sort by "):
            sorter = parse_sorter(line, query.settings, self._functions)
            query.sorters.append(replace(sorter, number=self._number))
        elif lowered.startswith("group by "):
            query.groupers.append(self._grouper(line))
        elif lowered.startswith("view "):
            self._view(line)
        else:
            return apply_visibility(line, query.layout) or line.startswith("#")
        return True

    def _limit(self, groups: bool, number: int) -> None:
        if groups:
            self._query.group_limit = number
        else:
            self._query.limit = number

    def _view(self, line: str) -> None:
        found = _VIEW.fullmatch(line)
        if found is None:
            raise QueryError("do not understand query")
        columns: Grouper | None = None
        if found[2]:
            columns = self._grouper(f"group by {found[2]}")
        self._query.columns = columns
        self._query.layout.view = "columns" if columns else "list"

    def _grouper(self, line: str) -> Grouper:
        return replace(parse_grouper(line, self._functions), number=self._number)

    def _filter(self, line: str) -> None:
        query = self._query
        condition = parse_filter(line, query.settings, query.today, self._functions)
        query.filters.append(replace(condition, number=self._number))


def _unknown_preset(name: str, presets: Mapping[str, str]) -> str:
    known = ", ".join(sorted(presets)) or "none"
    return (
        f'Cannot find preset "{name}" in the Tasks settings\nThe following presets are defined there: {known}'
    )
