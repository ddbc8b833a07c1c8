"""The tools of the domain, and the service by which other domains run queries.

The engine is imported by the first call that needs it; until then a server does without.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, NotePath, Record
from knapper.bridge import EngineName
from knapper_dataview.answers import CheckedQuery, DqlRows, Format
from knapper_dataview.domain import dataview

LONGEST = 20_000


@dataview.tool("read:dataview", words="check syntax valid correct error")
def validate_dql(
    ctx: Context,
    dql: Annotated[str, Doc("A Dataview query.", max_length=LONGEST)],
    engine: EngineName = "auto",
) -> CheckedQuery:
    """Say whether a Dataview query is well formed: its syntax tree, or where it is wrong and what was expected there."""
    from knapper_dataview import running

    return running.checked(ctx, dql, engine)


class FieldValue(Record):
    path: str
    expression: str
    value: Any
    type: str
    engine: Literal["native", "obsidian"]
    incomplete: str | None = None


@dataview.tool("read:dataview", "read:notes", words="evaluate inline compute calculate")
def eval_dataview_field(
    ctx: Context,
    path: NotePath,
    expression: Annotated[str, Doc("A Dataview expression, such as `rating * 2`.", max_length=LONGEST)],
    engine: EngineName = "auto",
) -> FieldValue:
    """The value of a Dataview expression in a note: its fields by their names, `file` and `this`."""
    from knapper_dataview import running

    value, kind = running.evaluated(ctx, path, expression, engine)
    answered: Literal["native", "obsidian"] = "obsidian" if engine == "obsidian" else "native"
    return FieldValue(path=path, expression=expression, value=value, type=kind, engine=answered)


@dataview.service("dql")
def run_dql(ctx: Context, dql: str, format: Format | None = None, engine: EngineName = "auto") -> DqlRows:
    """Run a query over the notes a caller may read: headers, rows, the notes they came from, and which engine answered."""
    from knapper_dataview import running

    return running.rows(ctx, dql, format, engine)
