"""What can go wrong in a query, each with the instruction and the reason: the errors of the scripts that it may hold.

QueryError
├── ScriptRefused    JavaScript outside the subset that is evaluated
├── SearchFailed     the query was understood, but an expression failed on a task
└── BudgetExceeded   the query asked for more work than it may have
"""

from knapper.script.errors import BudgetExceeded, ScriptRefused
from knapper.script.errors import ScriptError as QueryError
from knapper.script.errors import ScriptFailed as SearchFailed

__all__ = ["BudgetExceeded", "QueryError", "ScriptRefused", "SearchFailed"]
