"""Values as JSON: typed, with every kind told apart, or plain, as people read them."""

from __future__ import annotations

import math
from datetime import datetime

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.dates import iso
from knapper_dataview.engine.durations import Duration, whole
from knapper_dataview.engine.values import ExternalLink, Link, ListPair, entries


def typed(value: object) -> object:
    """JSON in which dates, durations, links and widgets are objects with a `$` key."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return whole(value) if math.isfinite(value) else {"$number": _not_finite(value)}
    if isinstance(value, list):
        return [typed(element) for element in value]
    if isinstance(value, dict):
        return {key: typed(element) for key, element in entries(value).items()}
    if isinstance(value, datetime):
        return {"$date": iso(value)}
    if isinstance(value, Duration):
        return {"$dur": dict(value.parts())}
    if isinstance(value, Link):
        return {"$link": link_json(value)}
    return _typed_widget(value)


def _typed_widget(value: object) -> object:
    if isinstance(value, ListPair):
        return {"$widget": "dataview:list-pair", "key": typed(value.key), "value": typed(value.value)}
    if isinstance(value, ExternalLink):
        return {"$widget": "dataview:external-link", "url": value.url, "display": value.display}
    return {"$function": True}


def link_json(link: Link) -> dict[str, object]:
    """A link's parts, those it has."""
    optional = {"display": link.display, "subpath": link.subpath}
    return {
        "path": link.path,
        "type": link.type,
        "embed": link.embed,
        **{key: text for key, text in optional.items() if text is not None},
    }


def _not_finite(number: float) -> str:
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def plain(value: object, budget: Budget | None = None) -> object:
    """JSON as a reader wants it: ISO dates, durations in words, links as Markdown; its size is counted."""
    limit = budget or Budget()
    if isinstance(value, str):
        if len(value) > 16:
            limit.grow(len(value))
        return value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return whole(value) if math.isfinite(value) else _not_finite(value)
    if isinstance(value, list):
        limit.spend(len(value))
        return [plain(element, limit) for element in value]
    if isinstance(value, dict):
        found = entries(value)
        limit.spend(len(found))
        return {key: plain(element, limit) for key, element in found.items()}
    return _plain_object(value, limit)


def _plain_object(value: object, budget: Budget) -> object:
    if isinstance(value, datetime):
        midnight = value.hour == value.minute == value.second == value.microsecond == 0
        return value.date().isoformat() if midnight else iso(value)
    if isinstance(value, Duration):
        return value.human()
    if isinstance(value, Link):
        return value.markdown()
    if isinstance(value, ListPair):
        return [plain(value.key, budget), plain(value.value, budget)]
    return f"[{value.display}]({value.url})" if isinstance(value, ExternalLink) else "<function>"
