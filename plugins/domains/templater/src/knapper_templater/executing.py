"""The tool that runs a template. What runs it is imported by its first call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, Record, WriteNotePath
from knapper.bridge import EngineName
from knapper_templater.domain import templater


class Cursor(Record):
    """Where a template wants the cursor; both count from 1."""

    line: int
    column: int
    order: int | None = None


class Result(Record):
    """A note made from a template; `target` is where it is in the end."""

    template: str
    target: str
    created_at: str
    content_hash: str
    expanded_size: int
    engine: Literal["native", "obsidian"]
    cursors: list[Cursor] | None = None


def _precheck(ctx: Context, args: Any) -> None:
    """What can be known to fail fails before a person is asked; a call with a key may be one that is done already."""
    if args.idempotency_key is not None:
        return
    from knapper_templater import running

    running.check(ctx, args.template, args.target, args.args or {}, args.overwrite, args.engine)


@templater.tool(
    "write:templater",
    "write:notes",
    repeat="keyed",
    precheck=_precheck,
    reach="notes that the template includes; with allow_file_changes notes it creates, and links to a note it moves",
    words="apply insert use instantiate",
)
def execute_template(
    ctx: Context,
    template: Annotated[
        str, Doc("Its path, or its name in the folder of templates.", min_length=1, max_length=1024)
    ],
    target: WriteNotePath,
    args: Annotated[
        dict[str, Any] | None,
        Doc(
            "Answers to the template's questions by their texts, others in order under `answers`; `clipboard`."
        ),
    ] = None,
    overwrite: Annotated[bool, Doc("Replace the target where it is there.")] = False,
    engine: EngineName = "auto",
) -> Result:
    """Make a note from a Templater template.

    Native runs dates, files, properties, includes, questions and simple JavaScript; what needs more goes to Obsidian.
    """
    from knapper_templater import running

    return running.executed(ctx, template, target, args or {}, overwrite, engine)


@templater.service("templater.text")
def text_for(ctx: Context, path: str, text: str, target: str, content: str, args: dict[str, Any]) -> str:
    """What Templater's commands in a text make of it in a note that is yet to be written, or a ToolError."""
    from knapper_templater import planning

    return planning.text_for(ctx, path, text, target, content, args)
