"""`knapper connect`: the server in a client's own configuration, written or shown."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import click

from knapper.cli._source import configured
from knapper.cli._splice import Unreadable, put_json, put_toml
from knapper.errors import KnapperError


class Client(NamedTuple):
    """Where a program keeps its servers, and how it writes one."""

    title: str
    section: str
    place: tuple[str, ...]  # below the folder that `base` names
    base: str = "home"
    more: tuple[tuple[str, str], ...] = ()  # what an entry has besides the command
    url: str = "url"  # the key of an address; empty where the program takes none
    web: tuple[tuple[str, str], ...] = ()  # what an entry has besides the address

    @property
    def file(self) -> Path:
        return _bases()[self.base].joinpath(*self.place)

    @property
    def toml(self) -> bool:
        return self.place[-1].endswith(".toml")

    def entry(self, command: list[str], url: str | None = None) -> dict[str, Any]:
        if url is None:
            return {**dict(self.more), "command": command[0], "args": command[1:]}
        if not self.url:
            return self.entry([*self._proxy(), "--url", url])
        return {**dict(self.web), self.url: url}

    def _proxy(self) -> list[str]:
        """The program that stands for an address, where only programs are taken."""
        found = beside("knapper-stdio")
        if found is None:
            problem = f"{self.title} takes no addresses in its configuration"
            raise KnapperError(f"{problem}; install knapper-bridge-stdio, or leave --url out")
        return [found]

    def shown(self, name: str, entry: dict[str, Any]) -> str:
        """The configuration with nothing but this entry."""
        return self.put("", name, entry)

    def put(self, text: str, name: str, entry: dict[str, Any]) -> str:
        return (put_toml if self.toml else put_json)(text, self.section, name, entry)


STDIO, HTTP = (("type", "stdio"),), (("type", "http"),)
CLIENTS = {
    "claude-desktop": Client(
        "Claude Desktop", "mcpServers", ("Claude", "claude_desktop_config.json"), "config", url=""
    ),
    "claude-code": Client("Claude Code", "mcpServers", (".claude.json",), more=STDIO, web=HTTP),
    "cursor": Client("Cursor", "mcpServers", (".cursor", "mcp.json")),
    "vscode": Client("VS Code", "servers", ("Code", "User", "mcp.json"), "config", STDIO, web=HTTP),
    "windsurf": Client(
        "Windsurf", "mcpServers", (".codeium", "windsurf", "mcp_config.json"), url="serverUrl"
    ),
    "zed": Client("Zed", "context_servers", ("zed", "settings.json"), "zed", (("source", "custom"),)),
    "gemini-cli": Client("Gemini CLI", "mcpServers", (".gemini", "settings.json"), url="httpUrl"),
    "codex": Client("Codex", "mcp_servers", (".codex", "config.toml")),
}


def _bases() -> dict[str, Path]:
    """The folders that programs keep their settings below, on this system."""
    home = Path.home()
    xdg = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if sys.platform == "win32":
        roaming = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
        return {"home": home, "config": roaming, "zed": roaming}
    if sys.platform == "darwin":
        return {"home": home, "config": home / "Library" / "Application Support", "zed": home / ".config"}
    return {"home": home, "config": xdg, "zed": xdg}


@click.command("connect")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.argument("path", required=False, metavar="[VAULT|CONFIG]")
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--name", default="knapper", show_default=True, help="What the client calls the server.")
@click.option("--url", help="Connect to a server that runs at this address, instead of starting one.")
def command(client: str, path: str | None, only_print: bool, name: str, url: str | None) -> None:
    """Put the server into a client's configuration; what was there is kept, and copied aside first.

    Without a vault it is your own configuration that the client gets served.
    """
    chosen = CLIENTS[client]
    entry = chosen.entry([] if url else [*program(), "serve", _source(path)], url)
    if only_print:
        click.echo(chosen.shown(name, entry), nl=False)
        return
    kept = write(chosen, name, entry)
    click.echo(f"{chosen.title} has the server {name!r} now, in {chosen.file}.")
    if kept is not None:
        click.echo(f"What was there is in {kept.name}, beside it.")
    click.echo(f"Restart {chosen.title} to use it.")


def write(client: Client, name: str, entry: dict[str, Any]) -> Path | None:
    """Write the entry; the copy of what was there before, where something was and has changed."""
    file = client.file.resolve()  # a link to where somebody keeps their settings stays one
    try:
        before = file.read_text("utf-8") if file.exists() else ""
        after = client.put(before, name, entry)
    except (Unreadable, UnicodeDecodeError) as error:
        problem = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise KnapperError(
            f"{file} was left as it is, because {problem}; add the entry by hand (--print)"
        ) from None
    if after == before:
        return None
    kept = _copied_aside(file) if before else None
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.write_text(after, "utf-8")
    if file.exists():
        shutil.copymode(file, part)
    part.replace(file)
    return kept


def _copied_aside(file: Path) -> Path:
    """A copy beside the file; none from before is lost to it, not even one of the same second."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept, n = file.with_name(f"{file.name}.{stamp}.bak"), 1
    while kept.exists():
        kept, n = file.with_name(f"{file.name}.{stamp}-{n}.bak"), n + 1
    shutil.copy2(file, kept)
    return kept


def program() -> list[str]:
    """How a client starts this very installation: by a full path, for clients have another search path."""
    found = beside("knapper")
    return [found] if found is not None else [sys.executable, "-m", "knapper"]


def beside(name: str) -> str | None:
    """The full path of a program of this installation, where it is there."""
    found = Path(sys.executable).with_name(f"{name}.exe" if sys.platform == "win32" else name)
    return str(found) if found.exists() else None


def _source(path: str | None) -> str:
    """What to serve, as a full path: a client is started in another folder, with another environment."""
    loaded = configured(path)
    if loaded is None or loaded.path is None:
        raise click.UsageError(
            "name the vault to serve, for nothing is configured: knapper connect CLIENT VAULT"
        )
    return str(loaded.path.resolve())
