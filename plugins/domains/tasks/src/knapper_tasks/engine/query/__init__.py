"""Query: the plugin's query language."""

from .context import QueryFile
from .facts import Facts
from .grouping import Group, Heading
from .read import parse_query
from .run import Query, Result, narrow

__all__ = ["Facts", "Group", "Heading", "Query", "QueryFile", "Result", "narrow", "parse_query"]
