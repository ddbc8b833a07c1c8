"""The native engine for Obsidian Bases: the expression language, .base files, and the views they define."""

from knapper_bases.engine.base import Base, Sort, View, create, read, read_filters
from knapper_bases.engine.budget import Budget
from knapper_bases.engine.check import base_problems, filter_problems, problems
from knapper_bases.engine.errors import (
    BasesError,
    BasesSyntaxError,
    BudgetExceeded,
    Issue,
    UnknownFunction,
    UnreadableExpression,
)
from knapper_bases.engine.evaluate import evaluate
from knapper_bases.engine.plan import (
    And,
    FilterTree,
    HasExtension,
    HasTag,
    InFolder,
    LinksTo,
    Narrowing,
    Not,
    Or,
    PropertyEquals,
    plan,
)
from knapper_bases.engine.query import Fault, Group, Result, query
from knapper_bases.engine.row import Row
from knapper_bases.engine.source import Entry, LinkRef, Source
from knapper_bases.engine.text import plain
from knapper_bases.engine.update import update

__all__ = [
    "And",
    "Base",
    "BasesError",
    "BasesSyntaxError",
    "Budget",
    "BudgetExceeded",
    "Entry",
    "Fault",
    "FilterTree",
    "Group",
    "HasExtension",
    "HasTag",
    "InFolder",
    "Issue",
    "LinkRef",
    "LinksTo",
    "Narrowing",
    "Not",
    "Or",
    "PropertyEquals",
    "Result",
    "Row",
    "Sort",
    "Source",
    "UnknownFunction",
    "UnreadableExpression",
    "View",
    "base_problems",
    "create",
    "evaluate",
    "filter_problems",
    "plain",
    "plan",
    "problems",
    "query",
    "read",
    "read_filters",
    "update",
]
