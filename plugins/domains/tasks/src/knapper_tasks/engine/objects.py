"""Objects: the task, its dates and its file as scripts see them, and the query around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from knapper.script.moments import JsMoment
from knapper.script.scope import Scope
from knapper.script.texts import argument
from knapper.script.values import UNDEFINED, Host, Record, Value, to_text
from knapper_tasks.engine.days import earliest, ordinal, valid
from knapper_tasks.engine.errors import ScriptRefused
from knapper_tasks.engine.headings import PRIORITY_NAMES, priority_heading, status_type_heading
from knapper_tasks.engine.markup import TAG
from knapper_tasks.engine.urgency import urgency
from knapper_tasks.row import TaskRow

if TYPE_CHECKING:
    from knapper_tasks.engine.query.context import Search


class TaskDate(Host):
    """A date of a task, which may be missing."""

    kind = "TasksDate"

    def __init__(self, iso: str | None, today: date) -> None:
        self._iso = iso
        self._today = today

    def moment(self) -> JsMoment | None:
        """The date as a moment, an invalid one for a day that does not exist."""
        if self._iso is None:
            return None
        return JsMoment(datetime.combine(date.fromisoformat(self._iso), time()) if valid(self._iso) else None)

    def member(self, name: str) -> Value:
        if name == "moment":
            return self.moment()
        if name == "category":
            return _category(self._iso, self._today)
        if name == "fromNow":
            raise ScriptRefused("fromNow")
        return UNDEFINED

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        forms = {"formatAsDate": "YYYY-MM-DD", "formatAsDateAndTime": "YYYY-MM-DD HH:mm"}
        moment = self.moment()
        if name in forms:
            return moment.format(forms[name]) if moment else _fallback(arguments, 0)
        if name == "format":
            return moment.format(to_text(argument(arguments, 0))) if moment else _fallback(arguments, 1)
        if name == "toISOString":
            return moment.called(name, [], scope) if moment else ""
        return UNDEFINED


def _fallback(arguments: list[Value], index: int) -> str:
    return "" if argument(arguments, index) is UNDEFINED else to_text(arguments[index])


def _category(iso: str | None, today: date) -> Record:
    if iso is None:
        name, order = "Undated", 4
    elif not ordinal(iso):
        name, order = "Invalid date", 0
    else:
        distance = ordinal(iso) - today.toordinal()
        name, order = ("Overdue", 1) if distance < 0 else ("Future", 3) if distance else ("Today", 2)
    return Record({"name": name, "sortOrder": order, "groupText": f"%%{order}%% {name}"})


class FileObject(Host):
    """A note: the parts of its path, and its properties where the host knows them."""

    def __init__(self, path: str, properties: Callable[[], Mapping[str, Any]] | None) -> None:
        self._path = path
        self._properties = properties

    def member(self, name: str) -> Value:
        folder, _, filename = self._path.rpartition("/")
        parts = {
            "path": self._path,
            "pathWithoutExtension": self._path.removesuffix(".md"),
            "root": self._path.partition("/")[0] + "/" if folder else "/",
            "folder": folder + "/",
            "filename": filename,
            "filenameWithoutExtension": filename.removesuffix(".md"),
        }
        if name in (
            "outlinks",
            "outlinksInBody",
            "outlinksInProperties",
            "frontmatter",
            "cachedMetadata",
            "tags",
        ):
            raise ScriptRefused(f"file.{name}")
        return parts.get(name, UNDEFINED)

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        if name == "hasProperty":
            return self._property(to_text(argument(arguments, 0))) is not None
        if name == "property":
            return self._property(to_text(argument(arguments, 0)))
        return UNDEFINED

    def _property(self, name: str) -> Value:
        if self._properties is None:
            raise ScriptRefused(f"file.property({name!r}): the properties of notes are not at hand")
        properties = self._properties()
        if name.lower() == "tags":
            return _tags(properties)
        key = next((key for key in properties if key.lower() == name.lower()), None)
        return None if key is None else _from_yaml(properties[key])


def _tags(properties: Mapping[str, Any]) -> list[Value]:
    raw = next((value for key, value in properties.items() if key.lower() == "tags"), None)
    listed = raw if isinstance(raw, list) else [raw]
    return ["#" + str(tag).lstrip("#") for tag in listed if isinstance(tag, (str, int)) and str(tag)]


def _from_yaml(value: Any) -> Value:
    if isinstance(value, list):
        return [_from_yaml(item) for item in value if item is not None]
    if isinstance(value, Mapping):
        return Record({str(key): _from_yaml(item) for key, item in value.items()})
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


class TaskObject(Host):
    """A task."""

    def __init__(self, row: TaskRow, search: Search) -> None:
        self.row = row
        self._search = search

    def member(self, name: str) -> Value:
        if name in _TASK:
            return _TASK[name](self.row)
        if name in _TASK_IN_SEARCH:
            return _TASK_IN_SEARCH[name](self.row, self._search)
        if name in ("outlinks", "links", "parent", "children", "taskLocation", "cachedMetadata"):
            raise ScriptRefused(f"task.{name}")
        return UNDEFINED

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        if name == "isBlocked":
            return self._search.blocked(self.row)
        if name == "isBlocking":
            return self._search.blocking(self.row)
        if name in ("findClosestParentTask", "toFileLineString"):
            raise ScriptRefused(f"task.{name}()")
        return UNDEFINED


_TASK: dict[str, Callable[[TaskRow], Value]] = {
    "description": lambda row: row.description,
    "descriptionWithoutTags": lambda row: TAG.sub("", row.description).strip(),
    "isDone": lambda row: row.closed,
    "tags": lambda row: list(row.tags),
    "priority": lambda row: str(row.priority),
    "priorityName": lambda row: PRIORITY_NAMES[row.priority],
    "priorityNumber": lambda row: row.priority,
    "priorityNameGroupText": priority_heading,
    "isRecurring": lambda row: row.recurrence is not None,
    "recurrenceRule": lambda row: row.recurrence or "",
    "onCompletion": lambda row: row.on_completion or "",
    "hasHeading": lambda row: row.heading is not None,
    "heading": lambda row: row.heading,
    "indentation": lambda row: row.indent,
    "listMarker": lambda row: row.marker,
    "lineNumber": lambda row: row.line,
    "originalMarkdown": lambda row: row.raw,
    "id": lambda row: row.id or "",
    "dependsOn": lambda row: list(row.depends_on),
    "blockLink": lambda row: f" {row.block_link}" if row.block_link else "",
    "path": lambda row: row.path,
    "filename": lambda row: row.path.rpartition("/")[2].removesuffix(".md"),
}


def _dated(field: str) -> Callable[[TaskRow, Search], Value]:
    return lambda row, search: TaskDate(getattr(row, field), search.today)


def _status(row: TaskRow, search: Search) -> Record:
    return Record(
        {
            "name": row.status_name,
            "type": row.status_type,
            "symbol": row.symbol,
            "nextSymbol": search.settings.statuses.get(row.symbol).next_symbol,
            "typeGroupText": status_type_heading(row),
        }
    )


def _file(row: TaskRow, search: Search) -> FileObject:
    properties_of = search.properties_of
    return FileObject(row.path, None if properties_of is None else lambda: properties_of(row.path))


_TASK_IN_SEARCH: dict[str, Callable[[TaskRow, Search], Value]] = {
    **{field: _dated(field) for field in ("created", "start", "scheduled", "due", "done", "cancelled")},
    "happens": lambda row, search: TaskDate(earliest(row.start, row.scheduled, row.due), search.today),
    "status": _status,
    "urgency": lambda row, search: urgency(row, search.day),
    "file": _file,
}


class PresetsObject(Host):
    """The presets by name."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def member(self, name: str) -> Value:
        return self._search.settings.presets.get(name, UNDEFINED)


class QueryObject(Host):
    """The query: its file and all tasks."""

    def __init__(self, search: Search) -> None:
        self.search = search

    def member(self, name: str) -> Value:
        if name == "file":
            file = self.search.file
            return None if file is None else FileObject(file.path, lambda: file.properties)
        if name == "allTasks":
            self.search.budget.spend(len(self.search.rows))
            return [TaskObject(row, self.search) for row in self.search.rows]
        if name == "searchCache":
            raise ScriptRefused("query.searchCache")
        return UNDEFINED
