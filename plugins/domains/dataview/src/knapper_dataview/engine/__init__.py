"""Dataview's query language: parsing, evaluating and running it over any vault that can answer a `Source`."""

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.encoding import plain, typed
from knapper_dataview.engine.engine import Engine
from knapper_dataview.engine.errors import (
    BudgetExceeded,
    DqlError,
    DqlSyntaxError,
    DqlUnsupported,
    EvaluationError,
    QueryFailed,
)
from knapper_dataview.engine.extraction import extract
from knapper_dataview.engine.outline import Outline, OutlineItem
from knapper_dataview.engine.pages import ListItem, Page, PageData, encode_page
from knapper_dataview.engine.query_parser import parse_expression, parse_query, validate
from knapper_dataview.engine.results import (
    CalendarEntry,
    CalendarResult,
    ListResult,
    Result,
    TableResult,
    TaskEntry,
    TaskGroup,
    TaskResult,
)
from knapper_dataview.engine.settings import Settings
from knapper_dataview.engine.source import Source
from knapper_dataview.engine.syntax_json import query_json
from knapper_dataview.engine.values import type_of

__all__ = [
    "Budget",
    "BudgetExceeded",
    "CalendarEntry",
    "CalendarResult",
    "DqlError",
    "DqlSyntaxError",
    "DqlUnsupported",
    "Engine",
    "EvaluationError",
    "ListItem",
    "ListResult",
    "Outline",
    "OutlineItem",
    "Page",
    "PageData",
    "QueryFailed",
    "Result",
    "Settings",
    "Source",
    "TableResult",
    "TaskEntry",
    "TaskGroup",
    "TaskResult",
    "encode_page",
    "extract",
    "parse_expression",
    "parse_query",
    "plain",
    "query_json",
    "type_of",
    "typed",
    "validate",
]
