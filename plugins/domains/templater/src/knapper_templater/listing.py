"""The tool that lists templates."""

from __future__ import annotations

from knapper import Context, Record, ToolError
from knapper_templater import live
from knapper_templater.domain import templater
from knapper_templater.places import places

USER = "tp.user"


class Template(Record):
    """A template, and what it uses."""

    path: str
    name: str
    has_user_functions: bool
    commands: list[str]
    parameters: list[str] | None = None


class Templates(Record):
    """The templates of a vault."""

    items: list[Template]


@templater.tool("read:templater", reach="the notes in the folder of templates", words="available")
def list_templates(ctx: Context) -> Templates:
    """List the vault's templates with the Templater commands they use and the questions they ask.

    The folder is the one Templater is set to, else that of the core plugin Templates.
    """
    return Templates(items=[_template(ctx, path) for path in _paths(ctx)])


def _paths(ctx: Context) -> list[str]:
    folder = places(ctx).folder
    if folder is None:
        return _live_paths(ctx)
    if ctx.vault.exists(folder) != "folder":
        return []
    return [entry.path for entry in ctx.vault.walk(folder, extensions=[".md"])]


def _live_paths(ctx: Context) -> list[str]:
    """What the plugin itself says where the vault has no settings to read, as where its folder of settings was renamed."""
    try:
        return [template.path for template in live.listed(ctx)]
    except ToolError as error:
        if error.code not in ("plugin_missing", "plugin_unreachable", "requires_live_obsidian"):
            raise
        return []


def _template(ctx: Context, path: str) -> Template:
    from knapper_templater.scan import questions, uses

    text = _text(ctx, path)
    commands = list(dict.fromkeys(use.name for use in uses(text)))
    return Template(
        path=path,
        name=path.rpartition("/")[2].rpartition(".")[0],
        has_user_functions=any(name == USER or name.startswith(f"{USER}.") for name in commands),
        commands=commands,
        parameters=questions(text) or None,
    )


def _text(ctx: Context, path: str) -> str:
    """A template's text; one that is no text, or gone since, is listed all the same."""
    try:
        return ctx.vault.read(path).text
    except ToolError as error:
        if error.code not in ("invalid_input", "note_not_found"):
            raise
        return ""
