"""Engine: the formats and the query language of the Obsidian Tasks plugin, without Obsidian."""

from knapper.script.budget import Budget
from knapper_tasks.row import PRIORITIES, TaskRow

from .errors import BudgetExceeded, QueryError, ScriptRefused, SearchFailed
from .extract import extract
from .line import parse_line, serialize
from .phrases import Range, parse_range
from .query import Facts, Group, Query, QueryFile, Result, narrow, parse_query
from .rules import canonical_rule
from .settings import Settings, settings_from_data
from .statuses import Status, Statuses, statuses_from_settings
from .toggle import set_status, toggle_line
from .urgency import urgency

__all__ = [
    "PRIORITIES",
    "Budget",
    "BudgetExceeded",
    "Facts",
    "Group",
    "Query",
    "QueryError",
    "QueryFile",
    "Range",
    "Result",
    "ScriptRefused",
    "SearchFailed",
    "Settings",
    "Status",
    "Statuses",
    "TaskRow",
    "canonical_rule",
    "extract",
    "narrow",
    "parse_line",
    "parse_query",
    "parse_range",
    "serialize",
    "set_status",
    "settings_from_data",
    "statuses_from_settings",
    "toggle_line",
    "urgency",
]
