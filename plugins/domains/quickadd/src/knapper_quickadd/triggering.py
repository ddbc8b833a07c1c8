"""The tool that runs a choice. What runs it is imported by its first call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, Record
from knapper_quickadd.domain import quickadd


class Triggered(Record):
    """A choice that was run; what the live engine changed nobody can say."""

    action_name: str
    fired_at: str
    engine: Literal["native", "obsidian"]
    created_paths: list[str] | None = None
    modified_paths: list[str] | None = None


def _precheck(ctx: Context, args: Any) -> None:
    """What can be known to fail fails before a person is asked."""
    from knapper_quickadd import running

    running.check(ctx, args.action_name, args.args or {})


@quickadd.tool(
    "execute:quickadd",
    repeat="once",
    precheck=_precheck,
    reach="the notes that the choice creates or changes, by its settings",
)
def trigger_quickadd(
    ctx: Context,
    action_name: Annotated[str, Doc("A name of list_quickadd_actions.", min_length=1, max_length=500)],
    args: Annotated[
        dict[str, Any] | None,
        Doc(
            "Values by their names, `value` for the unnamed one; `active_file`, `folder`, `capture_to`, `file_exists`."
        ),
    ] = None,
) -> Triggered:
    """Run a choice of QuickAdd: make a note from a template, or capture a text into one.

    Choices that need no JavaScript run natively; macros and the rest need Obsidian.
    """
    from knapper_quickadd import running

    return running.triggered(ctx, action_name, args or {})
