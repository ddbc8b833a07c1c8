"""By a JsonLogic rule over each note's properties, text and file facts."""

from __future__ import annotations

import time
from typing import Annotated, Any

from knapper import Context, Doc, Page, Record, ToolError
from knapper.jsonlogic import Rule, truthy
from knapper_search.domain import Root, search

SECONDS = 10.0


class RuleMatch(Record):
    terse = ("path",)

    path: str
    matched: Any = None


@search.tool("read:notes", words="filter condition rule json logic")
def search_jsonlogic(
    ctx: Context,
    logic: Annotated[Any, Doc('A JsonLogic rule, such as {"==": [{"var": "status"}, "done"]}.')],
    root: Root = "",
    page: Page = Page(),
) -> Page.Of[RuleMatch]:
    """Find notes for which a JsonLogic rule holds.

    The rule sees the properties, and path, name, folder, tags, content, mtime and size.
    """
    found, last = matching(ctx, logic, root, page)
    return page.of(found, last_key=last)


def matching(ctx: Context, logic: Any, root: str, page: Page) -> tuple[list[RuleMatch], Any]:
    """A page of the notes a rule holds for, in the order of paths; what is not asked for is not loaded."""
    if not isinstance(logic, dict):
        raise ToolError("jsonlogic_error", "a rule is an object with one key, its operator")
    rule = Rule(logic)
    names = variables(logic)
    after = page.after or ""
    end = time.monotonic() + SECONDS
    found: list[RuleMatch] = []
    for path, data in ctx.index.note_data(
        root=root,
        after=after,
        content=names is None or "content" in names,
        tags=names is None or "tags" in names,
    ):
        ctx.check_cancelled()
        if time.monotonic() > end:
            raise ToolError(
                "compute_budget_exceeded", f"the rule took over {SECONDS:g} s", budget_ms=int(SECONDS * 1000)
            )
        result = rule(data)
        if not truthy(result):
            continue
        if len(found) == page.limit:
            return found, found[-1].path
        found.append(RuleMatch(path=path, matched=result))
    return found, None


def variables(logic: Any) -> set[str] | None:
    """The names of data a rule asks for, each without what follows its first dot; None where any could be meant."""
    found: set[str] = set()
    todo = [logic]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            for operator, value in part.items():
                if operator in ("var", "missing", "missing_some"):
                    given = _names(operator, value)
                    if given is None:
                        return None
                    found |= given
                todo.append(value)
    return found


def _names(operator: str, value: Any) -> set[str] | None:
    first = value[0] if operator == "var" and isinstance(value, list) and value else value
    if operator == "missing_some" and isinstance(value, list) and len(value) == 2:
        first = value[1]
    listed = first if isinstance(first, list) else [first]
    if not all(isinstance(name, (str, int)) and name != "" for name in listed):
        return None
    return {str(name).partition(".")[0] for name in listed}
