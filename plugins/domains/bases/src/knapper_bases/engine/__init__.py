"""The native engine for Obsidian Bases: the expression language, .base files, and the views they define."""

from knapper_bases.engine.budget import Budget
from knapper_bases.engine.errors import (
    BasesError,
    BasesSyntaxError,
    BudgetExceeded,
    Issue,
    UnreadableExpression,
)
from knapper_bases.engine.evaluate import evaluate
from knapper_bases.engine.plan import Narrowing, plan
from knapper_bases.engine.source import Entry, LinkRef, Source
from knapper_bases.engine.text import plain
