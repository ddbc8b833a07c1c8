"""Line: a task line taken apart into a TaskRow, and a TaskRow written as a line."""

from typing import Any

from knapper_tasks.row import TaskRow

from .markup import (
    AFTER_TAG,
    BEFORE_TAG,
    BLOCK_LINK,
    DATAVIEW_MARKUP,
    EMOJI_MARKUP,
    TAG,
    TAG_AT_END,
    TASK_LINE,
    WRITTEN,
    Markup,
)
from .rules import canonical_rule
from .settings import DATAVIEW, Settings

# The plugin stops after so many passes over a line.
_PASSES = 20


def parse_line(
    text: str,
    settings: Settings,
    *,
    path: str = "",
    line: int = 0,
    heading: str | None = None,
    fallback: str | None = None,
    check_global_filter: bool = True,
) -> TaskRow | None:
    """Read a line as a task, or None where the plugin sees none; `fallback` is the note's own date."""
    matched = TASK_LINE.match(text)
    if matched is None:
        return None
    indent, marker, symbol, rest = matched.groups()
    body = rest.strip()
    block = BLOCK_LINK.search(body)
    if block:
        body = body[: block.start()].strip()
    if check_global_filter and settings.global_filter not in body:
        return None
    fields = _fields_of(body, markup_of(settings))
    if fallback is not None and not (fields.keys() & {"start", "scheduled", "due"}):
        fields["scheduled"] = fallback
        fields["scheduled_inferred"] = True
    status = settings.statuses.get(symbol)
    return TaskRow(
        path=path,
        line=line,
        heading=heading,
        indent=indent,
        marker=marker,
        symbol=symbol,
        status_type=status.type,
        status_name=status.name,
        tags=tags_of(fields["description"], settings),
        block_link=block[0].strip() if block else None,
        raw=text,
        **fields,
    )


def serialize(row: TaskRow, settings: Settings) -> str:
    """Write a task as the plugin does: fields in its order, a hard break at the end kept."""
    markup = markup_of(settings)
    parts = [f"{row.indent}{row.marker} [{row.symbol}] {row.description}"]
    parts += [markup.written(field, text) for field in WRITTEN if (text := _text_of(row, field, markup))]
    if row.block_link:
        parts.append(f" {row.block_link}")
    blanks = len(row.raw) - len(row.raw.rstrip(" "))
    if blanks >= 2:
        parts.append(" " * blanks)
    return "".join(parts)


def markup_of(settings: Settings) -> Markup:
    """The format the settings ask for."""
    return DATAVIEW_MARKUP if settings.task_format == DATAVIEW else EMOJI_MARKUP


def tags_of(description: str, settings: Settings) -> tuple[str, ...]:
    """The tags of a description, the global filter left out."""
    if "#" not in description:
        return ()
    tags = (found.strip() for found in TAG.findall(description))
    return tuple(tag for tag in tags if tag != settings.global_filter)


def _fields_of(body: str, markup: Markup) -> dict[str, Any]:
    within = markup.within(body)
    if not within:
        return {"description": body}
    first = [name for name in BEFORE_TAG if name in within]
    last = [name for name in AFTER_TAG if name in within]
    found: dict[str, str] = {}
    trailing: list[str] = []
    for _ in range(_PASSES):
        before = body
        body = _take(body, first, markup, found)
        tag = TAG_AT_END.search(body)
        if tag:
            body = body[: tag.start()].strip()
            trailing.insert(0, tag[0].strip())
        body = _take(body, last, markup, found)
        if body == before:
            break
    fields = _typed(found, markup)
    fields["description"] = " ".join([body, *trailing]) if trailing else body
    return fields


def _take(body: str, names: list[str], markup: Markup, found: dict[str, str]) -> str:
    for name in names:
        matched = markup.at_end(name, body)
        if matched:
            # Read from the end, so of two the one further left is met last and counts.
            found[name] = matched["value"]
            body = body[: matched.start()].strip()
    return body


def _typed(found: dict[str, str], markup: Markup) -> dict[str, Any]:
    fields: dict[str, Any] = dict(found)
    if "priority" in fields:
        fields["priority"] = markup.priorities[fields["priority"]]
    if "recurrence" in fields:
        fields["recurrence"] = canonical_rule(fields["recurrence"].strip())
    if "on_completion" in fields:
        action = fields["on_completion"].lower()
        fields["on_completion"] = action if action in ("keep", "delete") else None
    if "depends_on" in fields:
        ids = fields["depends_on"].replace(" ", "").split(",")
        fields["depends_on"] = tuple(identifier for identifier in ids if identifier)
    return fields


def _text_of(row: TaskRow, field: str, markup: Markup) -> str:
    if field == "priority":
        return _priority_text(row.priority, markup)
    if field == "depends_on":
        return ",".join(row.depends_on)
    if field == "scheduled" and row.scheduled_inferred:
        return ""
    return getattr(row, field) or ""


def _priority_text(priority: int, markup: Markup) -> str:
    return next((text for text, number in markup.priorities.items() if number == priority), "")
