"""Places: where a vault keeps its templates, by Templater's settings or those of the core plugin Templates."""

from __future__ import annotations

from typing import NamedTuple

from knapper import Context, ToolError
from knapper.vault import paths

PLUGIN = "plugins/templater-obsidian/data"
CORE = "templates"


class Places(NamedTuple):
    """The folder of templates, None where none is set; whether it is the core plugin's, and the formats of that one."""

    folder: str | None
    core: bool = False
    date_format: str = "YYYY-MM-DD"
    time_format: str = "HH:mm"

    def holds_core(self, path: str) -> bool:
        """Whether a template is one of the core plugin, whose variables are filled in."""
        return (
            self.core and self.folder is not None and (not self.folder or path.startswith(f"{self.folder}/"))
        )


def places(ctx: Context) -> Places:
    """Templater's folder where it is set, else that of the core plugin."""
    folder = _folder(ctx.vault.settings(PLUGIN).get("templates_folder"))
    if folder is not None:
        return Places(folder)
    core = ctx.vault.settings(CORE)
    formats = (_text(core.get("dateFormat"), "YYYY-MM-DD"), _text(core.get("timeFormat"), "HH:mm"))
    return Places(_folder(core.get("folder")), True, *formats)


def _folder(value: object) -> str | None:
    """A folder as settings name it: `/` is the whole vault, an empty one is none."""
    return value.strip("/") if isinstance(value, str) and value.strip() else None


def _text(value: object, default: str) -> str:
    return value if isinstance(value, str) and value else default


def find_template(ctx: Context, given: str) -> str:
    """The path of a template that is named by its path, by its name in the folder of templates, or as a note."""
    for candidate in _candidates(given, places(ctx).folder):
        if _is_file(ctx, candidate):
            return ctx.vault.authorise("read", candidate)
    return ctx.vault.authorise("read", ctx.find_note(given))


def _candidates(given: str, folder: str | None) -> list[str]:
    names = [given] if given.lower().endswith(".md") else [given, f"{given}.md"]
    return [*names, *(paths.join(folder, name) for name in names if folder)]


def _is_file(ctx: Context, path: str) -> bool:
    try:
        return ctx.vault.exists(path) == "file"
    except ToolError as error:
        if error.code != "acl_denied":
            raise
        return False
