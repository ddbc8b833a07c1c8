"""Periodic notes: daily to yearly, where and how the vault's own settings keep them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from knapper import Context, Doc, Domain, Page, Record, ToolError, hookimpl
from knapper.vault.edit import Anchor, EditError, edit_anchor
from knapper.vault.files import Written
from knapper.vault.insert import insert
from knapper.vault.markdown import parse
from knapper_periodic.rules import Period, Rules, rules
from knapper_periodic.templates import expand

periodic = Domain("periodic", summary="Daily, weekly, monthly, quarterly and yearly notes.", group="notes")

Day = Annotated[str | None, Doc("YYYY-MM-DD; today if absent.", pattern=r"^\d{4}-\d{2}-\d{2}$")]
YEARS = (2, 9998)  # so that the week and the days beside a day are days, too
REACH = "the note of the period, by the vault's settings"


class PeriodicNote(Record):
    period: Period
    date: str
    path: str
    exists: bool
    content: str | None = None
    frontmatter: dict[str, Any] | None = None


@periodic.tool(
    "read:periodic", reach="the note of that period", words="journal diary daily today yesterday week month"
)
def get_periodic_note(
    ctx: Context, period: Period, date: Day = None, include_content: bool = True
) -> PeriodicNote:
    """Read the note of a day's period, or say where it would be."""
    chosen, when = rules(ctx, period), _day(ctx, date)
    path = chosen.path(when)
    if ctx.vault.exists(path) != "file":
        return PeriodicNote(period=period, date=_iso(chosen, when), path=path, exists=False)
    content, properties = _content(ctx, path, include_content)
    return PeriodicNote(
        period=period,
        date=_iso(chosen, when),
        path=path,
        exists=True,
        content=content,
        frontmatter=properties,
    )


class CreatedNote(Record):
    period: Period
    date: str
    path: str
    created_at: str
    content_hash: str
    template_used: str | None = None


@periodic.tool(
    "write:periodic", repeat="keyed", reach=REACH, words="journal diary daily today week month start"
)
def create_periodic_note(
    ctx: Context,
    period: Period,
    date: Day = None,
    template_override: Annotated[str | None, Doc("A template's path, instead of the vault's.")] = None,
) -> CreatedNote:
    """Create the note of a day's period from its template."""
    chosen, when = rules(ctx, period), _day(ctx, date)
    path, text, template = _fresh(ctx, chosen, when, template_override)
    done = ctx.vault.write(path, text, mode="create")
    return CreatedNote(
        period=period,
        date=_iso(chosen, when),
        path=done.path,
        created_at=done.at,
        content_hash=done.hash,
        template_used=template,
    )


class FoundNote(Record):
    period: Period
    date: str
    path: str
    created: bool
    content: str | None = None
    frontmatter: dict[str, Any] | None = None


@periodic.tool("read:periodic", "write:periodic", reach=REACH, words="journal diary daily today open")
def find_or_create_periodic_note(
    ctx: Context, period: Period, date: Day = None, include_content: bool = True
) -> FoundNote:
    """Read the note of a day's period; where there is none yet, create it from its template first."""
    chosen, when = rules(ctx, period), _day(ctx, date)
    path, created = chosen.path(when), False
    if ctx.vault.exists(path) is None:
        created = _create_once(ctx, chosen, when, str) is not None
    content, properties = _content(ctx, path, include_content)
    return FoundNote(
        period=period,
        date=_iso(chosen, when),
        path=path,
        created=created,
        content=content,
        frontmatter=properties,
    )


class AppendedNote(Record):
    period: Period
    date: str
    path: str
    appended_bytes: int
    created: bool
    content_hash: str
    updated_at: str


@periodic.tool(
    "write:periodic", repeat="keyed", reach=REACH, words="journal diary daily today log write entry"
)
def append_to_periodic_note(
    ctx: Context,
    period: Period,
    content: str,
    date: Day = None,
    heading: Annotated[str | None, Doc("Under this heading, at its end.")] = None,
    ensure_newline: bool = True,
) -> AppendedNote:
    """Add text to the note of a day's period, at its end or under a heading; it is created where it is missing."""
    chosen, when = rules(ctx, period), _day(ctx, date)
    path, added = chosen.path(when), 0

    def change(text: str) -> str:
        nonlocal added
        new = _appended(text, content, heading, ensure_newline)
        added = len(new.encode()) - len(text.encode())
        return new

    try:
        begun = _create_once(ctx, chosen, when, change) if ctx.vault.exists(path) is None else None
        done = begun or ctx.vault.edit(path, change)
    except EditError as error:
        raise ToolError("invalid_input", str(error), path=path, candidates=error.candidates) from None
    return AppendedNote(
        period=period,
        date=_iso(chosen, when),
        path=done.path,
        appended_bytes=added,
        created=begun is not None,
        content_hash=done.hash,
        updated_at=done.at,
    )


class ListedNote(Record):
    period: Period
    date: str
    path: str
    mtime: str


@periodic.tool("read:periodic", words="journal diary daily recent past entries")
def list_periodic_notes(
    ctx: Context,
    period: Period,
    from_: Annotated[str | None, Doc("From this day.", pattern=r"^\d{4}-\d{2}-\d{2}$")] = None,
    to: Annotated[str | None, Doc("Up to this day.", pattern=r"^\d{4}-\d{2}-\d{2}$")] = None,
    page: Page = Page(),
) -> Page.Of[ListedNote]:
    """List the notes of a period in the order of their dates."""
    chosen, found = rules(ctx, period), []
    low, high = from_ or "0000-00-00", to or "9999-99-99"
    for row in ctx.index.notes():
        if not row.path.startswith(chosen.folder):
            continue
        when = chosen.recognise(row.path)
        if when is not None and low <= f"{when:%Y-%m-%d}" <= high:
            mtime = (
                datetime.fromtimestamp(row.mtime_ns / 1e9, UTC)
                .isoformat(timespec="seconds")
                .replace("+00:00", "Z")
            )
            found.append(ListedNote(period=period, date=f"{when:%Y-%m-%d}", path=row.path, mtime=mtime))
    return page.cut(sorted(found, key=lambda n: (n.date, n.path)), key=lambda n: (n.date, n.path))


def _day(ctx: Context, text: str | None) -> datetime:
    if text is None:
        return datetime.fromtimestamp(ctx.now())
    try:
        found = datetime.strptime(text, "%Y-%m-%d")
    except ValueError:
        raise ToolError("invalid_input", f"{text!r} is not a day", field="date") from None
    if not YEARS[0] <= found.year <= YEARS[1]:
        raise ToolError("invalid_input", f"{text!r} is too near to an end of the calendar", field="date")
    return found


def _iso(chosen: Rules, when: datetime) -> str:
    return f"{chosen.start(when):%Y-%m-%d}"


def _content(ctx: Context, path: str, wanted: bool) -> tuple[str | None, dict[str, Any] | None]:
    if not wanted:
        return None, None
    text = ctx.vault.read(path).text
    return text, parse(text).frontmatter


def _create_once(ctx: Context, chosen: Rules, when: datetime, change: Callable[[str], str]) -> Written | None:
    """Create the note, with this change in it, unless somebody else has just created it."""
    path, text, _ = _fresh(ctx, chosen, when, None)
    try:
        return ctx.vault.write(path, change(text), mode="create")
    except ToolError as error:
        if error.code != "note_exists":
            raise
        return None


def _fresh(ctx: Context, chosen: Rules, when: datetime, override: str | None) -> tuple[str, str, str | None]:
    """A new note's path and text, and the template it was made from."""
    path = chosen.path(when)
    template = override or chosen.template
    if not template:
        return path, "", None
    file = template if template.lower().endswith(".md") else f"{template}.md"
    if ctx.vault.exists(file) != "file":
        raise ToolError("note_not_found", f"the template {template!r} is not there", path=file)
    title = path.rpartition("/")[2].removesuffix(".md")
    now = datetime.fromtimestamp(ctx.now())
    return path, expand(ctx.vault.read(file).text, chosen, chosen.start(when), now, title), file


def _appended(text: str, content: str, heading: str | None, own_line: bool) -> str:
    if heading is not None:
        return edit_anchor(text, parse(text), Anchor("heading", heading), "append", content).text
    return insert(text, content, at_start=False, after_frontmatter=True, own_line=own_line)


@hookimpl
def knapper_domains() -> Domain:
    return periodic
