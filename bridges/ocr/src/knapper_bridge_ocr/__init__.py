"""OCR: the text of pictures and PDFs, read by the plugin Text Extractor in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class TextExtractor:
    """The plugin's own reading of a file, as the domain ocr asks for it."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def read(self, path: str, force: bool) -> Any:
        """The text of a file, from what the plugin has kept unless forced."""
        return self._remote.ask("/ocr/attachment", path=path, force=force)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge(
        "ocr", "text-extractor", TextExtractor, capability="text-extractor", timeout="ocr_timeout_ms"
    )
