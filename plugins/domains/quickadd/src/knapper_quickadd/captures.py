"""Capture choices: a text added to a note."""

from __future__ import annotations

from functools import partial
from typing import Any

from knapper import ToolError
from knapper_quickadd.choices import flag, part, text
from knapper_quickadd.formats import Formats
from knapper_quickadd.links import append_link
from knapper_quickadd.placing import Anchored, at_edge, beside
from knapper_quickadd.plans import Change, Plan
from knapper_quickadd.sources import NeedsPlugin, Place, described, plain_lines, template_text
from knapper_quickadd.targets import capture_target

CURSOR = "a capture at the cursor"


def capture_plan(formats: Formats, data: dict[str, Any]) -> Plan:
    """What a capture choice writes."""
    plan, path = Plan(), _target(formats, data)
    place = Place(path)
    content = _content(formats, data, place)
    change = _change(formats, data, place, content)
    there = formats.ctx.vault.exists(path)
    if there is None and not formats.inputs.missing:
        plan.create(path, change(_new_note(formats, data, place)))
    elif there == "file":
        plan.edit(path, change)
    append_link(formats, data, plan, path)
    return plan


def _target(formats: Formats, data: dict[str, Any]) -> str:
    if flag(data, "captureToActiveFile"):
        path = formats.need_active("the note that is open, which gets the capture")
    else:
        path = capture_target(formats, formats.fill(text(data, "captureTo")))
    if not path.lower().endswith(".md"):
        raise NeedsPlugin(f"a capture into {path!r}")
    return path


def _content(formats: Formats, data: dict[str, Any], place: Place) -> str:
    """What is captured, still guarded against Templater."""
    source = plain_lines(described(data, "format") or "{{VALUE}}")
    content = formats.templated(formats.guarded(source, place), place, place.path)
    return f"- [ ] {content}\n" if flag(data, "task") else content


def _change(formats: Formats, data: dict[str, Any], place: Place, content: str) -> Change:
    whole = text(part(data, "templater"), "afterCapture") == "wholeFile"
    put = _put(formats, data, place, content if whole else formats.finished(content))

    def change(note: str) -> str:
        return formats.finished(formats.templated(put(note), place, place.path, note))

    return change if whole else put


def _put(formats: Formats, data: dict[str, Any], place: Place, content: str) -> Change:
    after, before = part(data, "insertAfter"), part(data, "insertBefore")
    if flag(after, "enabled"):
        line = formats.fill(text(after, "after"), place)
        return partial(beside, content=content, anchored=Anchored(line, after))
    if flag(before, "enabled"):
        line = formats.fill(text(before, "before"), place)
        return partial(beside, content=content, anchored=Anchored(line, before, before=True))
    return partial(at_edge, content=content, top=_at_top(data))


def _at_top(data: dict[str, Any]) -> bool:
    """Whether a capture goes to the top of its note; `prepend` means the bottom, for historical reasons."""
    if flag(part(data, "newLineCapture"), "enabled"):
        raise NeedsPlugin(CURSOR)
    if flag(data, "prepend"):
        return False
    if not flag(data, "captureToActiveFile"):
        return True
    position = text(data, "activeFileWritePosition", "cursor")
    if position not in ("top", "bottom"):
        raise NeedsPlugin(CURSOR)
    return position == "top"


def _new_note(formats: Formats, data: dict[str, Any], place: Place) -> str:
    rules = part(data, "createFileIfItDoesntExist")
    if not flag(rules, "enabled"):
        message = f"{place.path!r} is not there, and the choice does not create it"
        raise ToolError("note_not_found", message, path=place.path)
    if not flag(rules, "createWithTemplate"):
        return ""
    template = text(rules, "template")
    return formats.note_text(template_text(formats.ctx, template), place, template)
