"""Values as text: the form that concatenation uses, and the plain one of `display()`."""

from __future__ import annotations

from datetime import datetime

import regex

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.errors import BudgetExceeded
from knapper_dataview.engine.luxon import format_date
from knapper_dataview.engine.numbers import number_text
from knapper_dataview.engine.settings import Settings
from knapper_dataview.engine.values import ExternalLink, Link, ListPair, entries


def text_of(value: object, settings: Settings, nested: bool = False) -> str:
    """A value as Markdown-friendly text; lists inside lists and objects keep their brackets."""
    if isinstance(value, str):
        return value
    if value is None:
        return settings.render_null_as
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        inner = ", ".join(text_of(element, settings, True) for element in value)
        return f"[{inner}]" if nested else inner
    if isinstance(value, dict):
        pairs = (f"{key}: {text_of(element, settings, True)}" for key, element in entries(value).items())
        return "{ " + ", ".join(pairs) + " }"
    return _object_text(value, settings)


def _object_text(value: object, settings: Settings) -> str:
    if isinstance(value, datetime):
        dateless = value.hour == value.minute == value.second == 0
        return format_date(value, settings.date_format if dateless else settings.date_time_format)
    if isinstance(value, Duration):
        return value.human()
    if isinstance(value, Link):
        return value.markdown()
    if isinstance(value, ListPair):
        return f"{text_of(value.key, settings)}: {text_of(value.value, settings)}"
    if isinstance(value, ExternalLink):
        return f"[{value.display}]({value.url})"
    return "<function>"


def display_text(value: object, settings: Settings, budget: Budget) -> str:
    """A value as plain text: links by what they show, Markdown taken off."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(display_text(element, settings, budget) for element in value)
    if isinstance(value, str):
        return plain_text(value, budget)
    if isinstance(value, Link):
        return (
            plain_text(value.display, budget)
            if value.display
            else ("!" if value.embed else "") + value.title()
        )
    return text_of(value, settings)


_WIKILINK = regex.compile(r"\[\[([^|]*?)\]\]")
_SHOWN_WIKILINK = regex.compile(r"\[\[.*?\|(.*?)\]\]")
_MARKS = [
    (regex.compile(pattern, regex.MULTILINE), replacement)
    for pattern, replacement in (
        (r"^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$\n*", ""),  # rulings
        (r"^(\s*)(?:[-*+]|\d+\.)\s+", r"\1"),  # list markers
        (r"^ {0,3}(?:```|~~~).*\n?", ""),  # fences
        (r"~~", ""),
        (r"<[^>]*>", ""),  # HTML
        (r"\[\^[^\]]+\](?:: .*)?", ""),  # footnotes
        (r"!\[([^\]]*)\][\[(][^\])]*[\])]", r"\1"),  # images, by their text
        (r"\[([^\]]*)\]\s*[(\[][^)\]]*[)\]]", r"\1"),  # links, by their text
        (r"^ {0,3}>\s?", ""),  # quotes
        (r"^\s*#{1,6}\s+(.*?)(?: +#+)?$", r"\1"),  # headings
        (r"(\*{1,3})(\S(?:.*?\S)??)\1", r"\2"),
        (r"(?<!\w)(_{1,3})(\S(?:.*?\S)??)\1(?!\w)", r"\2"),
        (r"`(.+?)`", r"\1"),
    )
]


def plain_text(markdown: str, budget: Budget) -> str:
    """Markdown with its marks taken off; of the links with a text of their own only the first, as Dataview does."""
    try:
        text = _WIKILINK.sub(r"\1", markdown, timeout=budget.remaining())
        text = _SHOWN_WIKILINK.sub(r"\1", text, count=1, timeout=budget.remaining())
        for mark, kept in _MARKS:
            text = mark.sub(kept, text, timeout=budget.remaining())
    except TimeoutError:
        raise BudgetExceeded("taking the Markdown off a text took too long") from None
    return text
