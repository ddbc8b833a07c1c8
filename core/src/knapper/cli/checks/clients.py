"""The configuration files of MCP clients: whether one starts knapper, and whether it can."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from knapper.cli._splice import read_json
from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject
from knapper.cli.connect import CLIENTS


class Entry(NamedTuple):
    """A server that a client is told to start or to connect to."""

    client: str
    name: str
    body: Mapping[str, Any]


def configured(subject: Subject) -> Finding:
    found = Finding()
    entries: list[Entry] = []
    for client in CLIENTS.values():
        if not client.file.is_file():
            continue
        try:
            content = _parsed(client.file)
        except (OSError, ValueError) as error:
            text = f"{client.title}: {client.file.name} cannot be read: {error}"
            found.warn(text, "Correct the file: the client cannot read it either.")
            continue
        entries += [entry for entry in _entries(client.title, client.section, content) if _ours(entry)]
    for entry in entries:
        found.details[f"{entry.client}: {entry.name}"] = _leads_to(entry)
        for problem, remedy in _problems(entry):
            found.warn(f"{entry.client}: {entry.name}: {problem}", remedy)
    if not entries:
        found.notes.append(f"`knapper connect CLIENT VAULT` tells a client; it knows {', '.join(CLIENTS)}.")
    found.summary = (
        f"{len(entries)} client(s) know this server" if entries else "no client knows this server yet"
    )
    return found


def _parsed(file: Path) -> Any:
    """What is read as `knapper connect` reads it, or it would call unreadable what that has written."""
    text = file.read_text("utf-8-sig")
    return tomllib.loads(text) if file.suffix == ".toml" else read_json(text)


def _entries(client: str, section: str, content: Any) -> Iterator[Entry]:
    """Servers of the file itself, and of each project where the client keeps projects in it."""
    if not isinstance(content, dict):
        return
    listed = content.get(section)
    for name, body in listed.items() if isinstance(listed, dict) else ():
        if isinstance(body, dict):
            yield Entry(client, name, body)
    projects = content.get("projects")
    for project in projects.values() if isinstance(projects, dict) else ():
        yield from _entries(client, section, project)


def _leads_to(entry: Entry) -> str:
    addresses = (entry.body.get(key) for key in ("url", "serverUrl", "httpUrl", "command"))
    return next((value for value in addresses if isinstance(value, str)), "")


def _ours(entry: Entry) -> bool:
    words = [entry.name, entry.body.get("command"), *_arguments(entry)]
    return any("knapper" in word for word in words if isinstance(word, str))


def _arguments(entry: Entry) -> list[Any]:
    given = entry.body.get("args")
    return given if isinstance(given, list) else []


def _problems(entry: Entry) -> Iterator[tuple[str, str]]:
    command = entry.body.get("command")
    if not isinstance(command, str):
        return
    if shutil.which(command) is None:
        yield (
            f"the command {command!r} is not found",
            f"Use the whole path: {shutil.which('knapper') or 'of the knapper command'}",
        )
    for argument in _arguments(entry):
        if isinstance(argument, str) and _is_path(argument) and not Path(argument).expanduser().exists():
            yield f"there is no {argument!r}", "Correct the path in the client's configuration."
        elif isinstance(argument, str) and argument.startswith(("~", "$")):
            yield f"{argument!r} is not expanded by most clients", "Write the whole path."


def _is_path(argument: str) -> bool:
    return Path(argument).is_absolute()


CHECKS: dict[str, Check] = {"clients.config": configured}
