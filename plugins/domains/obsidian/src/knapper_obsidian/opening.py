"""The tool that shows a note in Obsidian: through the companion where it runs, else by a link."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import Annotated
from urllib.parse import quote

from knapper import Context, Doc, ReadPath, Record, ToolError
from knapper.bridge import COMPANION
from knapper_obsidian.domain import Done, done, obsidian
from knapper_obsidian.naming import BY_NAME, EXACTLY, File, chosen, present
from knapper_obsidian.vaults import shown_name

AWAY = frozenset({"plugin_missing", "plugin_unreachable", "plugin_incompatible", "requires_live_obsidian"})
LOOK_SECONDS, TERM_SECONDS = 0.1, 2.0


class Opened(Record):
    """Whether Obsidian was told to show it; where not, the link that does."""

    path: str
    opened: bool
    uri: str | None = None


@obsidian.tool("read:notes", reach=BY_NAME, words="window focus display app")
def obsidian_open_note(
    ctx: Context,
    file: File = None,
    path: Annotated[ReadPath | None, Doc(EXACTLY)] = None,
    newtab: Annotated[bool, Doc("In a new tab.")] = False,
) -> Done[Opened]:
    """Show a note or another file in Obsidian; where it cannot be asked, hand back the obsidian:// link to it."""
    found = present(ctx, chosen(ctx, file, path, any_kind=True))
    if _told(ctx, found, newtab):
        return done(Opened(path=found, opened=True))
    uri = link(shown_name(ctx.server.vault(ctx.vault.vault)), found, newtab)
    if ctx.settings.opener:
        _start(ctx, [*ctx.settings.opener, uri])
    return done(Opened(path=found, opened=bool(ctx.settings.opener), uri=uri))


def link(vault: str, path: str, newtab: bool) -> str:
    """The address under which Obsidian opens a file."""
    pane = "&paneType=tab" if newtab else ""
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path, safe='')}{pane}"


def _told(ctx: Context, path: str, newtab: bool) -> bool:
    """Whether the companion showed it; a vault that is set to need Obsidian gets the error instead of a link."""
    mode = ctx.server.vault(ctx.vault.vault).settings.mode
    if mode == "headless":
        return False
    try:
        ctx.bridge(COMPANION).ask("/notes/open", path=path, newtab=newtab)
    except ToolError as error:
        if mode == "live" or error.code not in AWAY:
            raise
        return False
    return True


def _start(ctx: Context, command: list[str]) -> None:
    """Run the opener to its end; it is ended where the call's time is up or its client has gone."""
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError as error:
        raise ToolError("plugin_unreachable", "the configured opener could not be started") from error
    try:
        while process.poll() is None:
            ctx.check_cancelled()
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS)
    finally:
        _end(process)
    if process.returncode:
        raise ToolError("plugin_unreachable", "the configured opener could not open the link")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(TERM_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
