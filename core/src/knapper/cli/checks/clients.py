"""The configuration files of MCP clients: whether one starts knapper, and whether it can."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject

KEYS = ("mcpServers", "servers", "context_servers")  # most clients, VS Code, Zed
SNIPPET = '{"mcpServers": {"knapper": {"command": "knapper", "args": ["VAULT"]}}}'


class Entry(NamedTuple):
    """A server that a client is told to start or to connect to."""

    client: str
    name: str
    body: Mapping[str, Any]


def files(home: Path) -> dict[str, Path]:
    """Where clients keep the list of their servers."""
    if sys.platform == "darwin":
        settings = home / "Library" / "Application Support"
    elif os.name == "nt":
        settings = Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
    else:
        settings = home / ".config"
    return {
        "Claude Desktop": settings / "Claude" / "claude_desktop_config.json",
        "Claude Code": home / ".claude.json",
        "Cursor": home / ".cursor" / "mcp.json",
        "VS Code": settings / "Code" / "User" / "mcp.json",
        "Windsurf": home / ".codeium" / "windsurf" / "mcp_config.json",
        "Gemini CLI": home / ".gemini" / "settings.json",
        "Zed": settings / "zed" / "settings.json",
        "this folder": Path.cwd() / ".mcp.json",
    }


def configured(subject: Subject) -> Finding:
    found = Finding()
    entries: list[Entry] = []
    for client, file in files(subject.home).items():
        if not file.is_file():
            continue
        try:
            entries += [e for e in _entries(client, json.loads(file.read_bytes())) if _ours(e)]
        except (OSError, ValueError) as error:
            found.warn(
                f"{client}: {file.name} cannot be read: {error}", "Correct the file; JSON takes no comments."
            )
    for entry in entries:
        found.details[f"{entry.client}: {entry.name}"] = str(
            entry.body.get("url") or entry.body.get("command")
        )
        for problem, remedy in _problems(entry):
            found.warn(f"{entry.client}: {entry.name}: {problem}", remedy)
    if not entries:
        found.notes.append(f"A client that starts knapper has in its configuration: {SNIPPET}")
    found.summary = (
        f"{len(entries)} client(s) know this server" if entries else "no client knows this server yet"
    )
    return found


def _entries(client: str, content: Any) -> Iterator[Entry]:
    """Servers of the file itself, and of each project where the client keeps projects in it."""
    if not isinstance(content, dict):
        return
    for key in KEYS:
        listed = content.get(key)
        for name, body in listed.items() if isinstance(listed, dict) else ():
            if isinstance(body, dict):
                yield Entry(client, name, body)
    projects = content.get("projects")
    for project in projects.values() if isinstance(projects, dict) else ():
        yield from _entries(client, project)


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
