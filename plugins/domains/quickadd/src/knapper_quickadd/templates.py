"""Template choices: a new note from a template, and what becomes of one that is there already."""

from __future__ import annotations

from typing import Any

from knapper import ToolError
from knapper.vault import paths
from knapper.vault.trash import free
from knapper_quickadd.choices import flag, part, text
from knapper_quickadd.formats import Formats
from knapper_quickadd.inputs import one_of
from knapper_quickadd.links import append_link
from knapper_quickadd.placing import at_edge
from knapper_quickadd.plans import Plan
from knapper_quickadd.sources import EXTENSION, NeedsPlugin, Place, described, template_text, with_extension
from knapper_quickadd.targets import folder_of, incremented

MODES = ("appendBottom", "appendTop", "overwrite", "increment", "duplicateSuffix", "doNothing")
LABELS = {
    "append to the bottom of the file": "appendBottom",
    "append to the top of the file": "appendTop",
    "overwrite the file": "overwrite",
    "increment the file name": "increment",
    "append duplicate suffix": "duplicateSuffix",
    "nothing": "doNothing",
    "do nothing": "doNothing",
}


def template_plan(formats: Formats, data: dict[str, Any]) -> Plan:
    """What a template choice writes."""
    plan, template = Plan(), text(data, "templatePath")
    source = template_text(formats.ctx, template)
    wanted = _path(formats, data, template)
    taken = formats.ctx.vault.exists(wanted) is not None
    mode = exists_mode(formats, data) if taken and not formats.inputs.missing else ""
    if mode == "doNothing":
        return plan
    path = _free(formats, wanted, mode)
    old = formats.ctx.vault.read(path) if taken and path == wanted and mode else None
    content = formats.note_text(source, Place(path), template, old.text if old else "")
    if old is None:
        plan.create(path, content)
    elif mode == "overwrite":
        plan.replace(path, content, old.hash)
    elif not path.lower().endswith(".md"):
        raise NeedsPlugin(f"appending to {paths.name(path)!r}")
    else:
        plan.edit(path, lambda note: at_edge(note, content, top=mode == "appendTop"))
    append_link(formats, data, plan, path)
    return plan


def _path(formats: Formats, data: dict[str, Any], template: str) -> str:
    name = formats.fill(described(data, "fileNameFormat") or "{{VALUE}}").strip().strip("/")
    folder = folder_of(formats, data)
    if not name:
        raise ToolError("invalid_input", "the choice makes an empty file name", field="args")
    kind = EXTENSION.search(template)
    name = name if EXTENSION.search(name) or kind is None else name + kind[0]
    return paths.canonical(paths.join(folder, with_extension(name)))


def exists_mode(formats: Formats, data: dict[str, Any]) -> str:
    """What to do where the note is there already: by the settings of any age, else as the caller says."""
    behaviour = part(data, "fileExistsBehavior")
    if behaviour.get("kind") == "apply" and behaviour.get("mode") in MODES:
        return str(behaviour["mode"])
    if not behaviour and flag(data, "setFileExistsBehavior"):
        label = text(data, "fileExistsMode").strip()
        if label in MODES or label.lower() in LABELS:
            return LABELS.get(label.lower(), label)
    if not behaviour and flag(data, "incrementFileName"):
        return "increment"
    given = formats.inputs.text("file_exists")
    if given is None:
        return formats.inputs.need(
            "file_exists", "what to do with the note that is there", MODES, "increment"
        )
    return one_of(given, MODES, "file_exists")


def _free(formats: Formats, path: str, mode: str) -> str:
    def taken(candidate: str) -> bool:
        return formats.ctx.vault.exists(candidate) is not None

    if mode == "increment":
        return incremented(path, taken)
    return free(path, taken) if mode == "duplicateSuffix" else path
