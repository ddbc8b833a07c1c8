"""Prompts that clients can offer: the server's own, and those of domains."""

from __future__ import annotations

import base64
from typing import Any

from knapper.context import Context, Embedded, Image
from knapper.domain import Prompt
from knapper.errors import ToolError
from knapper.page import Record
from knapper.server.exchange import Exchange
from knapper.server.listing import cacheable
from knapper.server.results import embedded
from knapper.server.surface import core, governed, through_gates


@core.prompt(path="The note's path, relative to the vault.")
def summarize_note(path: str) -> str:
    """Read one note and summarise it."""
    return (
        f"Read the note {path!r} with the vault's tools and summarise it: its purpose in one sentence, its main points "
        "as a short list, its open questions and tasks, and the notes it links to. Quote the note where wording "
        "matters, and say so where something is your inference."
    )


@core.prompt(topic="What the notes should be about.")
def find_connections(topic: str) -> str:
    """Find the notes about a topic and how they relate."""
    return (
        f"Find what the vault holds about {topic!r}. Search for it in text and by meaning, then follow links and "
        "backlinks from the best notes. Report groups of related notes, how they connect, links that are missing "
        "but would help, and contradictions. Cite every note by its path."
    )


@core.prompt(limit="How many notes to look at.")
def recent_changes_digest(limit: str = "20") -> str:
    """Summarise the notes that changed last."""
    if not limit.isdecimal() or len(limit) > 3 or not 1 <= int(limit) <= 200:
        raise ToolError("invalid_input", "limit must be a number from 1 to 200", field="limit")
    return (
        f"List the {limit} notes of the vault that were changed last and read them. Write a digest: what was worked "
        "on, grouped by subject, what is new, what was finished, and what seems to need attention next. Cite every "
        "note by its path."
    )


@core.prompt(question="What to find out.", max_variants="At most this many facets, 1 to 8.")
def decompose_and_research(question: str, max_variants: str = "4") -> str:
    """Split a question into facets, research each in the vault, and put the answers together."""
    if max_variants not in tuple("12345678"):
        raise ToolError("invalid_input", "max_variants must be a number from 1 to 8", field="max_variants")
    return (
        f"Answer this from the vault: {question}\n\nSplit it into at most {max_variants} facets that can be searched "
        "separately. For each facet search the vault with words of its own, read the best notes, and note what they "
        "say with their paths. Then write one answer with citations, keep apart what notes say and what you infer, "
        "and end with the questions that stay open."
    )


class Argument(Record):
    """What a prompt can be given."""

    name: str
    description: str = ""
    required: bool = False


class Offered(Record):
    """A prompt as the list shows it."""

    name: str
    title: str
    description: str
    arguments: list[Argument]


class Prompts(Record):
    """What prompts/list answers."""

    prompts: list[Offered]


class Messages(Record):
    """What prompts/get answers."""

    description: str
    messages: list[dict[str, Any]]


def list_(exchange: Exchange) -> dict[str, Any]:
    return cacheable(exchange, through_gates(exchange, governed(every_prompt, core), {}, "prompt"))


def get(exchange: Exchange) -> dict[str, Any]:
    name = exchange.text("name")
    found = _named(exchange.host.runtime.registry.prompts).get(name)
    raw = {"name": name, "arguments": exchange.table("arguments")}
    return through_gates(exchange, governed(fill_prompt, found.domain if found else core), raw, "prompt")


def _named(offered: dict[str, Prompt]) -> dict[str, Prompt]:
    return {**{prompt.name: prompt for prompt in core.prompts}, **offered}


def every_prompt(ctx: Context) -> Prompts:
    """Every prompt, the server's own first."""
    return Prompts(prompts=[_shown(prompt) for prompt in _named(ctx.server.prompts).values()])


def _shown(prompt: Prompt) -> Offered:
    given = [
        Argument(name=n, description=about, required=required) for n, required, about in prompt.parameters
    ]
    title = prompt.name.replace("_", " ").capitalize()
    return Offered(name=prompt.name, title=title, description=prompt.description, arguments=given)


def fill_prompt(ctx: Context, name: str, arguments: dict[str, str] = {}) -> Messages:  # noqa: B006 (msgspec copies it)
    """A prompt's messages."""
    prompt = _named(ctx.server.prompts).get(name)
    if prompt is None:
        raise ToolError("invalid_input", f"unknown prompt: {name}", name=name)
    known = {parameter for parameter, _, _ in prompt.parameters}
    missing = [
        parameter for parameter, required, _ in prompt.parameters if required and parameter not in arguments
    ]
    unknown = sorted(arguments.keys() - known)
    if missing or unknown:
        issues = [f"{n}: is required" for n in missing] + [f"{n}: is not an argument" for n in unknown]
        raise ToolError("invalid_input", f"prompt {name!r}: {'; '.join(issues)}", issues=issues)
    made = prompt.fn(*([ctx] if prompt.takes_context else []), **arguments)
    parts = made if isinstance(made, list) else [made]
    return Messages(
        description=prompt.description, messages=[{"role": "user", "content": _part(p)} for p in parts]
    )


def _part(part: str | Image | Embedded) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Image):
        return {"type": "image", "data": base64.b64encode(part.data).decode(), "mimeType": part.mime}
    return embedded(part)
