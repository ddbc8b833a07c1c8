"""The templater domain itself, and what of it can be configured."""

from __future__ import annotations

from pydantic import Field

from knapper import Domain, Section


class TemplaterSettings(Section):
    """What templates may do beside filling their note."""

    allow_file_changes: bool = Field(
        default=False,
        description="Whether templates may move and rename their note and create others (tp.file.move, rename, create_new).",
    )


templater = Domain(
    "templater",
    summary="List and run Templater templates, with Obsidian closed.",
    group="notes",
    settings=TemplaterSettings,
)
